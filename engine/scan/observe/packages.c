/* Who raised: a call inside one library that another one, of another release, does not serve. In the user's own code the same message
 * has other reasons, and where arguments are handed through ("**kwargs") they may be the user's. */
#include <stdio.h>
#include <string.h>

#include "scan/observe/stall.h"

/* "/opt/env/lib/python3.10/site-packages/mmcv/parallel/distributed.py" -> "mmcv"; empty for all else */
static void package_of(const char *path, size_t length, char *name, size_t size)
{
    static const char *const roots[] = {"/site-packages/", "/dist-packages/", "\\site-packages\\"};
    *name = '\0';
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const char *root = memmem(path, length, roots[i], strlen(roots[i]));
        if (!root)
            continue;
        const char *from = root + strlen(roots[i]);
        size_t n = strcspn(from, "/\\.\"");
        (void)snprintf(name, size, "%.*s", (int)n, from);
        return;
    }
}

/*   File "/opt/env/lib/python3.8/site-packages/torch/nn/modules/module.py", line 947, in __getattr__ */
static bool read_frame(struct observe_packages *packages, const char *text)
{
    const char *p = text + strspn(text, " ");
    if (strncmp(p, "File \"", 6) != 0)
        return false;
    const char *path = p + 6, *close = strchr(path, '"');
    if (close && !strstr(close, ", in __getattr__"))
        package_of(path, (size_t)(close - path), packages->package, sizeof packages->package);
    packages->handed_through = false;
    return true;
}

/* The name between the quotes behind `words`. */
static bool name_behind(const char *text, const char *words, char *name, size_t size)
{
    const char *p = strstr(text, words);
    if (!p)
        return false;
    p += strlen(words);
    size_t n = strcspn(p, "'");
    if (!n || n >= size || p[n] != '\'')
        return false;
    (void)snprintf(name, size, "%.*s", (int)n, p);
    return true;
}

static bool is_tracker(const char *package)
{
    static const char *const trackers[] = {"wandb", "mlflow", "comet_ml", "clearml", "neptune", "swanlab", "aim", "trackio"};
    for (size_t i = 0; i < sizeof trackers / sizeof *trackers; i++)
        if (!strcmp(package, trackers[i]))
            return true;
    return false;
}

void packages_line(struct observe_packages *packages, const char *text, const struct place *place)
{
    if (place->rank != packages->rank || !strncmp(text, "Traceback", 9)) {
        packages->rank = place->rank;
        *packages->package = '\0';
    }
    if (packages->found != PACKAGES_NOTHING || read_frame(packages, text))
        return;
    if (*text == ' ') { /* source under a frame */
        packages->handed_through = packages->handed_through || strstr(text, "**");
        return;
    }
    char name[sizeof packages->name] = "";
    if (!*packages->package)
        return;
    if (!strncmp(text, "TypeError: ", 11) && !packages->handed_through &&
        name_behind(text, "got an unexpected keyword argument '", name, sizeof name))
        packages->found = PACKAGES_ARGUMENT;
    else if (!strncmp(text, "AttributeError: ", 16) && name_behind(text, "has no attribute '", name, sizeof name) && *name == '_' &&
             name[1] != '_')
        packages->found = PACKAGES_PRIVATE;
    else if (!strcmp(text, "KeyboardInterrupt") && is_tracker(packages->package))
        packages->found = PACKAGES_TRACKER;
    else
        return;
    memcpy(packages->name, name, sizeof name);
    memcpy(packages->caller, packages->package, sizeof packages->caller);
    packages->at = *place;
}

void packages_conclude(const struct observe_packages *packages, struct collect *collect)
{
    if (packages->found == PACKAGES_ARGUMENT)
        observe_tell(collect, &packages->at, "packages: %s calls with an argument that its callee does not know (%s)", packages->caller,
                     packages->name);
    if (packages->found == PACKAGES_TRACKER)
        observe_tell(collect, &packages->at, "stack: interrupted while it waited for the tracker of the experiment (%s)", packages->caller);
    if (packages->found == PACKAGES_PRIVATE)
        observe_tell(collect, &packages->at, "packages: %s asks for a private name that is not there (%s)", packages->caller,
                     packages->name);
}
