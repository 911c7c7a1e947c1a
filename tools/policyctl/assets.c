/* SPDX-License-Identifier: BSD-2-Clause */
/* What reports are made of. */
#include "embed.h"

EMBED(chart_js, CHART_JS_PATH);
EMBED(report_js, REPORT_JS_PATH);
EMBED(report_css, REPORT_CSS_PATH);
EMBED(experiments_js, EXPERIMENTS_JS_PATH);
