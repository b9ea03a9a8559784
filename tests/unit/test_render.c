#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <libxml/parser.h>

#include "report/page.h"
#include "report/render.h"

/* A report whose every text tries to get out: terminal escapes, markup, quotes, line breaks. */
static const char hostile[] = "\\u001b]0;x\\u0007\\u007f\\u009b<script>alert(1)</script> \\\"'&%,:\\n```\\u202e";

static json_t *report_with(const char *text)
{
    struct buf json = {0};
    buf_addf(&json,
             "{\"schema\":\"dtkb.report/"
             "1\",\"verdict\":\"fault\",\"first_failing_rank\":1,\"input\":[],\"symptoms\":[{\"id\":\"training-evaluation/hang\","
             "\"confidence\":0.8}],\"fixes\":[],\"versions\":{},\"next\":[{\"text\":\"%s\",\"why\":\"%s\"}],\"facts\":[],\"probes\":[{"
             "\"name\":\"%s\","
             "\"status\":\"fault\",\"reason\":\"%s\",\"seconds\":0.1}],\"causes\":[{\"id\":\"some-cause\",\"title\":\"%s\",\"symptom\":\"a/"
             "b\",\"fix\":\"c\","
             "\"confidence\":0.81,\"explanation\":\"%s\",\"remedies\":[{\"text\":\"%s\",\"command\":\"%s\",\"check\":\"%s\"}],\"evidence\":"
             "[{\"file\":\"%s\","
             "\"line\":7,\"rank\":1,\"role\":\"initiating\",\"text\":\"%s\",\"source\":{\"file\":\"/opt/app/my "
             "train.py\",\"line\":42}}],\"links\":[]}],"
             "\"evidence\":[{\"file\":\"a.log\",\"line\":1,\"rank\":0,\"role\":\"cascade\",\"text\":\"%s\"},{\"file\":\"a.log\",\"line\":2,"
             "\"rank\":1,"
             "\"role\":\"initiating\",\"text\":\"x\"}],\"similar\":[{\"id\":\"x-1\",\"url\":\"javascript:alert(1)\",\"title\":\"%s\","
             "\"fix\":\"%s\","
             "\"versions\":[],\"older_than_here\":true}]}",
             text, text, text, text, text, text, text, text, text, text, text, text, text, text);
    json_t *report = json_loads(buf_text(&json), 0, NULL);
    assert_non_null(report);
    buf_free(&json);
    return report;
}

static char *render_as(const json_t *report, dtkb_format format, bool color)
{
    struct buf out = {0};
    struct err err = {0};
    struct render_options options = {.width = 72, .color = color};
    assert_int_equal(render(report, format, &options, &out, &err), DTKB_OK);
    assert_non_null(out.data);
    return out.data;
}

static void no_format_lets_controls_through(void **state)
{
    (void)state;
    json_t *report = report_with(hostile);
    for (dtkb_format format = DTKB_FORMAT_TEXT; format <= DTKB_FORMAT_GITHUB; format++) {
        char *text = render_as(report, format, false);
        for (const char *p = text; *p; p++)
            if (((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7f)
                fail_msg("format %d lets 0x%02x through", (int)format, (unsigned char)*p);
        if (strstr(text, "\xc2\x9b"))
            fail_msg("format %d lets a C1 control through", (int)format);
        free(text);
    }
    json_decref(report);
}

static void html_and_junit_are_well_formed_and_inert(void **state)
{
    (void)state;
    json_t *report = report_with(hostile), *mark = json_string("x\" onclick=\"alert(1)");
    json_object_set(json_array_get(json_object_get(report, "evidence"), 0), "role", mark);
    json_object_set(json_array_get(json_object_get(report, "evidence"), 1), "role", mark);
    json_object_set(json_array_get(json_object_get(report, "probes"), 0), "status", mark);
    json_object_set(report, "verdict", mark);
    json_decref(mark);
    char *html = render_as(report, DTKB_FORMAT_HTML, false), *junit = render_as(report, DTKB_FORMAT_JUNIT, false);
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "href=\"javascript"));
    assert_null(strstr(html, "\" onclick"));
    xmlDocPtr doc = xmlReadMemory(junit, (int)strlen(junit), NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR);
    assert_non_null(doc);
    assert_int_equal(xmlStrcmp(xmlDocGetRootElement(doc)->name, (const xmlChar *)"testsuites"), 0);
    xmlFreeDoc(doc);
    free(html);
    free(junit);
    json_decref(report);
}

static void sarif_points_into_the_users_code(void **state)
{
    (void)state;
    json_t *report = report_with("plain");
    char *text = render_as(report, DTKB_FORMAT_SARIF, false);
    json_t *sarif = json_loads(text, 0, NULL);
    const json_t *run = json_array_get(json_object_get(sarif, "runs"), 0), *result = json_array_get(json_object_get(run, "results"), 0);
    const json_t *place = json_object_get(json_array_get(json_object_get(result, "locations"), 0), "physicalLocation");
    assert_string_equal(json_string_value(json_object_get(json_object_get(place, "artifactLocation"), "uri")),
                        "file:///opt/app/my%20train.py");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(place, "region"), "startLine")), 42);
    assert_string_equal(json_string_value(json_object_get(result, "ruleId")), "some-cause");
    json_decref(sarif);
    free(text);
    json_decref(report);
}

static void annotations_escape_what_the_runner_reads(void **state)
{
    (void)state;
    json_t *report = report_with("a%b\\nc");
    char *text = render_as(report, DTKB_FORMAT_GITHUB, false);
    assert_non_null(strstr(text, "a%25b%0Ac"));
    assert_non_null(strstr(text, ",file=/opt/app/my train.py,line=42::"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
    json_decref(report);
}

static void text_fits_the_width(void **state)
{
    (void)state;
    json_t *report =
        report_with("word word word word word word word word word word word word word word word word word word word word word");
    char *text = render_as(report, DTKB_FORMAT_TEXT, false);
    assert_non_null(strstr(text, "Very likely: word"));
    bool code = false;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        code = !strncmp(line, "       word", 11); /* commands are never wrapped */
        if (!code)
            assert_in_range(page_columns(line, length), 0, 72);
    }
    free(text);
    json_decref(report);
}

static void a_document_without_such_a_format_says_so(void **state)
{
    (void)state;
    json_t *document = json_pack("{s:s}", "schema", "dtkb.search/1");
    struct buf out = {0};
    struct err err = {0};
    assert_int_equal(render(document, DTKB_FORMAT_SARIF, NULL, &out, &err), DTKB_E_UNSUPPORTED);
    assert_string_equal(err.text, "a dtkb.search/1 document has no format sarif");
    json_decref(document);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_format_lets_controls_through),
        cmocka_unit_test(html_and_junit_are_well_formed_and_inert),
        cmocka_unit_test(sarif_points_into_the_users_code),
        cmocka_unit_test(annotations_escape_what_the_runner_reads),
        cmocka_unit_test(text_fits_the_width),
        cmocka_unit_test(a_document_without_such_a_format_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
