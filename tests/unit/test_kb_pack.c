#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kb/pack.h"
#include "kb/taxonomy.h"

static dtkb_status read_text(const char *text, struct pack *pack, struct err *err)
{
    return pack_read_memory("p.xml", text, strlen(text), pack, err);
}

static const char good[] = "<pack id='p' version='1'>\n"
                           "<cause id='c' symptom='training-evaluation/hang' fix='fix-dataset' generic='true'>\n"
                           "<title>A   title\n over lines</title><explanation>Why.</explanation>\n"
                           "<also symptom='training-evaluation/low-efficiency'/>\n"
                           "<signature id='s' strength='proof' role='cascade'><literal>boom  bang</literal>"
                           "<sample>a boom  bang</sample><near-miss>boom</near-miss></signature>\n"
                           "<confirm><any><fact name='a.b' op='lt' value='3'/><not><fact name='a.c' op='exists'/></not></any></confirm>\n"
                           "<remedies><remedy><text>Do.</text><command>\n      one\n        two\n    </command></remedy></remedies>\n"
                           "<links><issue-ref id='horovod-1'/></links>\n"
                           "</cause></pack>";

static void a_pack_is_read_whole(void **unused)
{
    (void)unused;
    struct pack pack;
    struct err err = {0};
    assert_int_equal(read_text(good, &pack, &err), DTKB_OK);
    assert_int_equal(pack.cause_count, 1);
    const struct cause *cause = &pack.causes[0].cause;
    assert_string_equal(cause->title, "A title over lines");
    assert_true(cause->generic);
    assert_string_equal(cause->also_symptoms[0], "training-evaluation/low-efficiency");
    assert_string_equal(cause->remedies[0].command, "one\n  two");
    assert_null(cause->remedies[0].check);
    assert_string_equal(cause->links[0].issue, "horovod-1");
    const struct pack_signature *signature = &pack.causes[0].signatures[0];
    assert_string_equal(signature->signature.pattern, "boom  bang");
    assert_int_equal(signature->signature.strength, SIG_PROOF);
    assert_int_equal(signature->signature.role, ROLE_CASCADE);
    assert_int_equal(signature->line, 6);
    assert_int_equal(cause->confirm->kind, COND_ALL);
    const struct condition *any = &cause->confirm->children[0];
    assert_int_equal(any->kind, COND_ANY);
    assert_int_equal(any->children[0].op, OP_LT);
    assert_int_equal(any->children[1].kind, COND_NOT);
    assert_int_equal(any->children[1].children[0].op, OP_EXISTS);
    pack_free(&pack);
}

static void assert_refused(const char *text, const char *where, const char *what)
{
    struct pack pack;
    struct err err = {0};
    assert_int_equal(read_text(text, &pack, &err), DTKB_E_FORMAT);
    assert_int_equal(strncmp(err.text, where, strlen(where)), 0);
    if (!strstr(err.text, what))
        fail_msg("'%s' does not say '%s'", err.text, what);
}

static void mistakes_name_their_line(void **unused)
{
    (void)unused;
    assert_refused("", "p.xml:1: ", "empty");
    assert_refused("<pack id='p' version='1'>\n<cause>\n</pack>", "p.xml:3: ", "cause");
    assert_refused("<pack id='p' version='1'>\n\n<issue id='i'/>\n</pack>", "p.xml:3: ", "issue");
    assert_refused("<pack id='p' version='1'>\n<nonsense/>\n</pack>", "p.xml:2: ", "nonsense");
    assert_refused("not xml at all", "p.xml:1: ", "");
    assert_refused("<taxonomy/>", "p.xml:1: ", "taxonomy");
}

static void a_document_type_is_refused_before_it_can_grow(void **unused)
{
    (void)unused;
    assert_refused("<!DOCTYPE pack [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><pack id='&b;' version='1'/>", "p.xml:1: ", "document type");
    assert_refused("<?xml version='1.0'?>\n<!DOCTYPE pack SYSTEM 'file:///etc/passwd'>\n<pack id='p' version='1'/>",
                   "p.xml:2: ", "document type");
}

static void the_built_in_labels_are_there(void **unused)
{
    (void)unused;
    struct taxonomy taxonomy;
    struct err err = {0};
    assert_int_equal(taxonomy_read(NULL, &taxonomy, &err), DTKB_OK);
    size_t symptoms = 0;
    for (size_t i = 0; i < taxonomy.count; i++)
        symptoms += taxonomy.labels[i].kind == LABEL_SYMPTOM;
    assert_int_equal(symptoms, 30);
    const struct label *others = taxonomy_by_spelling(&taxonomy, LABEL_SYMPTOM, "training-evaluation", "Program  Failure", " OTHERS ");
    assert_non_null(others);
    assert_string_equal(others->id, "training-evaluation/program-failure-others");
    const struct label *fixes[4];
    assert_int_equal(taxonomy_fixes(&taxonomy, "fix consistency between devices & Fix network setting", fixes, 4), 2);
    assert_string_equal(fixes[1]->id, "fix-network-setting");
    assert_int_equal(taxonomy_fixes(&taxonomy, "fix batch size/data partition", fixes, 4), 1);
    assert_int_equal(taxonomy_fixes(&taxonomy, "fix network setting & pray", fixes, 4), 0);
    taxonomy_free(&taxonomy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pack_is_read_whole),
        cmocka_unit_test(mistakes_name_their_line),
        cmocka_unit_test(a_document_type_is_refused_before_it_can_grow),
        cmocka_unit_test(the_built_in_labels_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
