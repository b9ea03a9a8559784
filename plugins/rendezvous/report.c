#include "run.h"

#include <stdio.h>
#include <string.h>

static void report_offer(struct run *run, enum point_status status)
{
    const struct offer *offer = &run->offer;
    const bool port = status <= POINT_NO_LISTEN, blocked = status >= POINT_TIMED_OUT;
    if (offer->port && (port || blocked))
        kit_u64(&run->kit, offer->port, "port", "rank 0", "rendezvous.instead.%s", blocked ? "blocked_port" : "taken_port");
    for (size_t i = 0; !port && i < offer->count; i++) {
        const uint8_t *ip = offer->addresses[i].ipv4;
        char text[16], part[32];
        (void)snprintf(text, sizeof text, "%u.%u.%u.%u", ip[0], ip[1], ip[2], ip[3]);
        kit_string(&run->kit, text, "rank 0", "rendezvous.instead.%s.address", kit_part(part, sizeof part, offer->addresses[i].iface));
    }
}

static void say(struct run *run, char *out, size_t size, enum point_status status)
{
    const char *address = run->point.address;
    const unsigned port = run->point.port;
    const bool several = strchr(run->summary.ranks, ',') != NULL, named = *run->summary.host && !several;
    char who[192];
    (void)snprintf(who, sizeof who, "rank%s %s%s%s", several ? "s" : "", run->summary.ranks, named ? " on " : "",
                   named ? run->summary.host : "");
    switch (status) {
    case POINT_BAD_PORT:
        (void)snprintf(out, size, "MASTER_PORT is '%.40s', which is no port", run->point.port_text);
        break;
    case POINT_IN_USE:
        (void)snprintf(out, size, "rank 0 cannot listen at port %u: another process of its host does already (%s)", port,
                       run->summary.host);
        break;
    case POINT_FORBIDDEN:
        (void)snprintf(out, size, "rank 0 may not listen at port %u: ports below 1024 are for root, and some are reserved", port);
        break;
    case POINT_NO_LISTEN:
        (void)snprintf(out, size, "rank 0 cannot listen at port %u of %s%s%s", port, run->summary.host, run->point.error ? ": " : "",
                       run->point.error ? strerror(run->point.error) : "");
        break;
    case POINT_UNRESOLVED:
        (void)snprintf(out, size, "MASTER_ADDR '%.100s' does not resolve for %s", address, who);
        break;
    case POINT_REFUSED:
        (void)snprintf(out, size,
                       "nobody answers %s at %.100s port %u, though rank 0 listens there on its host: the address is another host's", who,
                       address, port);
        break;
    case POINT_WRONG_PEER:
        (void)snprintf(out, size, "not rank 0 answers %s at %.100s port %u, but another process: the address is another host's", who,
                       address, port);
        break;
    case POINT_TIMED_OUT:
        (void)snprintf(out, size,
                       "packets of %s to %.100s port %u are lost: a firewall drops them, or the address is on a network of its own", who,
                       address, port);
        break;
    default:
        (void)snprintf(out, size, "%s cannot reach %.100s port %u: there is no way to that network", who, address, port);
    }
}

void run_report(struct run *run)
{
    struct kit *kit = &run->kit;
    char text[400];
    if (!run->told) {
        const enum trouble trouble = roll_verdict(run->roll);
        kit_wrong(kit, true);
        kit_string(kit, "not-met", "roll call", "rendezvous.status");
        kit_wrong(kit, true);
        if (trouble == TROUBLE_MISSING)
            kit_string(kit, roll_ranks(run->roll), "roll call", "rendezvous.missing_ranks");
        kit_fault(kit, "the ranks did not meet: %s", trouble ? roll_reason(run->roll) : "there was no time left for it");
        return;
    }
    const enum point_status status = run->summary.status < POINT_STATUSES ? (enum point_status)run->summary.status : POINT_UNREACHABLE;
    kit_wrong(kit, status != POINT_OK);
    kit_string(kit, point_status_name(status), run->point.address, "rendezvous.status");
    if (status == POINT_OK)
        return;
    if (*run->summary.ranks && status > POINT_NO_LISTEN) {
        kit_wrong(kit, true);
        kit_string(kit, run->summary.ranks, "connect", "rendezvous.cut_off_ranks");
    }
    report_offer(run, status);
    say(run, text, sizeof text, status);
    kit_fault(kit, "%s", text);
    kit->host->evidence(kit->call, "rendezvous", text, strlen(text));
}
