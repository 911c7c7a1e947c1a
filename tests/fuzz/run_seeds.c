/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for libFuzzer where the compiler has none: runs each file of the
 * seed folder, named on the command line, through the fuzz target once.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0;
    size_t room = 0;
    size_t got = 0;

    if (file == NULL) {
        perror(path);
        return 1;
    }
    do {
        if (size == room) {
            uint8_t *more = realloc(data, room + 65536);
            if (more == NULL) {
                perror(path);
                break;
            }
            data = more;
            room += 65536;
        }
        got = fread(data + size, 1, room - size, file);
        size += got;
    } while (got > 0);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    struct dirent *entry;
    DIR *folder;
    int ran = 0;
    int failed = 0;

    if (argc != 2 || (folder = opendir(argv[1])) == NULL) {
        fprintf(stderr, "usage: %s FOLDER-OF-SEEDS\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(folder)) != NULL) {
        char path[4096];

        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        failed |= run_file(path);
        ran++;
    }
    closedir(folder);
    printf("%d seeds of %s ran\n", ran, argv[1]);
    return (failed != 0 || ran == 0) ? 1 : 0;
}
