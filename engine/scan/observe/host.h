/* The host: processors, disks, files, transports, answers to what was asked of the machine, the environment of the job. */
#ifndef DTKB_SCAN_OBSERVE_HOST_H
#define DTKB_SCAN_OBSERVE_HOST_H

#include "scan/observe/text.h"

/* What top(1), ps(1) and their like tell of the processor. */
enum cpu_question { CPU_OTHER, CPU_PROCESSORS, CPU_THREADS, CPU_QUOTA };

struct observe_cpu {
    enum cpu_question asked[3]; /* by the last command, in the order in which its answers come */
    unsigned asked_count;
    double load, processors, quota; /* 0: not told */
    double threads, own_threads;    /* of all processes together, of one */
    double system_share, throttled; /* per cent; times */
    double waiting;                 /* per cent of the time, for disks and mounts */
    unsigned waits;                 /* readings of WAITING_SHARE and more */
    bool averages;                  /* the next line has iostat's shares */
    struct place waiting_at;
    struct place at;
};

/* iostat(1): the disk that is busiest, and for how long. */
struct observe_disk {
    char name[16];
    double busy; /* per cent */
    bool listing;
    struct place at;
};

struct observe_net {
    bool sockets, verbs; /* NCCL goes over sockets; over InfiniBand's verbs */
    bool adapter;        /* the machine has such an adapter */
    bool library;        /* the verbs library could not be loaded */
    bool direct, staged; /* GPUDirect RDMA is possible; channels over verbs without it, and none with it */
    bool any_direct;
    uint64_t local_gids; /* indices of the GID table that hold a link-local address; and the one in use */
    bool gid_told;
    unsigned gid;
    struct place at, staged_at, gid_at;
};

enum machine_question {
    ASKED_NOTHING,
    ASKED_FABRIC,
    ASKED_MEMLOCK,
    ASKED_WIDTH,
    ASKED_LSPCI,
    ASKED_DRIVERS,
    ASKED_SPEED,
    ASKED_PEERS,
    ASKED_PEER_MEMORY
};

#define MACHINE_PACKAGES 16 /* nvidia-nccl-cu11, -cu12, ...: by that number */

struct observe_machine {
    enum machine_question asked;
    int answers;     /* lines in which the answer may still come */
    unsigned column; /* of the query's rows */
    bool fabric_down, fabric_failed, cuda_refused, verbs, nccl_differs;
    bool one_core, pinning;
    bool modules;                                                    /* GPUs that sit on a board with NVLink */
    unsigned topology;                                               /* GPUs that its table has */
    unsigned joined, unjoined;                                       /* pairs of GPUs of a topology's table, with NVLink and without */
    bool peer_memory_asked, peer_memory_loaded, peer_memory_missing; /* of lsmod: nvidia_peermem or the older nv_peer_mem */
    double memlock, link, width_least, width_most;                   /* kB, Mb/s, lanes; 0: not told */
    double peer_fastest, own_slowest;                                /* GB/s of copies between GPUs, and within one */
    char driver[24], other_driver[24], nccl[MACHINE_PACKAGES][16];
    struct place fabric_at, memlock_at, link_at, width_at, driver_at, nccl_at, core_at, peer_at, peer_memory_at, unjoined_at;
};

#define SETUP_RANKS 64

struct observe_setup {
    bool proxy, proxy_echoed, refused; /* a proxy is set; the last command asks for it; a connection failed */
    uint64_t ranks_with_port;
    unsigned ports_differ;
    bool rank_seen_twice, has_rank, devices_replaced;
    bool cut, restarted; /* the terminal's connection ended; behind it the machine had been up for minutes only */
    double port, rank, world;
    char devices[64];
    unsigned processes, gpus;                          /* started by one command for fewer GPUs that it names */
    double nccl_package, nccl_loaded, toolkit, driver; /* major releases of CUDA: that NCCL was built for, that is there */
    bool nccl_failed;                                  /* by an error of CUDA */
    bool mpi_old_settings, mpi_new_settings;           /* names of release 4, and of 5 */
    double mpi_release;
    struct place refused_at, port_at, rank_at, devices_at, restarted_at, nccl_at, mpi_at, processes_at;
};

/* ls(1) of a folder of checkpoints. */
struct observe_files {
    bool listing; /* lines of it follow */
    unsigned entries, weights;
    bool empty;                     /* a listing is over and had no weights in it */
    long seconds;                   /* of the day that the folder before names, -1: none */
    unsigned folders, most_folders; /* one after the other that are seconds apart */
    struct place folders_at;
    struct place at;
};

void cpu_line(struct observe_cpu *cpu, const char *text, const struct place *place);
void cpu_conclude(const struct observe_cpu *cpu, struct collect *collect);

void disk_line(struct observe_disk *disk, const char *text, const struct place *place);
void disk_conclude(const struct observe_disk *disk, struct collect *collect);

void net_line(struct observe_net *net, const char *text, const struct place *place);
void net_conclude(const struct observe_net *net, struct collect *collect);

void machine_line(struct observe_machine *machine, const char *text, const struct place *place);
void machine_conclude(const struct observe_machine *machine, struct collect *collect);

void setup_line(struct observe_setup *setup, const char *text, const struct place *place);
void setup_conclude(const struct observe_setup *setup, struct collect *collect);

void files_line(struct observe_files *files, const char *text, const struct place *place);
void files_conclude(const struct observe_files *files, struct collect *collect);

#endif
