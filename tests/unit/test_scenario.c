/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenario files: what is read, and every way to get one wrong. */
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "policy-esxi-sim/scenario.h"

#define HOST "duration: 1h\nhost: {memory: 1GiB}\n"
#define VM   "vms:\n- {name: a, memory: 256MiB}\n"
#define GOOD HOST VM

struct bad {
    const char *shows;
    const char *text;
    const char *error; /* how the line begins */
};

static const struct bad bad_files[] = {
    { "empty file", "", "f.yaml:1: the file is empty" },
    { "only a comment", "# nothing\n", "f.yaml:2: the file is empty" },
    { "no map", "- 1\n", "f.yaml:1: is a list (accepted: a map of keys)" },
    { "not YAML", "host: {memory: 1GiB\n", "f.yaml:2: not YAML" },
    { "tab", "host:\n\tmemory: 1GiB\n", "f.yaml:2: not YAML" },
    { "not UTF-8", "name: ok\nhost: \xff\n", "f.yaml:2: invalid" },
    { "control character", "name: \x01\n", "f.yaml:1: control characters" },
    { "two documents", GOOD "---\na: 1\n", "f.yaml:5: a second document" },
    { "alias", "name: &x a\nseed: *x\n", "f.yaml:1: anchors" },
    { "tag", "name: !!str a\n", "f.yaml:1: tags" },
    { "given twice", "seed: 1\nseed: 2\n",
      "f.yaml:2: seed: given twice (first in line 1)" },
    { "nested deeply", "a: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n",
      "f.yaml:1: nested too deeply" },
    { "list as key", "? [a]\n: 1\n", "f.yaml:1: a key must be" },
    { "NUL", "name: \"a\\0b\"\n", "f.yaml:1: text with a NUL" },
};

static const struct bad bad_keys[] = {
    { "unknown", HOST VM "pollicy: {}\n",
      "f.yaml:5: unknown key \"pollicy\" (accepted: did you mean "
      "\"policy\"?)" },
    { "far from all", HOST VM "xyzzy: 1\n",
      "f.yaml:5: unknown key \"xyzzy\" (accepted: name, seed," },
    { "missing host", "duration: 1h\n", "f.yaml:1: host: is missing" },
    { "missing duration", "host: {memory: 1GiB}\n",
      "f.yaml:1: duration: is missing" },
    { "missing VMs", HOST, "f.yaml:1: vms: is missing" },
    { "missing memory", "duration: 1h\nhost:\n  swap: 0\n" VM,
      "f.yaml:2: host.memory: is missing" },
    { "no value", "duration:\n", "f.yaml:1: duration: has no value" },
    { "map for a number", "duration: {a: 1}\n",
      "f.yaml:1: duration: is a map of keys (accepted: one value)" },
    { "number for a map", "duration: 1h\nhost: 3\n" VM,
      "f.yaml:2: host: is one value (accepted: a map of keys)" },
    { "number for a list", HOST "vms: 3\n", "f.yaml:3: vms: is one value" },
};

static const struct bad bad_values[] = {
    { "negative seed", "seed: -1\n" GOOD,
      "f.yaml:1: seed: \"-1\" is negative (accepted: 0 to" },
    { "fraction", "seed: 1.5\n" GOOD, "f.yaml:1: seed: \"1.5\" is not a" },
    { "huge seed", "seed: 18446744073709551616\n" GOOD,
      "f.yaml:1: seed: \"18446744073709551616\" is out of range" },
    { "time without unit", "duration: 30\n",
      "f.yaml:1: duration: \"30\" is not a time such as 30s" },
    { "time zero", "duration: 0\n",
      "f.yaml:1: duration: \"0\" is out of "
      "range (accepted: 1ms to 365d)" },
    { "time huge", "duration: 99999999999999999999d\n",
      "f.yaml:1: duration: \"99999999999999999999d\" is out of range" },
    { "tick longer than all",
      "tick: 2min\nduration: 1min\nhost: {memory: 1GiB}\n" VM,
      "f.yaml:1: tick: is longer than the duration" },
    { "size of 2^52 pages", "duration: 1h\nhost: {memory: 4503599627370496}\n",
      "f.yaml:2: host.memory: \"4503599627370496\" is out of range "
      "(accepted: 256KiB to 4TiB)" },
    { "size that overflows", "duration: 1h\nhost: {memory: 99999999999PiB}\n",
      "f.yaml:2: host.memory: \"99999999999PiB\" is out of range" },
    { "negative size", "duration: 1h\nhost: {memory: -1GiB}\n",
      "f.yaml:2: host.memory: \"-1GiB\" is negative" },
    { "decimal unit", "duration: 1h\nhost: {memory: 1GB}\n",
      "f.yaml:2: host.memory: \"1GB\" is not a size such as 512MiB" },
    { "half a page", "duration: 1h\nhost: {memory: 1GiB, swap: 6KiB}\n",
      "f.yaml:2: host.swap: \"6KiB\" is no whole number of pages" },
    { "page size", "duration: 1h\nhost: {memory: 1GiB, page_size: 12KiB}\n",
      "f.yaml:2: host.page_size: is no power of two" },
    { "page size", "duration: 1h\nhost: {memory: 1GiB, page_size: 1GiB}\n",
      "f.yaml:2: host.page_size: \"1GiB\" is out of range (accepted: 4KiB to "
      "2MiB)" },
    { "reserve", "duration: 1h\nhost: {memory: 1GiB, reserve: 1GiB}\n",
      "f.yaml:2: host.reserve: leaves no memory" },
    { "tax over 99 %", GOOD "policy: {idle_tax: 100%}\n",
      "f.yaml:5: policy.idle_tax: \"100%\" is out of range (accepted: 0% to "
      "99%)" },
    { "tax without %", GOOD "policy: {idle_tax: 0.75}\n",
      "f.yaml:5: policy.idle_tax: \"0.75\" is not a percentage" },
    { "preset", GOOD "policy: {preset: esx5}\n",
      "f.yaml:5: policy.preset: \"esx5\" is unknown (accepted: esx4, sliding, "
      "sliding6)" },
    { "thresholds", GOOD "policy: {low: 3%}\n",
      "f.yaml:5: policy: contradicts itself in thresholds.low_bp" },
    { "yes or no", GOOD "policy: {hard_stops_balloon: 2}\n",
      "f.yaml:5: policy.hard_stops_balloon: \"2\" is neither yes nor no" },
};

static const struct bad bad_groups[] = {
    { "same name", GOOD "groups:\n- {name: g}\n- {name: g}\n",
      "f.yaml:7: groups[1].name: \"g\" is the name of another group" },
    { "no such parent", GOOD "groups:\n- {name: g, parent: h}\n",
      "f.yaml:6: groups[0].parent: there is no group \"h\"" },
    { "own parent", GOOD "groups:\n- {name: g, parent: g}\n",
      "f.yaml:6: groups[0].parent: the group is its own ancestor" },
    { "cycle of two",
      GOOD "groups:\n- {name: g, parent: h}\n- {name: h, parent: g}\n",
      "f.yaml:6: groups[0].parent: the group is its own ancestor" },
    { "below a cycle",
      GOOD "groups:\n- {name: f, parent: g}\n- {name: g, parent: h}\n"
           "- {name: h, parent: g}\n",
      "f.yaml:6: groups[0].parent: nested too deeply or in a cycle" },
    { "zero shares", GOOD "groups:\n- {name: g, shares: 0}\n",
      "f.yaml:6: groups[0].shares: \"0\" is out of range (accepted: 1 to "
      "4294967296)" },
    { "reservation > limit",
      GOOD "groups:\n- {name: g, reservation: 2MiB, limit: 1MiB}\n",
      "f.yaml:6: groups[0].reservation: exceeds the limit" },
};

#define ONE(rest) HOST "vms:\n- {name: a, memory: 256MiB, " rest "}\n"

static const struct bad bad_vms[] = {
    { "zero shares", ONE("shares: 0"),
      "f.yaml:4: vms[0].shares: \"0\" is out of range (accepted: 1 to" },
    { "reservation > memory", ONE("reservation: 257MiB"),
      "f.yaml:4: vms[0].reservation: of 65792 pages exceeds the memory "
      "(accepted: 0 to 65536 pages)" },
    { "reservation > limit", ONE("reservation: 50%, limit: 100MiB"),
      "f.yaml:4: vms[0].reservation: of 32768 pages exceeds the limit "
      "(accepted: 0 to 25600 pages)" },
    { "more than all", ONE("reservation: 101%"),
      "f.yaml:4: vms[0].reservation: \"101%\" is out of range" },
    { "limit of nothing", ONE("limit: 0%"),
      "f.yaml:4: vms[0].limit: \"0%\" is out of range" },
    { "no such group", ONE("group: g"),
      "f.yaml:4: vms[0].group: there is no group \"g\"" },
    { "same name",
      HOST "vms:\n- {name: a, memory: 1GiB}\n"
           "- {name: a, memory: 1GiB}\n",
      "f.yaml:5: vms[1].name: \"a\" is the name of another VM (line 4)" },
    { "same name by number",
      HOST "vms:\n- {name: a, memory: 1GiB, count: 3}\n"
           "- {name: a-2, memory: 1GiB}\n",
      "f.yaml:5: vms[1].name: \"a-2\" is the name of another VM (line 4)" },
    { "too small", HOST "vms:\n- {name: a, memory: 60KiB}\n",
      "f.yaml:4: vms[0].memory: \"60KiB\" is out of range (accepted: 64KiB" },
    { "starts too late", ONE("start: 1h"),
      "f.yaml:4: vms[0].start: is not before the end" },
    { "the last starts too late", ONE("count: 7, start_every: 10min"),
      "f.yaml:4: vms[0].start: is not before the end" },
    { "stops before it starts", ONE("start: 2min, stop: 1min"),
      "f.yaml:4: vms[0].stop: is not between" },
    { "stops after the end", ONE("stop: 2h"),
      "f.yaml:4: vms[0].stop: is not between" },
    { "kind of balloon", ONE("balloon: maybe"),
      "f.yaml:4: vms[0].balloon: \"maybe\" is unknown (accepted: yes, no, "
      "absent)" },
    { "no kind of load", ONE("workload: {rate: 3}"),
      "f.yaml:4: vms[0].kind: is missing" },
    { "load without memory", ONE("workload: {kind: zipf}"),
      "f.yaml:4: vms[0].working_set: is missing" },
    { "files missing", ONE("workload: {kind: file_scan}"),
      "f.yaml:4: vms[0].files: is missing" },
    { "grow without an end", ONE("workload: {kind: grow, footprint: 50%}"),
      "f.yaml:4: vms[0].workload: grow needs" },
    { "working set > footprint",
      ONE("workload: {kind: idle, working_set: 2MiB, footprint: 1MiB}"),
      "f.yaml:4: vms[0].working_set: of phase 1 exceeds its footprint" },
    { "no length of a stream",
      ONE("workload: {kind: idle, working_set: 1MiB, stream: 1%}"),
      "f.yaml:4: vms[0].stream_files: is missing" },
    { "more than all accesses",
      ONE("workload: {kind: idle, working_set: 1MiB, stream: 60%, sweep: 60%, "
          "stream_files: 1MiB}"),
      "f.yaml:4: vms[0].sweep: and stream are more than all" },
    { "nothing to sweep",
      ONE("workload: {kind: idle, working_set: 1MiB, sweep: 1%}"),
      "f.yaml:4: vms[0].footprint: of phase 1 leaves nothing to sweep" },
    { "no thread", ONE("threads: 0"),
      "f.yaml:4: vms[0].threads: \"0\" is out of range" },
    { "phases out of order",
      ONE("workload: [{kind: idle}, {kind: idle, at: 0s}]"),
      "f.yaml:4: vms[0].at: is out of order" },
    { "no phases", ONE("workload: []"),
      "f.yaml:4: vms[0].workload: has 0 phases" },
};

static const struct bad bad_script[] = {
    { "fault of no VM", GOOD "faults:\n- {at: 1s, kind: die, vm: b}\n",
      "f.yaml:6: faults[0].vm: there is no VM \"b\"" },
    { "fault without VM", GOOD "faults:\n- {at: 1s, kind: die}\n",
      "f.yaml:6: faults[0].vm: is missing for die" },
    { "VM of a host fault",
      GOOD "faults:\n- {at: 1s, kind: memory-loss, vm: a, value: 1MiB}\n",
      "f.yaml:6: faults[0].vm: is not accepted for memory-loss" },
    { "no value", GOOD "faults:\n- {at: 1s, kind: memory-loss}\n",
      "f.yaml:6: faults[0].value: is missing for memory-loss" },
    { "value too much",
      GOOD "faults:\n- {at: 1s, kind: die, vm: a, "
           "value: 1}\n",
      "f.yaml:6: faults[0].value: is not accepted for die" },
    { "kind", GOOD "faults:\n- {at: 1s, kind: dye, vm: a}\n",
      "f.yaml:6: faults[0].kind: \"dye\" is unknown" },
    { "after the end", GOOD "faults:\n- {at: 1h, kind: die, vm: a}\n",
      "f.yaml:6: faults[0].at: is not before the end" },
    { "ends before it begins",
      GOOD "faults:\n- {at: 9s, until: 3s, kind: stats-frozen, vm: a}\n",
      "f.yaml:6: faults[0].until: is not between" },
    { "event of no VM", GOOD "events:\n- {at: 1s, vm: b, do: stop}\n",
      "f.yaml:6: events[0].vm: there is no VM \"b\"" },
    { "no such instance",
      HOST "vms:\n- {name: a, memory: 1MiB, count: 2}\n"
           "events:\n- {at: 1s, vm: a-3, do: stop}\n",
      "f.yaml:6: events[0].vm: there is no VM \"a-3\"" },
    { "of nothing", GOOD "events:\n- {at: 1s, do: stop}\n",
      "f.yaml:6: events[0].vm: or group: exactly one" },
    { "two deeds",
      GOOD "events:\n- {at: 1s, vm: a, do: stop, "
           "hold: 1MiB, until: 2s}\n",
      "f.yaml:6: events[0]: needs exactly one of set, do, hold" },
    { "hold without end", GOOD "events:\n- {at: 1s, vm: a, hold: 1MiB}\n",
      "f.yaml:6: events[0].until: is missing" },
    { "set nothing", GOOD "events:\n- {at: 1s, vm: a, set: {}}\n",
      "f.yaml:6: events[0].set: is empty" },
    { "reservation > limit in time",
      GOOD "events:\n- {at: 9s, vm: a, set: {reservation: 2MiB}}\n"
           "- {at: 1s, vm: a, set: {limit: 1MiB}}\n",
      "f.yaml:6: events.reservation: of 512 pages exceeds the limit" },
    { "trace without file",
      HOST "trace: {file: x.csv, workloads: [{workload: "
           "{kind: idle}}]}\n",
      "f.yaml:3: trace" },
};

static void expect_bad(const struct bad *bad)
{
    struct sim_scenario *scenario = NULL;
    struct sim_error err;
    int rc;

    rc = sim_scenario_parse(bad->text, strlen(bad->text), "f.yaml", &scenario,
                            &err);
    EXPECT(bad->shows, rc, POL_ERR_INVALID);
    EXPECT_TRUE(bad->shows, scenario == NULL);
    EXPECT_TRUE(bad->shows, strchr(err.text, '\n') == NULL);
    err.text[strlen(bad->error)] = '\0';
    EXPECT_TEXT(bad->shows, err.text, bad->error);
    sim_scenario_free(scenario);
}

static void expect_all_bad(const struct bad *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        expect_bad(&table[i]);
    }
}

static void test_files(void)
{
    expect_all_bad(bad_files, ROWS(bad_files));
}

static void test_keys(void)
{
    expect_all_bad(bad_keys, ROWS(bad_keys));
}

static void test_values(void)
{
    expect_all_bad(bad_values, ROWS(bad_values));
}

static void test_groups(void)
{
    expect_all_bad(bad_groups, ROWS(bad_groups));
}

static void test_vms(void)
{
    expect_all_bad(bad_vms, ROWS(bad_vms));
}

static void test_script(void)
{
    /* The last row needs a scenario that is no file, and so has no folder. */
    struct sim_scenario *scenario = NULL;
    const struct bad *last = &bad_script[ROWS(bad_script) - 1];
    struct sim_error err;

    expect_all_bad(bad_script, ROWS(bad_script) - 1);
    EXPECT("trace",
           sim_scenario_parse(last->text, strlen(last->text), NULL, &scenario,
                              &err),
           POL_ERR_INVALID);
}

static const char good[] =
    "name: all of it\n"
    "vms:\n" /* before what it needs: order does not matter */
    "- {name: web, count: 2, memory: 64MiB, group: g, reservation: 25%,\n"
    "   limit: 48MiB, tax: 50%, start: 10s, start_every: 5s, stop: 20min,\n"
    "   workload: [{kind: zipf, working_set: 50%, rate: max}]}\n"
    "duration: 1h\n"
    "host: {memory: 128MiB, page_size: 64KiB, reserve: 1MiB}\n"
    "policy: {preset: sliding, idle_tax: 12.5%, soft: 60%}\n"
    "groups:\n- {name: g, shares: 7, parent: h}\n- {name: h}\n"
    "events:\n- {at: 2s, vm: web-2, do: pause}\n"
    "- {at: 1s, group: g, set: {shares: 5}}\n"
    "faults:\n- {at: 3s, kind: foreign-target, vm: web, value: 1MiB}\n";

static void test_good(void)
{
    struct sim_scenario *s = NULL;
    struct sim_error err;

    MUST(sim_scenario_parse(good, strlen(good), "f.yaml", &s, &err));
    EXPECT_TEXT("name", s->name, "all of it");
    EXPECT("memory", s->host.memory_pages, 2048);
    EXPECT("reserve", s->config.host_reserve_pages, 16);
    EXPECT("page", s->config.page_bytes, 65536);
    EXPECT("tax", s->config.idle_tax_bp, 1250);
    EXPECT("soft", s->config.thresholds.soft_bp, 6000);
    EXPECT("clear follows soft", s->config.thresholds.clear_bp, 6000);
    EXPECT("hard of the preset", s->config.thresholds.hard_bp, 3200);
    EXPECT("capacity", s->config.max_vms, 2);
    EXPECT("groups", s->config.max_groups, 2);
    EXPECT("parent", s->groups[0].parent, 2);
    EXPECT("group", s->vms[0].group, 1);
    EXPECT("size", s->vms[0].size_pages, 1024);
    EXPECT("reservation", s->vms[0].reservation.relative_bp, 2500);
    EXPECT("limit", s->vms[0].limit.pages, 768);
    EXPECT("rate", s->vms[0].workload.loads[0].rate, 0);
    EXPECT("footprint", s->vms[0].workload.loads[0].footprint.relative_bp,
           5000);
    EXPECT("events by time", s->events[0].kind, SIM_EVENT_SET_GROUP);
    EXPECT("instance", s->events[1].instance, 2);
    EXPECT("fault", s->faults[0].value, 16);
    sim_scenario_free(s);
}

static void test_set(void)
{
    static const struct bad wrong[] = {
        { "no =", "seed", "\"seed\" is no assignment" },
        { "key", "sede=1", "unknown key \"sede\"" },
        { "policy key", "policy.idle_taxes=1%",
          "policy: unknown key \"idle_taxes\" (accepted: did you mean" },
        { "range", "policy.idle_tax=100%",
          "policy.idle_tax: \"100%\" is out of range" },
        { "longer", "duration=2h", "duration: \"2h\" (accepted:" },
        { "empty", "seed=", "seed: has no value" },
    };
    struct sim_scenario *s = NULL;
    struct sim_error err;

    MUST(sim_scenario_parse(GOOD, strlen(GOOD), "f.yaml", &s, &err));
    for (size_t i = 0; i < ROWS(wrong); i++) {
        EXPECT(wrong[i].shows, sim_scenario_set(s, wrong[i].text, &err),
               POL_ERR_INVALID);
        err.text[strlen(wrong[i].error)] = '\0';
        EXPECT_TEXT(wrong[i].shows, err.text, wrong[i].error);
    }
    MUST(sim_scenario_set(s, "policy.idle_tax=0%", &err));
    MUST(sim_scenario_set(s, "policy.preset=sliding6", &err));
    MUST(sim_scenario_set(s, "seed=42", &err));
    MUST(sim_scenario_set(s, "duration=10min", &err));
    EXPECT("tax", s->config.idle_tax_bp, 0);
    EXPECT("preset", s->config.thresholds.high_bp, 40000);
    EXPECT("seed", s->config.seed, 42);
    EXPECT("duration", s->duration_ms, 600000);
    sim_scenario_free(s);
}

static const struct test_case cases[] = {
    { "files that are no scenario", test_files },
    { "wrong, missing and misspelt keys", test_keys },
    { "values of the wrong kind or out of range", test_values },
    { "groups that cannot be", test_groups },
    { "VMs that cannot be", test_vms },
    { "faults and events that cannot be", test_script },
    { "a good scenario, key by key", test_good },
    { "changes from a command line", test_set },
};

EXPECT_MAIN("scenario", cases)
