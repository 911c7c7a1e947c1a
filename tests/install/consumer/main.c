/* SPDX-License-Identifier: BSD-2-Clause */
/* A stranger's program, built against an installed libpolicy. */
#include <policy/policy.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *text = pol_strerror(POL_OK);

    if (text == NULL || text[0] == '\0') {
        return 1;
    }
    printf("libpolicy %s says: %s\n", POL_VERSION_STRING, text);
    return strcmp(POL_VERSION_STRING, EXPECTED_VERSION) != 0;
}
