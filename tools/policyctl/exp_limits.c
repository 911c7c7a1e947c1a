/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ESX09 figures 10 to 13: one VM whose limit goes down, once with a balloon
 * driver and once without, so that the hypervisor swaps. The policy is what
 * enforces the limit in either case.
 */
#include "exp.h"

#define LIMITS_MAX 16

/** A limit that is tried; with --quick only those that something is said
 *  about. Ends with 0 MiB. */
struct limit {
    uint32_t mib;
    bool quick;
};

/** How the VM fares under each limit, by one means. */
struct curve {
    const char *name; /**< "balloon", "swap" */
    const struct limit *limits;
    enum sim_balloon balloon;
    uint32_t mib[LIMITS_MAX];
    struct exp_measure at[LIMITS_MAX];
    size_t n;
};

/** A published figure. */
struct known {
    uint32_t mib;
    double value;
};

static int run_curve(const struct experiment *experiment, bool quick,
                     uint64_t from_ms, struct curve *curve)
{
    for (const struct limit *limit = curve->limits; limit->mib != 0; limit++) {
        struct sim_scenario *scenario;
        struct sim_vm_spec *vm;
        int status;

        if (quick && !limit->quick) {
            continue;
        }
        scenario = exp_load(experiment);
        if (scenario == NULL) {
            return STATUS_FAILED;
        }
        vm = &scenario->vms[0];
        vm->balloon = curve->balloon;
        vm->limit.relative_bp = 0;
        vm->limit.pages =
            (uint64_t)limit->mib * 1048576u / scenario->host.page_bytes;
        status = exp_measure(scenario, from_ms, &curve->at[curve->n]);
        sim_scenario_free(scenario);
        if (status != STATUS_OK) {
            return status;
        }
        curve->mib[curve->n++] = limit->mib;
    }
    return STATUS_OK;
}

static int run_both(const struct experiment *experiment, bool quick,
                    uint64_t from_ms, struct curve *balloon, struct curve *swap)
{
    int status = run_curve(experiment, quick, from_ms, balloon);

    return status != STATUS_OK ? status
                               : run_curve(experiment, quick, from_ms, swap);
}

/* Throughput lost, of what the same VM does with its first, largest limit. */
static double loss_at(const struct curve *curve, size_t i)
{
    return 100 - 100 * curve->at[i].per_s / curve->at[0].per_s;
}

static size_t find(const struct curve *curve, uint32_t mib)
{
    size_t i = 0;

    while (i + 1 < curve->n && curve->mib[i] != mib) {
        i++;
    }
    return i;
}

static double loss(const struct curve *curve, uint32_t mib)
{
    return loss_at(curve, find(curve, mib));
}

static double known_value(const struct known *known, uint32_t mib)
{
    while (known->mib != 0 && known->mib != mib) {
        known++;
    }
    return known->mib != 0 ? known->value : EXP_UNKNOWN;
}

static void add_losses(struct exp_result *result, const struct curve *curve,
                       const struct known *known)
{
    for (size_t i = 0; i < curve->n; i++) {
        double published = known_value(known, curve->mib[i]);

        exp_point(result, curve->name, false, curve->mib[i], loss_at(curve, i));
        exp_point(result, curve->name, true, curve->mib[i], published);
        if (i > 0) {
            exp_percent(result,
                        must_format("throughput lost by %s at %u MiB",
                                    curve->name, curve->mib[i]),
                        published, loss_at(curve, i), NULL);
        }
    }
}

/* Largest loss with this limit or a larger one. */
static double worst_down_to(const struct curve *curve, uint32_t mib)
{
    double worst = 0;

    for (size_t i = 0; i < curve->n; i++) {
        if (curve->mib[i] >= mib && loss_at(curve, i) > worst) {
            worst = loss_at(curve, i);
        }
    }
    return worst;
}

/* Does swapping lose more under every limit that both were tried with? */
static void check_swap_loses_more(struct exp_result *result,
                                  const struct curve *balloon,
                                  const struct curve *swap)
{
    bool more = true;

    for (size_t i = 1; i < swap->n; i++) {
        more = more && loss_at(swap, i) > loss(balloon, swap->mib[i]);
    }
    exp_check(result, more, EXP_ORDERING,
              must_copy("swapping loses more than the balloon, at every limit"),
              "yes", must_copy(more ? "yes" : "no"),
              "the balloon costs as much under some limit");
}

int exp_compile(const struct experiment *experiment, bool quick,
                struct exp_result *result)
{
    static const struct limit limits[] = { { 512, true },  { 448, false },
                                           { 384, false }, { 320, false },
                                           { 256, true },  { 192, false },
                                           { 128, true },  { 0, false } };
    static const struct known by_balloon[] = { { 128, 3 }, { 0, 0 } };
    static const struct known by_swap[] = { { 128, 34 }, { 0, 0 } };
    struct curve balloon = { .name = "balloon", .limits = limits };
    struct curve swap = { .name = "swap",
                          .limits = limits,
                          .balloon = SIM_BALLOON_ABSENT };
    int status = run_both(experiment, quick, 600000, &balloon, &swap);

    if (status == STATUS_OK) {
        add_losses(result, &balloon, by_balloon);
        add_losses(result, &swap, by_swap);
        check_swap_loses_more(result, &balloon, &swap);
    }
    return status;
}

int exp_database(const struct experiment *experiment, bool quick,
                 struct exp_result *result)
{
    static const struct limit limits[] = { { 4096, true },  { 3840, false },
                                           { 3584, true },  { 3072, false },
                                           { 2560, false }, { 2048, true },
                                           { 0, false } };
    static const struct known by_balloon[] = { { 0, 0 } };
    static const struct known by_swap[] = { { 3584, 17 }, { 0, 0 } };
    struct curve balloon = { .name = "balloon", .limits = limits };
    struct curve swap = { .name = "swap",
                          .limits = limits,
                          .balloon = SIM_BALLOON_ABSENT };
    int status = run_both(experiment, quick, 1200000, &balloon, &swap);
    double worst;

    if (status == STATUS_OK) {
        add_losses(result, &balloon, by_balloon);
        add_losses(result, &swap, by_swap);
        worst = worst_down_to(&balloon, 2048);
        exp_check(result, worst < 3, EXP_SHAPE,
                  must_copy("the balloon's curve is flat down to 2048 MiB"),
                  "flat", must_format("%.1f %% at most", worst),
                  "the guest needs more than this leaves it");
        check_swap_loses_more(result, &balloon, &swap);
    }
    return status;
}

/* Both curves fall off below 2816 MiB, not before. */
static void check_heap_cliff(struct exp_result *result,
                             const struct curve *curve)
{
    double before = worst_down_to(curve, 2816);
    double after = loss(curve, 2560);

    exp_check(
        result, before < 3 && after > before + 10, EXP_CLIFF,
        must_format("by %s it falls off below 2816 MiB", curve->name), "yes",
        must_format("%.1f %% down to 2816, %.1f %% at 2560 MiB", before, after),
        "the cliff is elsewhere");
}

static void check_heap_crossing(struct exp_result *result,
                                const struct curve *balloon,
                                const struct curve *swap)
{
    exp_check(result, loss(swap, 2560) < loss(balloon, 2560), EXP_ORDERING,
              must_copy("around 2560 MiB swapping beats the balloon"), "yes",
              must_format("%.1f %% against %.1f %%", loss(swap, 2560),
                          loss(balloon, 2560)),
              "the balloon loses less");
    exp_check(result,
              loss(swap, 2176) > loss(balloon, 2176) &&
                  loss(swap, 2048) > loss(balloon, 2048),
              EXP_ORDERING, must_copy("below 2304 MiB it does not"), "yes",
              must_format("%.1f %% against %.1f %% at 2176 MiB",
                          loss(swap, 2176), loss(balloon, 2176)),
              "swapping loses less");
}

int exp_specjbb(const struct experiment *experiment, bool quick,
                struct exp_result *result)
{
    static const struct limit limits[] = { { 4096, true },  { 3072, false },
                                           { 2816, true },  { 2688, false },
                                           { 2560, true },  { 2432, false },
                                           { 2304, false }, { 2176, true },
                                           { 2048, true },  { 0, false } };
    static const struct known by_balloon[] = { { 2048, 89 }, { 0, 0 } };
    static const struct known by_swap[] = { { 2048, 96 }, { 0, 0 } };
    struct curve balloon = { .name = "balloon", .limits = limits };
    struct curve swap = { .name = "swap",
                          .limits = limits,
                          .balloon = SIM_BALLOON_ABSENT };
    int status = run_both(experiment, quick, 900000, &balloon, &swap);

    if (status == STATUS_OK) {
        add_losses(result, &balloon, by_balloon);
        add_losses(result, &swap, by_swap);
        check_heap_cliff(result, &balloon);
        check_heap_cliff(result, &swap);
        check_heap_crossing(result, &balloon, &swap);
    }
    return status;
}

/* ---- Figure 13: latency ------------------------------------------------- */

/** Accesses that make one operation of the mail server. */
#define OPERATION 20

/* A server that gives up some of what is asked of it for good has failed: the
 * benchmark's clients time out. */
static bool has_failed(const struct curve *curve, size_t i)
{
    return curve->at[i].shed > 1;
}

static double latency(const struct curve *curve, size_t i)
{
    return curve->at[i].ms_per_access * OPERATION;
}

static void add_latencies(struct exp_result *result, const struct curve *curve,
                          const struct known *known, const char *reason)
{
    for (size_t i = 0; i < curve->n; i++) {
        double published = known_value(known, curve->mib[i]);
        bool failed = has_failed(curve, i);

        exp_point(result, curve->name, true, curve->mib[i], published);
        if (!failed) {
            exp_point(result, curve->name, false, curve->mib[i],
                      latency(curve, i));
            exp_amount(result,
                       must_format("latency by %s at %u GiB", curve->name,
                                   curve->mib[i] / 1024),
                       "ms", published, latency(curve, i), reason);
        }
    }
}

int exp_exchange(const struct experiment *experiment, bool quick,
                 struct exp_result *result)
{
    static const struct limit down[] = { { 12288, true },
                                         { 9216, false },
                                         { 6144, false },
                                         { 3072, true },
                                         { 0, false } };
    static const struct limit some[] = { { 12288, false },
                                         { 11264, false },
                                         { 10240, true },
                                         { 9216, true },
                                         { 0, false } };
    static const struct known by_balloon[] = { { 12288, 4.6 },
                                               { 3072, 7.3 },
                                               { 0, 0 } };
    static const struct known by_swap[] = { { 10240, 143 }, { 0, 0 } };
    struct curve balloon = { .name = "balloon", .limits = down };
    struct curve swap = { .name = "swap",
                          .limits = some,
                          .balloon = SIM_BALLOON_ABSENT };
    int status = run_both(experiment, quick, 1200000, &balloon, &swap);
    size_t ten, nine;

    if (status != STATUS_OK) {
        return status;
    }
    add_latencies(result, &balloon, by_balloon, NULL);
    add_latencies(result, &swap, by_swap,
                  "the disk is saturated: latency is threads per throughput");
    ten = find(&swap, 10240);
    nine = find(&swap, 9216);
    exp_check(
        result, latency(&swap, ten) > 5 * latency(&balloon, 0), EXP_CLIFF,
        must_copy("swapping away a sixth of the VM multiplies latency"),
        "31 times",
        must_format("%.0f times", latency(&swap, ten) / latency(&balloon, 0)),
        "the disk is not saturated");
    exp_check(result, !has_failed(&swap, ten) && has_failed(&swap, nine),
              EXP_CLIFF, must_copy("with 9 GiB and swapping it fails"), "yes",
              must_format("%.1f %% of operations given up, %.1f %% at 10 GiB",
                          swap.at[nine].shed, swap.at[ten].shed),
              "the server keeps up");
    return STATUS_OK;
}
