/* Messages of NVIDIA's modules. */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "xid.h"

static struct xid_seen *seen(struct events *events, unsigned code)
{
    for (unsigned i = 0; i < events->xid_codes; i++)
        if (events->xids[i].code == code)
            return &events->xids[i];
    if (events->xid_codes == XID_CODES_MAX)
        return NULL;
    events->xids[events->xid_codes].code = code;
    return &events->xids[events->xid_codes++];
}

/* Adds an address to a list joined by commas, once, as long as there is room. */
static void add_once(char *list, size_t size, const char *word, size_t length)
{
    size_t used = strlen(list);
    if (!length || length + used + 2 > size || memmem(list, used, word, length))
        return;
    if (used)
        list[used++] = ',';
    memcpy(list + used, word, length);
    list[used + length] = '\0';
}

/* "... GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)" */
static void take_recovery(struct events *events, const struct line *line)
{
    const char *to = strstr(line->message, " to 0x"), *name = to ? strchr(to, '(') : NULL;
    if (!name)
        return;
    events->reset_required = strncmp(name, "(None", 5) != 0;
    if (events->reset_required)
        tally_add(&events->reset, line);
}

/* "NVRM: Xid (PCI:0000:38:00): 13, pid=1234, name=python, ..." Old drivers leave out PCI:, pid and name. */
static bool take_xid(struct events *events, const struct line *line, const char *at)
{
    const char *close = strchr(at, ')');
    if (!close || strncmp(close, "): ", 3) != 0)
        return false;
    char *end;
    unsigned long code = strtoul(close + 3, &end, 10);
    struct xid_seen *xid = end != close + 3 && code && code < 1000 ? seen(events, (unsigned)code) : NULL;
    if (!xid)
        return false;
    tally_add(&xid->tally, line);
    const char *address = !strncmp(at, "PCI:", 4) ? at + 4 : at;
    add_once(xid->gpus, sizeof xid->gpus, address, strcspn(address, " )"));
    const char *name = strstr(end, "name=");
    if (name && name[5] != '<')
        copy_part(xid->process, sizeof xid->process, name + 5, name + 5 + strcspn(name + 5, ", "));
    if (code == 79)
        tally_add(&events->off_bus, line);
    if (code == 154)
        take_recovery(events, line);
    if (xid_is_nvlink((unsigned)code))
        tally_add(&events->nvlink, line);
    return true;
}

/* "API mismatch: the client has the version 550.54.15, but this kernel module has the version 535.161.08" */
static void take_mismatch(struct events *events, const struct line *line)
{
    char *versions[] = {events->client_version, events->module_version};
    const char *at = line->message;
    tally_add(&events->mismatch, line);
    for (int i = 0; i < 2 && (at = strstr(at, "version ")); i++) {
        at += strlen("version ");
        size_t length = strspn(at, "0123456789.");
        length -= length && at[length - 1] == '.'; /* the end of the sentence */
        copy_part(versions[i], sizeof events->client_version, at, at + length);
    }
}

/* Of the switches: "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 ...", and what the fabric manager makes of it. */
static bool take_sxid(struct events *events, const struct line *line)
{
    const char *sxid = strstr(line->message, "SXid (");
    if (!sxid && !strstr(line->message, "detected NVSwitch "))
        return false;
    if (sxid && strstr(sxid, ", Severity ")) /* the second line of one event */
        return true;
    tally_add(&events->sxid, line);
    if (sxid ? strstr(sxid, ", Fatal") != NULL : strstr(line->message, "NVSwitch fatal") != NULL)
        tally_add(&events->sxid_fatal, line);
    return true;
}

static bool take_nvrm(struct events *events, const struct line *line)
{
    const char *text = line->message;
    if (strstr(text, "fallen off the bus")) {
        tally_add(&events->off_bus, line);
    } else if (strstr(text, "API mismatch")) {
        take_mismatch(events, line);
    } else if (strstr(text, "RmInitAdapter failed") || strstr(text, "rm_init_adapter failed") || strstr(text, "probe routine failed") ||
               strstr(text, "No NVIDIA devices probed")) {
        tally_add(&events->init_failure, line);
    } else if (strstr(text, "needs to be reset") || strstr(text, "Reset Required") || strstr(text, "reset required")) {
        events->reset_required = true;
        tally_add(&events->reset, line);
    } else {
        return false;
    }
    return true;
}

bool events_driver(struct events *events, const struct line *line)
{
    const char *text = line->message, *xid = strstr(text, "NVRM: Xid (");
    if (xid && take_xid(events, line, xid + strlen("NVRM: Xid (")))
        return true;
    if (take_sxid(events, line))
        return true;
    bool nvrm = strstr(text, "NVRM: ") != NULL, nvidia = !strncmp(text, "nvidia", 6);
    if (!nvrm && !nvidia)
        return false;
    if (take_nvrm(events, line))
        return true;
    if (nvidia && !strncmp(text, "nvidia-peermem", 14) && strstr(text, "ERROR")) {
        tally_add(&events->peer_memory, line);
        return true;
    }
    if (strcasestr(text, "nvlink") && (strcasestr(text, "error") || strcasestr(text, "fail"))) {
        tally_add(&events->nvlink, line);
        return true;
    }
    return false;
}
