/* SPDX-License-Identifier: BSD-2-Clause */
/* The experiments there are. Their scenarios are part of the program, so that
 * it finds them wherever it is installed. */
#include "embed.h"
#include "exp.h"

#define SCENARIO(name, file) EMBED(name, EXPERIMENTS_DIR "/" file)

SCENARIO(page_sharing, "page-sharing.yaml");
SCENARIO(kernel_compile, "kernel-compile.yaml");
SCENARIO(database, "database.yaml");
SCENARIO(specjbb, "specjbb.yaml");
SCENARIO(exchange, "exchange.yaml");
SCENARIO(working_set, "working-set.yaml");
SCENARIO(idle_tax, "idle-tax.yaml");
SCENARIO(memory_upgrade, "memory-upgrade.yaml");

const struct experiment exp_list[] = {
    { "page-sharing", "ESX09 figure 9", "What page sharing costs",
      "minutes for a scan of all memory", "throughput lost", "%",
      &asset_page_sharing, exp_page_sharing },
    { "kernel-compile", "ESX09 figure 10", "Kernel compile in 512 MiB",
      "limit, MiB", "throughput lost", "%", &asset_kernel_compile,
      exp_compile },
    { "database", "ESX09 figure 11", "Database in 4 GiB", "limit, MiB",
      "throughput lost", "%", &asset_database, exp_database },
    { "specjbb", "ESX09 figure 12", "SPECjbb in 4 GiB", "limit, MiB",
      "throughput lost", "%", &asset_specjbb, exp_specjbb },
    { "exchange", "ESX09 figure 13", "Exchange in 12 GiB", "limit, MiB",
      "latency", "ms", &asset_exchange, exp_exchange },
    { "working-set", "ESX02 figure 6", "Estimating what is active", "minutes",
      "memory", "MiB", &asset_working_set, exp_working_set },
    { "idle-tax", "ESX02 figure 7", "The tax on idle memory", "minutes",
      "target", "MiB", &asset_idle_tax, exp_idle_tax },
    { "memory-upgrade", "KT09", "VMs of 1 GiB on 2 and 32 GiB", "VMs asked for",
      "memory", "MiB", &asset_memory_upgrade, exp_memory_upgrade },
};

const size_t exp_list_n = sizeof exp_list / sizeof exp_list[0];
