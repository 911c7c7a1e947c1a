/* SPDX-License-Identifier: BSD-2-Clause */
/* Defaults and checks of what callers configure, and names of enums. */
#include "engine_int.h"

#define CHECK(condition, name)                                                 \
    do {                                                                       \
        if (!(condition)) {                                                    \
            if (field != NULL) {                                               \
                *field = (name);                                               \
            }                                                                  \
            return POL_ERR_RANGE;                                              \
        }                                                                      \
    } while (0)

void sim_host_config_init(struct sim_host_config *config)
{
    *config = (struct sim_host_config){
        .seed = 1,
        .page_kib = 4,
        .slice_ms = 1000,
        .total_pages = 1048576,
        .reserved_pages = 32768,
        .swap_pages = 1048576,
        .host_cpus = 8,
        .stats_ms = 1000,
    };
    sim_costs_init(&config->costs);
}

int sim_host_config_check(const struct sim_host_config *config,
                          const char **field)
{
    uint32_t kib = config->page_kib;

    CHECK(kib >= 4 && kib <= 2048 && (kib & (kib - 1)) == 0, "page_kib");
    CHECK(config->slice_ms >= 1 && config->slice_ms <= 60000, "slice_ms");
    CHECK(config->total_pages >= 1 && config->total_pages <= SIM_MAX_PAGES,
          "total_pages");
    CHECK(config->reserved_pages < config->total_pages, "reserved_pages");
    CHECK(config->swap_pages <= SIM_MAX_PAGES, "swap_pages");
    CHECK(config->share_pages_per_s <= SIM_MAX_RATE, "share_pages_per_s");
    CHECK(config->host_cpus >= 1 && config->host_cpus <= 4096, "host_cpus");
    CHECK(config->stats_ms >= 100 && config->stats_ms <= 600000, "stats_ms");
    CHECK(config->costs.cpu_ns >= 1, "costs.cpu_ns");
    CHECK(config->costs.disk_parallel >= 1 &&
              config->costs.disk_parallel <= 4096,
          "costs.disk_parallel");
    CHECK(config->costs.disk_ns_per_kib >= 1 &&
              config->costs.disk_ns_per_kib <= 100000000,
          "costs.disk_ns_per_kib");
    CHECK(config->costs.zero_ns_per_kib <= 1000000, "costs.zero_ns_per_kib");
    CHECK(config->costs.copy_ns_per_kib <= 1000000, "costs.copy_ns_per_kib");
    return POL_OK;
}

void sim_vm_config_init(struct sim_vm_config *config, uint64_t size_pages)
{
    uint64_t kernel = size_pages / 32 > 0 ? size_pages / 32 : 1;

    *config = (struct sim_vm_config){
        .size_pages = size_pages,
        .overhead_pages = size_pages / 128 + 1,
        .kernel_pages = kernel,
        .guest_swap_pages = size_pages / 2,
        .balloon_pages_per_s = size_pages / 16 > 0 ? size_pages / 16 : 1,
        .balloon_max_pages =
            size_pages / 100 * 65 + size_pages % 100 * 65 / 100,
        .boot_ms = 30000,
        .oom_restart_ms = 10000,
        .kernel_image_pages = kernel / 2,
        .driver = true,
        .kernel_every = 16,
        .threads = 1,
    };
}

int sim_vm_config_check(const struct sim_vm_config *config, const char **field)
{
    uint64_t size = config->size_pages;
    size_t i = 0;

    while (i < SIM_NAME_MAX && config->name[i] != '\0') {
        i++;
    }
    CHECK(config->name[i] == '\0', "name");
    CHECK(size >= 16 && size <= SIM_MAX_PAGES, "size_pages");
    CHECK(config->overhead_pages <= SIM_MAX_PAGES, "overhead_pages");
    CHECK(config->kernel_pages >= 1 && config->kernel_pages <= size / 2,
          "kernel_pages");
    CHECK(config->guest_swap_pages <= SIM_MAX_PAGES, "guest_swap_pages");
    CHECK(config->balloon_pages_per_s <= SIM_MAX_RATE, "balloon_pages_per_s");
    CHECK(config->balloon_max_pages <= size, "balloon_max_pages");
    CHECK(config->image <= SIM_MAX_IMAGE, "image");
    CHECK(config->image_file_pages <= SIM_IMAGE_PAGES / 2, "image_file_pages");
    CHECK(config->kernel_image_pages <= SIM_IMAGE_PAGES / 4,
          "kernel_image_pages");
    CHECK(config->zero_anon_bp <= 10000, "zero_anon_bp");
    CHECK(config->image_anon_bp <= 10000 - config->zero_anon_bp,
          "image_anon_bp");
    CHECK(config->threads >= 1 && config->threads <= SIM_MAX_THREADS,
          "threads");
    return POL_OK;
}

void sim_phase_init(struct sim_phase *phase)
{
    *phase = (struct sim_phase){
        .kind = SIM_IDLE,
        .write_bp = 3000,
        .zipf_bp = 10000,
        .file_write_bp = UINT32_MAX,
    };
}

/* What a program does beside its kind of access. */
static int check_mixed(const struct sim_phase *phase, const char **field)
{
    CHECK(phase->file_write_bp <= 10000 || phase->file_write_bp == UINT32_MAX,
          "file_write_bp");
    CHECK(phase->stream_bp <= 10000, "stream_bp");
    CHECK(phase->stream_write_bp <= 10000, "stream_write_bp");
    CHECK(phase->stream_pages <= SIM_MAX_PAGES - phase->file_pages,
          "stream_pages");
    CHECK(phase->stream_bp == 0 || phase->stream_pages > 0, "stream_pages");
    CHECK(phase->sweep_bp <= 10000 - phase->stream_bp, "sweep_bp");
    CHECK(phase->sweep_bp == 0 ||
              (phase->working_set_pages != 0 &&
               phase->working_set_pages + phase->ws_offset_pages <
                   phase->footprint_pages),
          "sweep_bp");
    CHECK(phase->renew_every <= SIM_MAX_RATE, "renew_every");
    return POL_OK;
}

int sim_phase_check(const struct sim_phase *phase, const char **field)
{
    CHECK((unsigned)phase->kind < SIM_PHASE_KINDS, "kind");
    CHECK(phase->write_bp <= 10000, "write_bp");
    CHECK(phase->file_bp <= 10000, "file_bp");
    CHECK(phase->zipf_bp <= 40000, "zipf_bp");
    CHECK(phase->reserved_0 == 0, "reserved_0");
    CHECK(phase->rate <= SIM_MAX_RATE, "rate");
    CHECK(phase->footprint_pages <= SIM_MAX_PAGES, "footprint_pages");
    CHECK(phase->file_pages <= SIM_MAX_PAGES, "file_pages");
    CHECK(phase->working_set_pages <= phase->footprint_pages,
          "working_set_pages");
    CHECK(phase->ws_offset_pages <=
              phase->footprint_pages - phase->working_set_pages,
          "ws_offset_pages");
    CHECK(phase->working_set_pages != 0 || phase->ws_offset_pages == 0,
          "ws_offset_pages");
    CHECK(phase->kind != SIM_GROW || phase->grow_ms > 0, "grow_ms");
    CHECK(phase->kind != SIM_FILE_SCAN || phase->file_pages > 0, "file_pages");
    return check_mixed(phase, field);
}

const char *sim_phase_kind_name(enum sim_phase_kind kind)
{
    static const char *const names[SIM_PHASE_KINDS] = { "idle",      "uniform",
                                                        "zipf",      "sweep",
                                                        "file-scan", "grow" };

    return (unsigned)kind < SIM_PHASE_KINDS ? names[kind] : NULL;
}
