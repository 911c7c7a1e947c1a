/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file error.h
 * Error codes of libpolicy.
 *
 * Every function that can fail returns an int: POL_OK (0) or one of the
 * negative codes below. A failed call has changed nothing. There is no global
 * error variable, nothing is printed and nothing exits.
 */
#ifndef POLICY_ERROR_H
#define POLICY_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/** Callers must look at the result of a call that can fail. */
#if defined(__GNUC__) || defined(__clang__)
#define POL_MUST_USE __attribute__((warn_unused_result))
#else
#define POL_MUST_USE
#endif

/**
 * X(name, value, text): every error the library can return, once.
 * Values are part of the ABI and never reused.
 */
#define POL_ERRORS(X)                                                          \
    X(POL_ERR_INVALID, -1, "invalid argument")                                 \
    X(POL_ERR_RANGE, -2, "value out of range")                                 \
    X(POL_ERR_NOMEM, -3, "memory block too small or capacity exhausted")       \
    X(POL_ERR_EXISTS, -4, "identifier already in use")                         \
    X(POL_ERR_NOTFOUND, -5, "no such identifier")                              \
    X(POL_ERR_BUSY, -6, "still in use")                                        \
    X(POL_ERR_UNSUPPORTED, -7, "not supported by this host")                   \
    X(POL_ERR_BUFFER, -8, "output buffer too small")                           \
    X(POL_ERR_LIMIT, -9, "reservation exceeds limit or configured size")       \
    X(POL_ERR_MEMORY_SHORT, -10, "not enough unreserved host memory")          \
    X(POL_ERR_SWAP_SHORT, -11, "not enough host swap space")                   \
    X(POL_ERR_GROUP_SHORT, -12, "group's limit leaves too little memory")      \
    X(POL_ERR_CYCLE, -13, "group would become its own ancestor")               \
    X(POL_ERR_DEPTH, -14, "groups nested too deeply")                          \
    X(POL_ERR_OWNER, -15, "hold belongs to another owner")                     \
    X(POL_ERR_CLOCK, -16, "time runs backwards")                               \
    X(POL_ERR_TRUNCATED, -17, "trace ends in the middle of a record")          \
    X(POL_ERR_CORRUPT, -18, "trace is damaged")                                \
    X(POL_ERR_VERSION, -19, "trace or structure of an unknown version")        \
    X(POL_ERR_MISMATCH, -20, "replayed plan differs from the recorded one")    \
    X(POL_ERR_HOST, -21, "the host adapter failed")

enum pol_error {
    POL_OK = 0,
#define POL_ERROR_ENUM(name, value, text) name = value,
    POL_ERRORS(POL_ERROR_ENUM)
#undef POL_ERROR_ENUM
};

/**
 * English text for an error code, without a newline.
 * @param code  POL_OK or any enum pol_error; other values give "unknown error".
 * @return static storage, never NULL.
 */
const char *pol_strerror(int code);

/**
 * The symbolic name of an error code, such as "POL_ERR_RANGE".
 * @return static storage, never NULL ("POL_ERR_UNKNOWN" for other values).
 */
const char *pol_error_name(int code);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_ERROR_H */
