/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs `policyctl experiments --quick --json NAME` and checks orderings and
 * cliffs by the curves themselves, not by what the command says of them.
 * Usage: scenario_experiments POLICYCTL NAME WORK-FILE
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A point of a curve lies between two values. */
struct bound {
    const char *experiment;
    const char *curve;
    double x;
    double min, max;
};

static const struct bound bounds[] = {
    { "page-sharing", "page sharing", 60, -0.5, 0.5 },
    { "page-sharing", "page sharing", 10, -0.5, 1 },
    { "kernel-compile", "balloon", 256, -1, 3 },
    { "kernel-compile", "balloon", 128, 0, 13 },
    { "kernel-compile", "swap", 128, 24, 44 },
    { "database", "balloon", 2048, -1, 3 },
    { "database", "swap", 3584, 7, 27 },
    { "specjbb", "balloon", 2816, -1, 3 },
    { "specjbb", "swap", 2816, -1, 3 },
    { "specjbb", "balloon", 2048, 79, 99 },
    { "specjbb", "swap", 2048, 86, 100 },
    { "exchange", "balloon", 12288, 4.1, 5.1 },
    { "exchange", "balloon", 3072, 6.5, 8.1 },
    { "exchange", "swap", 10240, 120, 170 },
    { "idle-tax", "idle VM", 25, 170, 190 },
    { "idle-tax", "busy VM", 25, 170, 190 },
    { "idle-tax", "idle VM", 60, 94, 114 },
    { "idle-tax", "busy VM", 60, 246, 256 },
    { "working-set", "estimate", 21, 166, 230 },
    { "working-set", "estimate", 31, 100, 230 },
    { "memory-upgrade", "2 GiB: balloon", 1, 0, 0 },
    { "memory-upgrade", "2 GiB: swapped", 1, 0, 0 },
    { "memory-upgrade", "2 GiB: saved by sharing", 2, 50, 500 },
    { "memory-upgrade", "2 GiB: balloon", 2, 0, 0 },
    { "memory-upgrade", "2 GiB: swapped", 2, 0, 0 },
    { "memory-upgrade", "2 GiB: balloon", 3, 50, 3000 },
    { "memory-upgrade", "2 GiB: swapped", 5, 50, 5000 },
    { "memory-upgrade", "32 GiB: saved by sharing", 20, 500, 5000 },
    { "memory-upgrade", "32 GiB: balloon", 20, 0, 0 },
    { "memory-upgrade", "32 GiB: swapped", 20, 0, 0 },
};

/** At the same x one curve lies below another. */
struct order {
    const char *experiment;
    double x;
    const char *lower, *higher;
};

static const struct order orders[] = {
    { "kernel-compile", 256, "balloon", "swap" },
    { "kernel-compile", 128, "balloon", "swap" },
    { "database", 3584, "balloon", "swap" },
    { "database", 2048, "balloon", "swap" },
    { "specjbb", 2560, "swap", "balloon" },
    { "specjbb", 2176, "balloon", "swap" },
    { "specjbb", 2048, "balloon", "swap" },
};

/** A row that the command itself must have found to hold. */
static const struct {
    const char *experiment;
    const char *what;
    const char *verdict;
} rows[] = {
    { "exchange", "with 9 GiB and swapping it fails", "cliff" },
    { "memory-upgrade", "2 GiB: the VM that is refused", "cliff" },
    { "idle-tax", "the busy VM gains by the tax", "ordering" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int failed;

static void check(int holds, const char *what)
{
    printf("%s: %s\n", holds ? "ok" : "FAILED", what);
    failed |= !holds;
}

static const char *text_of(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    const char *text = NULL;

    if (json_object_object_get_ex(object, key, &value)) {
        text = json_object_get_string(value);
    }
    return text != NULL ? text : "";
}

static struct json_object *list_of(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    json_object_object_get_ex(object, key, &value);
    return value;
}

static double number_at(struct json_object *list, size_t i)
{
    return json_object_get_double(json_object_array_get_idx(list, i));
}

static int is_simulated(struct json_object *curve, const char *name)
{
    struct json_object *published = NULL;

    json_object_object_get_ex(curve, "published", &published);
    return strcmp(text_of(curve, "name"), name) == 0 &&
           !json_object_get_boolean(published);
}

/* The simulated curve's value at x; very negative when there is none. */
static double value_at(struct json_object *experiment, const char *name,
                       double x)
{
    struct json_object *curves = list_of(experiment, "curves");

    for (size_t i = 0; i < json_object_array_length(curves); i++) {
        struct json_object *curve = json_object_array_get_idx(curves, i);
        struct json_object *points = list_of(curve, "points");

        for (size_t k = 0;
             is_simulated(curve, name) && k < json_object_array_length(points);
             k++) {
            struct json_object *point = json_object_array_get_idx(points, k);

            if (number_at(point, 0) == x) {
                return number_at(point, 1);
            }
        }
    }
    return -1e9;
}

static void check_curves(struct json_object *experiment, const char *name)
{
    char line[256];

    for (size_t i = 0; i < COUNT(bounds); i++) {
        const struct bound *b = &bounds[i];
        double y = value_at(experiment, b->curve, b->x);

        if (strcmp(b->experiment, name) == 0) {
            snprintf(line, sizeof line, "%s at %g: %g (%g to %g)", b->curve,
                     b->x, y, b->min, b->max);
            check(y >= b->min && y <= b->max, line);
        }
    }
    for (size_t i = 0; i < COUNT(orders); i++) {
        const struct order *o = &orders[i];
        double low = value_at(experiment, o->lower, o->x);
        double high = value_at(experiment, o->higher, o->x);

        if (strcmp(o->experiment, name) == 0) {
            snprintf(line, sizeof line, "at %g %s: %g, %s: %g", o->x, o->lower,
                     low, o->higher, high);
            check(low > -1e8 && low < high, line);
        }
    }
}

static void check_rows(struct json_object *experiment, const char *name)
{
    struct json_object *list = list_of(experiment, "rows");
    char line[256];

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *verdict = "there is no such row";

        for (size_t k = 0; k < json_object_array_length(list); k++) {
            struct json_object *row = json_object_array_get_idx(list, k);

            if (strcmp(text_of(row, "what"), rows[i].what) == 0) {
                verdict = text_of(row, "verdict");
            }
        }
        if (strcmp(rows[i].experiment, name) == 0) {
            snprintf(line, sizeof line, "%s: %s", rows[i].what, verdict);
            check(strcmp(verdict, rows[i].verdict) == 0, line);
        }
    }
}

int main(int argc, char **argv)
{
    struct json_object *all = NULL;
    struct json_object *experiment;
    char command[4096];

    if (argc != 4) {
        return 2;
    }
    snprintf(command, sizeof command,
             "'%s' experiments --quick --quiet --json='%s' '%s'", argv[1],
             argv[3], argv[2]);
    check(system(command) == 0, command);
    all = json_object_from_file(argv[3]);
    if (all == NULL) {
        check(0, "the result can be read");
        return 1;
    }
    check(strcmp(text_of(all, "schema"), "policyctl.experiments/1") == 0,
          "schema");
    experiment = json_object_array_get_idx(list_of(all, "experiments"), 0);
    check(strcmp(text_of(experiment, "name"), argv[2]) == 0, argv[2]);
    check_curves(experiment, argv[2]);
    check_rows(experiment, argv[2]);
    json_object_put(all);
    return failed;
}
