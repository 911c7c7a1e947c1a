/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L

#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

#define REFRESH_MS 200

static uint64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void progress_start(struct progress *progress, bool on)
{
    progress->on = on;
    progress->tty = isatty(STDERR_FILENO) == 1;
    progress->shown = 0;
    progress->begun_ms = wall_ms();
    progress->last_ms = progress->begun_ms;
}

static void say(struct sim_run *run, uint64_t percent, const char *before,
                const char *after)
{
    uint32_t page_bytes = sim_run_scenario(run)->host.page_bytes;
    struct sim_run_host host;
    char span[TEXT_MAX];
    char vms[TEXT_MAX];
    char memory[TEXT_MAX];

    sim_run_host(run, &host);
    fprintf(stderr, "%s%3u %%  %s: %s VMs, %s free, state %s%s", before,
            (unsigned)percent, text_span(span, sim_run_now_ms(run)),
            text_count(vms, host.vms),
            text_pages(memory, host.free_pages, page_bytes),
            pol_state_name((int)host.policy.state), after);
    fflush(stderr);
}

void progress_tick(struct progress *progress, struct sim_run *run)
{
    uint64_t duration = sim_run_scenario(run)->duration_ms;
    uint64_t percent;

    if (!progress->on || duration == 0) {
        return;
    }
    percent =
        (uint64_t)((double)sim_run_now_ms(run) * 100.0 / (double)duration);
    percent = percent > 100 ? 100 : percent;
    if (progress->tty) {
        uint64_t now = wall_ms();

        if (now - progress->last_ms >= REFRESH_MS) {
            progress->last_ms = now;
            say(run, percent, "\r", "\033[K");
        }
    } else if (percent / 10 > progress->shown) {
        progress->shown = (uint32_t)(percent / 10);
        say(run, percent, "", "\n");
    }
}

void progress_end(struct progress *progress, struct sim_run *run)
{
    uint64_t took = wall_ms() - progress->begun_ms;
    char simulated[TEXT_MAX];

    if (!progress->on) {
        return;
    }
    fprintf(stderr, "%ssimulated %s in %llu.%llu s\n",
            progress->tty ? "\r\033[K" : "",
            text_span(simulated, sim_run_now_ms(run)),
            (unsigned long long)(took / 1000),
            (unsigned long long)(took % 1000 / 100));
}
