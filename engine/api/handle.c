#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/places.h"

struct err *api_begin(dtkb *engine)
{
    engine->err = (struct err){0};
    return &engine->err;
}

void api_log(const dtkb *engine, int level, const char *text)
{
    if (engine->log)
        engine->log(engine->log_context, level, text);
}

dtkb_status api_report(const struct err *err, char *error, size_t error_size)
{
    if (error && error_size)
        (void)snprintf(error, error_size, "%s", err->text);
    return err->code;
}

dtkb_status dtkb_open(dtkb **out, const dtkb_open_options *options, char *error, size_t error_size)
{
    static const dtkb_open_options defaults = DTKB_OPEN_OPTIONS_INIT;
    struct err err = {0};
    if (!options)
        options = &defaults;
    if (options->struct_size != sizeof *options) {
        err_set(&err, DTKB_E_USAGE, "dtkb_open: options of %zu bytes, this library knows %zu: begin with DTKB_OPEN_OPTIONS_INIT",
                options->struct_size, sizeof *options);
        return api_report(&err, error, error_size);
    }
    struct places places = {0};
    dtkb *engine = calloc(1, sizeof *engine);
    if (!engine || places_find(options, &places) != DTKB_OK) {
        err_nomem(&err);
    } else if (kb_open(places.kb, (const char *const *)places.packs, places.pack_count, &engine->kb, &err) == DTKB_OK) {
        if (places.installed)
            kb_trust_compiled(engine->kb);
        engine->log = options->log;
        engine->log_context = options->log_context;
        *out = engine;
        engine = NULL;
    }
    places_free(&places);
    free(engine);
    return api_report(&err, error, error_size);
}

void dtkb_close(dtkb *engine)
{
    if (!engine)
        return;
    kb_close(engine->kb);
    free(engine);
}

const char *dtkb_error(const dtkb *engine)
{
    return engine->err.text;
}
