#include "api/api.h"

dtkb_status dtkb_causes(dtkb *engine, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    size_t count = kb_cause_count(engine->kb);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const struct cause *cause;
        dtkb_status status = kb_cause(engine->kb, i, &cause, err);
        if (status != DTKB_OK) {
            json_decref(list);
            return status;
        }
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s}", "id", cause->id, "title", cause->title, "symptom", cause->symptom, "fix", cause->fix));
    }
    return doc_new(json_pack("{s:s, s:o}", "schema", "dtkb.causes/1", "causes", list), out, err);
}
