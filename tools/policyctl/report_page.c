/* SPDX-License-Identifier: BSD-2-Clause */
#include "report_page.h"

#include "report.h"
#include "text.h"

bool report_available(void)
{
    return true;
}

void report_asset(const struct asset *asset, FILE *out)
{
    fwrite(asset->begin, 1, (size_t)(asset->end - asset->begin), out);
}

/* Nothing may be fetched from anywhere: the browser is told to refuse. An
 * error in a script is put where a reader (and the test) sees it. */
void report_head(const char *title, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; script-src 'unsafe-inline'; "
          "style-src 'unsafe-inline'; img-src data:\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, "
          "initial-scale=1\">\n<title>",
          out);
    text_html(out, title);
    fputs("</title>\n<style>\n", out);
    report_asset(&asset_report_css, out);
    fputs("</style>\n<script>\n"
          "window.onerror = function (message, file, line) {\n"
          "    var p = document.createElement(\"p\");\n"
          "    p.id = \"errors\";\n"
          "    p.textContent = \"The charts could not be drawn: \" + "
          "message + \" (line \" + line + \")\";\n"
          "    document.documentElement.dataset.errors = \"yes\";\n"
          "    (document.body || document.documentElement).prepend(p);\n"
          "};\n</script>\n</head>\n<body>\n",
          out);
}

void report_scripts(struct json_object *data, const struct asset *script,
                    FILE *out)
{
    fputs("<script type=\"application/json\" id=\"data\">", out);
    text_script(out,
                json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN));
    fputs("</script>\n<script>\n", out);
    report_asset(&asset_chart_js, out);
    fputs("</script>\n<script>\n", out);
    report_asset(script, out);
    fputs("</script>\n</body>\n</html>\n", out);
}
