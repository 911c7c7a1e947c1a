/* SPDX-License-Identifier: BSD-2-Clause */
#include "csv.h"

#include <inttypes.h>

/* Always quoted, since a name may hold anything. */
static void quoted(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            putc('"', out);
        }
        putc(*text, out);
    }
    putc('"', out);
}

void csv_header(FILE *out)
{
    fputs("time_ms,vm,name,target_pages,consumed_pages,active_pages,"
          "estimate_pages,balloon_pages,swapped_pages\n",
          out);
}

void csv_tick(FILE *out, struct sim_run *run)
{
    size_t count = sim_run_vm_count(run);
    struct sim_run_vm vm;

    for (size_t i = 0; i < count; i++) {
        if (sim_run_vm_at(run, i, &vm) != POL_OK) {
            continue;
        }
        fprintf(out, "%" PRIu64 ",%" PRIu64 ",", sim_run_now_ms(run), vm.vm);
        quoted(out, vm.name);
        fprintf(out,
                ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                ",%" PRIu64 "\n",
                vm.target_pages, vm.consumed_pages, vm.active_pages,
                vm.estimate_pages, vm.balloon_pages, vm.swapped_pages);
    }
}
