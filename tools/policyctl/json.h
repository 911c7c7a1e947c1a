/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file json.h
 * Building JSON with json-c in one line a member.
 */
#ifndef POLICYCTL_JSON_H
#define POLICYCTL_JSON_H

#include <json-c/json.h>
#include <stdint.h>

#include "record.h"

/** Add a member. Amounts above 2^63 - 1 become that. */
void json_put_u64(struct json_object *object, const char *key, uint64_t value);
void json_put_text(struct json_object *object, const char *key,
                   const char *value);
void json_put(struct json_object *object, const char *key,
              struct json_object *value);

/** A number with one digit after the point. */
struct json_object *json_tenths(double value);

/**
 * The result of a run, schema "policyctl.simulate/1" (see policyctl(1)).
 * @return an object of the caller's, json_object_put() frees it
 */
struct json_object *json_run(const struct record *record);

#endif /* POLICYCTL_JSON_H */
