/* SPDX-License-Identifier: BSD-2-Clause */
#include "adapter_suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define VMS_MAX    64
#define NO_SUCH_VM UINT64_C(0xdeadbeefcafe)

static const struct conf_subject *subject;
static const struct pol_host_ops *ops;
static void *host;
static uint64_t vms[VMS_MAX];
static struct pol_vm_params params[VMS_MAX];
static size_t vms_n;

/* ---- Looking ----------------------------------------------------------- */

static struct pol_host_obs look_host(void)
{
    struct pol_host_obs obs;

    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    obs.caps = POL_CAPS_ALL;
    EXPECT("read_host", ops->read_host(host, &obs), POL_OK);
    return obs;
}

static struct pol_vm_obs look_vm(uint64_t vm)
{
    struct pol_vm_obs obs;

    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    EXPECT("read_vm", ops->read_vm(host, vm, &obs), POL_OK);
    return obs;
}

static void list_vms(void)
{
    uint64_t cursor = 0;

    vms_n = 0;
    while (vms_n < VMS_MAX) {
        struct pol_vm_params *p = &params[vms_n];

        pol_vm_params_init(p, 1);
        if (ops->next_vm(host, &cursor, &vms[vms_n], p) != POL_OK) {
            break;
        }
        vms_n++;
    }
}

static void begin(void)
{
    host = subject->make();
    MUST(host == NULL ? POL_ERR_HOST : POL_OK);
    list_vms();
}

static void end(void)
{
    subject->destroy(host);
    host = NULL;
}

static void skipped(const char *what)
{
    printf("  not checked, the host has none: %s\n", what);
}

/* ---- The table --------------------------------------------------------- */

static void test_table(void)
{
    struct pol_host_ops broken;

    EXPECT("whole", pol_host_ops_check(ops), POL_OK);
    broken = *ops;
    broken.size--;
    EXPECT("size", pol_host_ops_check(&broken), POL_ERR_VERSION);
    broken = *ops;
    broken.name = NULL;
    EXPECT("name", pol_host_ops_check(&broken), POL_ERR_INVALID);
    broken = *ops;
    broken.read_host = NULL;
    EXPECT("read_host", pol_host_ops_check(&broken), POL_ERR_INVALID);
    broken = *ops;
    broken.next_vm = NULL;
    EXPECT("next_vm", pol_host_ops_check(&broken), POL_ERR_INVALID);
    broken = *ops;
    broken.read_vm = NULL;
    EXPECT("read_vm", pol_host_ops_check(&broken), POL_ERR_INVALID);
    broken = *ops;
    broken.set_balloon = NULL;
    EXPECT("set_balloon", pol_host_ops_check(&broken), POL_ERR_INVALID);
}

/* ---- Reading ----------------------------------------------------------- */

static void test_host(void)
{
    struct pol_host_obs first, second;

    begin();
    first = look_host();
    EXPECT_TRUE("total",
                first.total_pages > 0 && first.total_pages <= POL_MAX_PAGES);
    EXPECT_TRUE("free", first.free_pages <= first.total_pages);
    EXPECT_TRUE("swap", first.swap_free_pages <= first.swap_total_pages);
    EXPECT("caps", first.caps & ~POL_CAPS_ALL, 0);
    EXPECT("reserved", first.reserved_0, 0);
    subject->advance(host, 1000);
    second = look_host();
    EXPECT_TRUE("time goes on", second.now_ms > first.now_ms);
    end();
}

static void test_list(void)
{
    uint64_t before[VMS_MAX];
    size_t n;

    begin();
    EXPECT_TRUE("at least two, an end", vms_n >= 2 && vms_n < VMS_MAX);
    for (size_t i = 0; i < vms_n; i++) {
        EXPECT("params", pol_vm_params_check(&params[i], NULL), POL_OK);
        for (size_t j = 0; j < i; j++) {
            EXPECT_TRUE("ids differ", vms[i] != vms[j]);
        }
    }
    memcpy(before, vms, sizeof(before));
    n = vms_n;
    list_vms();
    EXPECT("the same again", vms_n, n);
    EXPECT("the same again", memcmp(before, vms, n * sizeof(*vms)), 0);
    end();
}

static void test_vms(void)
{
    begin();
    for (size_t i = 0; i < vms_n; i++) {
        struct pol_vm_obs obs = look_vm(vms[i]);

        EXPECT("bits", obs.valid & ~POL_OBS_ALL, 0);
        EXPECT_TRUE("consumed", (obs.valid & POL_OBS_CONSUMED) != 0);
        EXPECT_TRUE("lifecycle", obs.lifecycle < POL_LIFECYCLES);
        EXPECT_TRUE("driver", obs.driver < POL_DRIVERS);
        EXPECT_TRUE("blocked", obs.blocked <= 1);
        EXPECT("reserved", obs.reserved_0 | obs.reserved_1, 0);
        EXPECT_TRUE("consumed <= granted",
                    (obs.valid & POL_OBS_GRANTED) == 0 ||
                        obs.consumed_pages <= obs.granted_pages);
        EXPECT_TRUE("actual <= size",
                    (obs.valid & POL_OBS_ACTUAL) == 0 ||
                        obs.actual_pages <= params[i].size_pages);
        EXPECT_TRUE("backed <= size", obs.granted_pages + obs.swapped_pages <=
                                          params[i].size_pages);
    }
    end();
}

/* A VM that does not exist is an error of every op, and nothing else. */
static void test_no_such_vm(void)
{
    struct pol_vm_obs obs;
    uint64_t done = 0;
    uint64_t page = 0;
    uint32_t touched = 0;

    begin();
    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    EXPECT("read_vm", ops->read_vm(host, NO_SUCH_VM, &obs), POL_ERR_NOTFOUND);
    EXPECT_TRUE("set_balloon",
                ops->set_balloon(host, NO_SUCH_VM, 100, &done) < 0);
    EXPECT_TRUE("swap_out", ops->swap_out == NULL ||
                                ops->swap_out(host, NO_SUCH_VM, 1, &done) < 0);
    EXPECT_TRUE("swap_in", ops->swap_in == NULL ||
                               ops->swap_in(host, NO_SUCH_VM, 1, &done) < 0);
    EXPECT_TRUE("set_blocked", ops->set_blocked == NULL ||
                                   ops->set_blocked(host, NO_SUCH_VM, 1) < 0);
    EXPECT_TRUE("set_hard_cap", ops->set_hard_cap == NULL ||
                                    ops->set_hard_cap(host, NO_SUCH_VM, 9) < 0);
    EXPECT_TRUE("sample_begin",
                ops->sample_begin == NULL ||
                    ops->sample_begin(host, NO_SUCH_VM, &page, 1) < 0);
    EXPECT_TRUE("sample_read",
                ops->sample_read == NULL ||
                    ops->sample_read(host, NO_SUCH_VM, &touched, &page) < 0);
    end();
}

/* ---- Acting ------------------------------------------------------------ */

static void test_balloon(void)
{
    uint64_t size, want;
    uint64_t done = 0;
    struct pol_vm_obs before, after;

    begin();
    size = params[0].size_pages;
    want = size - size / 10;
    before = look_vm(vms[0]);
    EXPECT("ask", ops->set_balloon(host, vms[0], want, &done), POL_OK);
    EXPECT_TRUE("on record", done >= 1 && done <= size);
    EXPECT_TRUE("does not wait", look_vm(vms[0]).actual_pages >= done);
    after = look_vm(vms[0]);
    EXPECT_TRUE("seen", (after.valid & POL_OBS_TARGET) == 0 ||
                            after.target_seen_pages == done);
    subject->advance(host, subject->settle_ms);
    after = look_vm(vms[0]);
    EXPECT_TRUE("moved", after.actual_pages < before.actual_pages);
    EXPECT_TRUE("not too far", after.actual_pages >= done);
    EXPECT_TRUE("host memory follows",
                after.consumed_pages <= after.actual_pages);
    EXPECT("back", ops->set_balloon(host, vms[0], size, &done), POL_OK);
    subject->advance(host, subject->settle_ms);
    EXPECT("all back", look_vm(vms[0]).actual_pages, size);
    /* Beyond all bounds: taken for the nearest that can be. */
    (void)ops->set_balloon(host, vms[0], POL_MAX_PAGES, &done);
    EXPECT_TRUE("at most the size", done <= size);
    end();
}

static void test_swap(void)
{
    struct pol_vm_obs before, after;
    uint64_t pages, done, back;

    if (ops->swap_out == NULL) {
        skipped("swap_out");
        return;
    }
    begin();
    pages = params[0].size_pages / 20;
    done = pages + 1;
    before = look_vm(vms[0]);
    EXPECT("out", ops->swap_out(host, vms[0], pages, &done), POL_OK);
    after = look_vm(vms[0]);
    EXPECT_TRUE("some, not more than asked", done > 0 && done <= pages);
    EXPECT("swapped", after.swapped_pages - before.swapped_pages, done);
    EXPECT("granted", before.granted_pages - after.granted_pages, done);
    if (ops->swap_in != NULL) {
        back = done + 1;
        EXPECT("in", ops->swap_in(host, vms[0], done, &back), POL_OK);
        EXPECT_TRUE("not more than asked", back <= done);
        EXPECT("in", after.swapped_pages - look_vm(vms[0]).swapped_pages, back);
    } else {
        skipped("swap_in");
    }
    end();
}

static uint64_t time_of(uint64_t vm)
{
    uint32_t touched = 0;
    uint64_t ms = 0;

    EXPECT("sample_read", ops->sample_read(host, vm, &touched, &ms), POL_OK);
    return ms;
}

static void test_block(void)
{
    uint64_t ms;

    if (ops->set_blocked == NULL || ops->sample_read == NULL) {
        skipped("set_blocked with a VM's own time");
        return;
    }
    begin();
    EXPECT("block", ops->set_blocked(host, vms[0], 1), POL_OK);
    EXPECT("seen", look_vm(vms[0]).blocked, 1);
    EXPECT("twice", ops->set_blocked(host, vms[0], 1), POL_OK);
    ms = time_of(vms[0]);
    subject->advance(host, 2000);
    EXPECT("its time stands still", time_of(vms[0]), ms);
    EXPECT("unblock", ops->set_blocked(host, vms[0], 0), POL_OK);
    EXPECT("seen", look_vm(vms[0]).blocked, 0);
    subject->advance(host, 2000);
    EXPECT_TRUE("and goes on", time_of(vms[0]) > ms);
    end();
}

static void test_samples(void)
{
    uint64_t pages[50];
    uint32_t touched = 99;
    uint32_t later = 0;
    uint64_t ms = 0;

    if (ops->sample_begin == NULL || ops->sample_read == NULL) {
        skipped("sampling");
        return;
    }
    begin();
    for (size_t i = 0; i < 50; i++) {
        pages[i] = params[0].size_pages / 50 * i;
    }
    EXPECT("begin", ops->sample_begin(host, vms[0], pages, 50), POL_OK);
    EXPECT("read", ops->sample_read(host, vms[0], &touched, &ms), POL_OK);
    EXPECT("nothing yet", touched, 0);
    subject->advance(host, 5000);
    EXPECT("read", ops->sample_read(host, vms[0], &touched, &ms), POL_OK);
    EXPECT_TRUE("at most all", touched <= 50);
    subject->advance(host, 5000);
    EXPECT("read", ops->sample_read(host, vms[0], &later, &ms), POL_OK);
    EXPECT_TRUE("never falls", later >= touched && later <= 50);
    EXPECT("again", ops->sample_begin(host, vms[0], pages, 50), POL_OK);
    EXPECT("read", ops->sample_read(host, vms[0], &touched, &ms), POL_OK);
    EXPECT("forgotten", touched, 0);
    end();
}

static void test_cap_and_sharing(void)
{
    begin();
    if (ops->set_hard_cap != NULL) {
        uint64_t cap = params[0].size_pages / 2;

        EXPECT("cap", ops->set_hard_cap(host, vms[0], cap), POL_OK);
        subject->advance(host, subject->settle_ms);
        EXPECT_TRUE("kept", look_vm(vms[0]).consumed_pages <= cap);
    } else {
        skipped("set_hard_cap");
    }
    if (ops->set_share_rate != NULL) {
        EXPECT("rate", ops->set_share_rate(host, 1000), POL_OK);
        subject->advance(host, 1000);
        EXPECT("off", ops->set_share_rate(host, 0), POL_OK);
    } else {
        skipped("set_share_rate");
    }
    end();
}

/* ---- The whole loop ---------------------------------------------------- */

struct loop {
    struct pol_host_loop loop;
    struct pol_ctx *ctx;
    void *block;
};

static void open_loop(struct loop *l, int dry_run)
{
    struct pol_config config;
    size_t bytes = 0;

    memset(l, 0, sizeof(*l));
    pol_config_init(&config, VMS_MAX, 0);
    config.page_bytes = subject->page_bytes;
    MUST(pol_ctx_size(&config, &bytes));
    l->block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    MUST(pol_ctx_init(l->block, bytes, &config, &l->ctx));
    l->loop.size = sizeof(l->loop);
    l->loop.ops = ops;
    l->loop.host = host;
    l->loop.dry_run = dry_run;
    l->loop.actions_cap = pol_replay_bound(&config);
    l->loop.actions = calloc(l->loop.actions_cap, sizeof(*l->loop.actions));
    l->loop.sample_pages = calloc(config.sample_pages, sizeof(uint64_t));
}

static void close_loop(struct loop *l)
{
    free(l->loop.actions);
    free(l->loop.sample_pages);
    free(l->block);
}

static void test_rounds(void)
{
    struct loop l;
    struct pol_host_status status;

    begin();
    open_loop(&l, 0);
    for (int round = 0; round < 100; round++) {
        EXPECT("round", pol_host_step(l.ctx, &l.loop), POL_OK);
        EXPECT("no failures", l.loop.vm_failures, 0);
        subject->advance(host, 1000);
    }
    EXPECT("all known", pol_vm_count(l.ctx), vms_n);
    MUST(pol_host_get(l.ctx, &status));
    EXPECT("no failures", status.failures, 0);
    EXPECT_TRUE("it adds up", status.free_pages + status.consumed_pages <=
                                  status.total_pages);
    close_loop(&l);
    end();
}

static void test_dry_run(void)
{
    struct loop l;
    uint64_t before[VMS_MAX];

    begin();
    for (size_t i = 0; i < vms_n; i++) {
        before[i] = look_vm(vms[i]).target_seen_pages;
    }
    open_loop(&l, 1);
    for (int round = 0; round < 20; round++) {
        EXPECT("round", pol_host_step(l.ctx, &l.loop), POL_OK);
        subject->advance(host, 1000);
    }
    for (size_t i = 0; i < vms_n; i++) {
        EXPECT("unchanged", look_vm(vms[i]).target_seen_pages, before[i]);
        EXPECT("unchanged", look_vm(vms[i]).blocked, 0);
    }
    close_loop(&l);
    end();
}

static const struct test_case cases[] = {
    { "the ops table is whole, and each required op is missed", test_table },
    { "the host's figures are in range and time goes on", test_host },
    { "the list of VMs ends, repeats and names each once", test_list },
    { "VMs' figures are in range and fit together", test_vms },
    { "a VM that does not exist is an error of every op", test_no_such_vm },
    { "balloons: asked, on record, moved, given back", test_balloon },
    { "swapping: what is reported is what happened", test_swap },
    { "blocked VMs stand still", test_block },
    { "samples are counted, and forgotten", test_samples },
    { "hard caps hold; sharing can be steered", test_cap_and_sharing },
    { "a hundred rounds of the policy", test_rounds },
    { "a dry run changes nothing", test_dry_run },
};

int conf_run(const struct conf_subject *what)
{
    subject = what;
    ops = what->ops;
    return expect_main(what->name, cases, ROWS(cases));
}
