/* Processes that the kernel killed, and such as hang in it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

enum oom_form { OOM_SUMMARY = 1, OOM_KILL = 2, OOM_KILLED = 4, OOM_REAPED = 8 };

/* Several lines tell of one kill. A new one begins with another process, or with a form of line that this kill has had. */
static void count_kill(struct events *events, const struct line *line, unsigned long pid, enum oom_form form)
{
    struct oom *oom = &events->oom;
    bool same = oom->tally.count && oom->pid == pid && !(oom->forms & form);
    if (!same) {
        tally_add(&oom->tally, line);
        oom->pid = pid;
        oom->forms = 0;
        oom->whole_machine = false;
        if (form != OOM_SUMMARY) /* the line that tells it is not in this log */
            *oom->group = '\0';
    }
    oom->forms |= form;
}

/* "oom-kill:constraint=CONSTRAINT_MEMCG,...,oom_memcg=/a,task_memcg=/a/b,task=python,pid=123,uid=0" */
static bool take_summary(struct events *events, const struct line *line, const char *at)
{
    const char *pid = strstr(at, ",pid="), *task = strstr(at, ",task="), *group = strstr(at, ",task_memcg=");
    if (!pid || !task)
        return true; /* cut off: the lines behind it tell */
    count_kill(events, line, strtoul(pid + 5, NULL, 10), OOM_SUMMARY);
    copy_part(events->oom.victim, sizeof events->oom.victim, task + 6, pid > task ? pid : NULL);
    if (group)
        copy_part(events->oom.group, sizeof events->oom.group, group + 12, task > group ? task : NULL);
    else
        *events->oom.group = '\0';
    return true;
}

/* "Out of memory: Killed process 123 (python) total-vm:...", "Memory cgroup out of memory: Kill process 456 (python) score 50 ..." */
static bool take_kill(struct events *events, const struct line *line, const char *at, enum oom_form form)
{
    const char *number = strstr(at, "process ") + strlen("process ");
    char *end;
    unsigned long pid = strtoul(number, &end, 10);
    if (end == number)
        return false;
    count_kill(events, line, pid, form);
    const char *open = strchr(end, '('), *close = open ? strchr(open, ')') : NULL;
    if (close)
        copy_part(events->oom.victim, sizeof events->oom.victim, open + 1, close);
    /* A group's line begins with "Memory cgroup out of memory". */
    if (strstr(line->message, "Out of memory: ") && !events->oom.whole_machine) {
        events->oom.whole_machine = true;
        events->oom.whole_machine_kills++;
    }
    return true;
}

static bool take_oom(struct events *events, const struct line *line)
{
    const char *text = line->message, *at;
    if ((at = strstr(text, "oom-kill:constraint=")))
        return take_summary(events, line, at);
    bool kill = strcasestr(text, "out of memory: ") || !strncmp(text, "Killed process ", 15);
    if (kill && (at = strstr(text, "Killed process ")))
        return take_kill(events, line, at, OOM_KILLED);
    if (kill && (at = strstr(text, "Kill process ")))
        return take_kill(events, line, at, OOM_KILL);
    if ((at = strstr(text, "oom_reaper: reaped process ")))
        return take_kill(events, line, at, OOM_REAPED);
    return false;
}

/* The last " in NAME[" of the line: "... error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]". */
static void take_library(struct events *events, const char *text)
{
    const char *in = NULL;
    for (const char *at = text; (at = strstr(at, " in ")); at += 4)
        in = at + 4;
    size_t length = in ? strcspn(in, "[, ") : 0;
    if (length && in[length] == '[')
        copy_part(events->segfault_library, sizeof events->segfault_library, in, in + length);
    else
        *events->segfault_library = '\0';
}

/* "python[123]: segfault at 0 ip ... in lib.so[...]", "traps: python[123] general protection fault ip:... in lib.so[...]" */
static bool take_segfault(struct events *events, const struct line *line)
{
    const char *text = line->message;
    bool trap = strstr(text, "general protection") || strstr(text, "trap invalid opcode");
    if (!strstr(text, "]: segfault at ") && !(trap && strstr(text, " ip:")))
        return false;
    tally_add(&events->segfault, line);
    const char *name = !strncmp(text, "traps: ", 7) ? text + 7 : text;
    copy_part(events->segfault_process, sizeof events->segfault_process, name, name + strcspn(name, "["));
    take_library(events, text);
    return true;
}

/* "INFO: task python:1234 blocked for more than 120 seconds." */
static bool take_hung(struct events *events, const struct line *line)
{
    const char *task = strstr(line->message, "INFO: task "), *blocked = task ? strstr(task, " blocked for more than ") : NULL;
    if (!blocked)
        return false;
    tally_add(&events->hung, line);
    task += strlen("INFO: task ");
    const char *colon = blocked;
    while (colon > task && *colon != ':')
        colon--;
    copy_part(events->hung_task, sizeof events->hung_task, task, colon > task ? colon : blocked);
    return true;
}

bool events_killed(struct events *events, const struct line *line)
{
    return take_oom(events, line) || take_segfault(events, line) || take_hung(events, line);
}
