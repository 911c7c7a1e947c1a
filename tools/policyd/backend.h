/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file backend.h
 * What policyd wants of an adapter besides its ops table: opening, names,
 * settings that last, and words for people.
 *
 * One backend_NAME.c per hypervisor fills in one `struct pd_backend` from its
 * adapter's own public header, so that adapters know nothing of the daemon.
 *
 * Threads: everything here is called on the daemon's main thread, and nothing
 * may wait for a guest or for a hypervisor's management daemon: adapters have
 * threads of their own for that, and answer from what they know. Only
 * pd_hooks' functions may be called from any thread.
 */
#ifndef POLICYD_BACKEND_H
#define POLICYD_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/** Room for one line that says what was wrong, with its final 0. */
#define PD_WHY_BYTES 512

enum pd_level {
    PD_ERROR = 0,
    PD_WARNING = 1,
    PD_INFO = 2,
    PD_DEBUG = 3
};

/** What a backend may call back, from any thread, until it is closed. */
struct pd_hooks {
    void *arg;
    /** Run a tick soon: a VM came or went, a balloon moved, a setting
     *  changed. Calls in between are merged. */
    void (*wake)(void *arg);
    /** One line for the log, without a newline; `vm` NULL: about the host. */
    void (*log)(void *arg, int level, const char *vm, const char *text);
};

/** Which of a VM's parameters are meant. Bits. */
enum pd_param {
    PD_PARAM_SHARES = 1u << 0,
    PD_PARAM_RESERVATION = 1u << 1,
    PD_PARAM_LIMIT = 1u << 2,
    PD_PARAM_TAX = 1u << 3,
    PD_PARAM_BALLOON = 1u << 4, /**< flag "no balloon" */
    PD_PARAM_SWAP = 1u << 5,    /**< flag "no swap" */
    PD_PARAM_BLOCK = 1u << 6    /**< flag "no blocking" */
};

/** One line of facts about a VM: "balloon driver" "virtio, with free page
 *  reporting". Static or the backend's storage, good until the next call of
 *  the backend. */
struct pd_fact {
    const char *name;
    const char *value;
};

/** A counter or a gauge of the backend's own cost or health, e.g. "stats call
 *  seconds", for metrics and `status`. */
struct pd_figure {
    const char *name; /**< as Prometheus wants it, without a prefix:
                           "libvirt_reconnects_total" */
    const char *help;
    bool counter; /**< never falls; else a gauge */
    double value;
};

/** One `key: value` below the backend's own key in the configuration; a list
 *  is the same key several times. */
struct pd_setting {
    const char *key;
    const char *value;
};

/** All of them; borrowed for the time of the call. */
struct pd_settings {
    const struct pd_setting *items;
    size_t n;
    size_t bad; /**< out, with POL_ERR_INVALID: which one was wrong; n: none
                     in particular. The daemon adds file and line. */
};

struct pd_backend {
    const char *name; /**< "kvm", "xen", "sim" */
    const struct pol_host_ops *ops;

    /**
     * Start. A hypervisor that is not there yet is no error: it is tried
     * again with growing pauses, and read_host fails until then.
     * @param settings  the part of the configuration that is this backend's
     * @param hooks   stay valid until close()
     * @param host    first argument of every op and of everything below
     * @param why     PD_WHY_BYTES; says what is wrong when it fails
     * @return POL_OK; POL_ERR_UNSUPPORTED (not this kind of host);
     *         POL_ERR_INVALID (a setting); POL_ERR_NOMEM
     */
    int (*open)(struct pd_settings *settings, const struct pd_hooks *hooks,
                void **host, char *why);
    /** Stop. Guests keep the memory they have; what was changed on the host
     *  outside guests (page sharing, scans) is put back. */
    void (*close)(void *host);

    /** Bytes of a page in every figure of this backend. */
    uint32_t (*page_bytes)(void *host);

    /** Called before every pol_host_step(): take over what threads have
     *  learned, so that one step sees one state. Also tells whether the
     *  hypervisor answers: POL_OK, or POL_ERR_HOST with a line in `why`. */
    int (*refresh)(void *host, char *why);

    /** The name of a VM, or NULL. Good until the next refresh(). Untrusted
     *  bytes: at most 255, to be escaped by whoever prints them. */
    const char *(*vm_name)(void *host, uint64_t vm);
    /** The VM of that name (or of that UUID or number, as administrators of
     *  this hypervisor write it). @return POL_OK, POL_ERR_NOTFOUND */
    int (*vm_find)(void *host, const char *name, uint64_t *vm);

    /**
     * Change parameters of a VM for good, where this hypervisor keeps such
     * things (libvirt's domain metadata, xenstore). NULL: it keeps none, and
     * policyd's own state file does.
     * @param params  all of them; those of `mask` are meant
     * @param clear   parameters to go back to their defaults
     * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_UNSUPPORTED (a field it
     *         cannot keep), POL_ERR_HOST; with a line in `why`
     */
    int (*set_params)(void *host, uint64_t vm,
                      const struct pol_vm_params *params, uint32_t mask,
                      uint32_t clear, char *why);

    /** Facts about a VM for `explain`; returns how many of at most `cap`. */
    size_t (*vm_facts)(void *host, uint64_t vm, struct pd_fact *facts,
                       size_t cap);
    /** The backend's own figures; returns how many of at most `cap`. */
    size_t (*figures)(void *host, struct pd_figure *figures, size_t cap);
};

extern const struct pd_backend pd_backend_sim;
extern const struct pd_backend pd_backend_kvm;
extern const struct pd_backend pd_backend_xen;

#endif /* POLICYD_BACKEND_H */
