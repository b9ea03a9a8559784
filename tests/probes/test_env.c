/* The env probe: each rule with a case that breaks it and a near miss that does not. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#define VARIABLES 8
#define FAULT true
#define NOTE false

/* A rule: with `wrong` in the environment the fact env.problem.CODE stands and says `words`; with `right` it does not. */
struct rule {
    const char *code;
    bool fault;
    const char *words;
    const char *wrong[VARIABLES];
    const char *right[VARIABLES];
};

#define RANK_OF(rank, size) "$RANK=" rank, "$WORLD_SIZE=" size, "$MASTER_ADDR=10.0.0.1", "$MASTER_PORT=29500"

static const struct rule rules[] = {
    /* names */
    {"NCCL_IB_DISABEL-misspelt", NOTE, "NCCL_IB_DISABLE", {"$NCCL_IB_DISABEL=1"}, {"$NCCL_IB_DISABLE=1"}},
    {"NCCL_SOCKET_IFNAMES-misspelt", NOTE, "NCCL_SOCKET_IFNAME", {"$NCCL_SOCKET_IFNAMES=lo"}, {"$NCCL_SOCKET_IFNAME=lo"}},
    {"GLOO_SOCKET_IFACE-misspelt", NOTE, "GLOO_SOCKET_IFNAME", {"$GLOO_SOCKET_IFACE=lo"}, {"$GLOO_SOCKET_IFNAME=lo"}},
    {"TORCH_NCCL_ASYNC_ERROR_HANDLNG-misspelt",
     NOTE,
     "TORCH_NCCL_ASYNC_ERROR_HANDLING",
     {"$TORCH_NCCL_ASYNC_ERROR_HANDLNG=1"},
     {"$TORCH_NCCL_ASYNC_ERROR_HANDLING=1"}},
    {"PYTORCH_CUDA_ALOC_CONF-misspelt",
     NOTE,
     "PYTORCH_CUDA_ALLOC_CONF",
     {"$PYTORCH_CUDA_ALOC_CONF=backend:native"},
     {"$PYTORCH_CUDA_ALLOC_CONF=backend:native"}},
    {"OMP_NUM_THREAD-misspelt", NOTE, "OMP_NUM_THREADS", {"$OMP_NUM_THREAD=4"}, {"$OMP_NUM_THREADS=4"}},
    {"UCX_NET_DEVICE-misspelt", NOTE, "UCX_NET_DEVICES", {"$UCX_NET_DEVICE=all"}, {"$UCX_NET_DEVICES=all"}},
    {"FI_PROVIDRE-misspelt", NOTE, "FI_PROVIDER", {"$FI_PROVIDRE=efa"}, {"$FI_PROVIDER=efa"}},
    {"HOROVOD_TIMELIN-misspelt", NOTE, "HOROVOD_TIMELINE", {"$HOROVOD_TIMELIN=/tmp/t"}, {"$HOROVOD_TIMELINE=/tmp/t"}},
    {"CUDA_VISIBLE_DEVICE-misspelt", NOTE, "CUDA_VISIBLE_DEVICES", {"$CUDA_VISIBLE_DEVICE=0"}, {"$CUDA_VISIBLE_DEVICES=0"}},
    {"NCCL_TIMEOUT-unknown", NOTE, "no program", {"$NCCL_TIMEOUT=300"}, {"$NCCL_IB_TIMEOUT=20"}},
    {"NCCL_ASYNC_ERROR_HANDLING-removed",
     NOTE,
     "TORCH_NCCL_ASYNC_ERROR_HANDLING",
     {"$NCCL_ASYNC_ERROR_HANDLING=1"},
     {"$TORCH_NCCL_ASYNC_ERROR_HANDLING=1"}},
    {"NCCL_BLOCKING_WAIT-removed",
     NOTE,
     "which is set too",
     {"$NCCL_BLOCKING_WAIT=1", "$TORCH_NCCL_BLOCKING_WAIT=1"},
     {"$TORCH_NCCL_BLOCKING_WAIT=1"}},
    {"NCCL_LL_THRESHOLD-removed", NOTE, "NCCL_PROTO", {"$NCCL_LL_THRESHOLD=0"}, {"$NCCL_PROTO=^LL"}},
    {"NCCL_RINGS-removed", NOTE, "NCCL 2.5", {"$NCCL_RINGS=0 1 2 3"}, {"$NCCL_ALGO=Ring"}},
    {"NCCL_IB_CUDA_SUPPORT-removed", NOTE, "NCCL_NET_GDR_LEVEL", {"$NCCL_IB_CUDA_SUPPORT=1"}, {"$NCCL_NET_GDR_LEVEL=PHB"}},
    /* values */
    {"NCCL_IB_TIMEOUT-range", NOTE, "0 to 31", {"$NCCL_IB_TIMEOUT=32"}, {"$NCCL_IB_TIMEOUT=31"}},
    {"NCCL_IB_RETRY_CNT-range", NOTE, "0 to 7", {"$NCCL_IB_RETRY_CNT=8"}, {"$NCCL_IB_RETRY_CNT=7"}},
    {"NCCL_BUFFSIZE-value", NOTE, "whole number", {"$NCCL_BUFFSIZE=8M"}, {"$NCCL_BUFFSIZE=8388608"}},
    {"NCCL_P2P_DISABLE-value", NOTE, "0 or 1", {"$NCCL_P2P_DISABLE=true"}, {"$NCCL_P2P_DISABLE=1"}},
    {"NCCL_DEBUG-value", NOTE, "VERSION WARN", {"$NCCL_DEBUG=DEBUG"}, {"$NCCL_DEBUG=info"}},
    {"NCCL_DEBUG_SUBSYS-value",
     NOTE,
     "BOOTSTRAP",
     {"$NCCL_DEBUG=INFO", "$NCCL_DEBUG_SUBSYS=INIT,NETWORK"},
     {"$NCCL_DEBUG=INFO", "$NCCL_DEBUG_SUBSYS=ALL,^NET"}},
    {"NCCL_SOCKET_FAMILY-value", NOTE, "AF_INET6", {"$NCCL_SOCKET_FAMILY=IPv4"}, {"$NCCL_SOCKET_FAMILY=AF_INET"}},
    {"NCCL_P2P_LEVEL-value", NOTE, "NVL", {"$NCCL_P2P_LEVEL=NVLINK"}, {"$NCCL_P2P_LEVEL=NVL"}},
    {"TORCH_DISTRIBUTED_DEBUG-value", NOTE, "DETAIL", {"$TORCH_DISTRIBUTED_DEBUG=1"}, {"$TORCH_DISTRIBUTED_DEBUG=DETAIL"}},
    {"TORCH_NCCL_ASYNC_ERROR_HANDLING-range",
     NOTE,
     "0 to 3",
     {"$TORCH_NCCL_ASYNC_ERROR_HANDLING=4"},
     {"$TORCH_NCCL_ASYNC_ERROR_HANDLING=3"}},
    {"PYTORCH_CUDA_ALLOC_CONF-value",
     NOTE,
     "with a capital",
     {"$PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128,expandable_segments:true"},
     {"$PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128,expandable_segments:True"}},
    {"PYTORCH_ALLOC_CONF-value",
     NOTE,
     "no option",
     {"$PYTORCH_ALLOC_CONF=max_split_mb:64"},
     {"$PYTORCH_ALLOC_CONF=roundup_power2_divisions:[256:1,512:2,>:4],backend:native"}},
    /* settings at odds */
    {"NCCL_NET-conflict", FAULT, "NCCL_IB_DISABLE=1", {"$NCCL_NET=IB", "$NCCL_IB_DISABLE=1"}, {"$NCCL_NET=Socket", "$NCCL_IB_DISABLE=1"}},
    {"NCCL_IB_HCA-conflict",
     NOTE,
     "no effect",
     {"$NCCL_IB_HCA=mlx5", "$NCCL_IB_DISABLE=1", "$NCCL_NET=Socket"},
     {"$NCCL_IB_HCA=mlx5", "$NCCL_IB_DISABLE=0"}},
    {"NCCL_P2P_LEVEL-conflict",
     NOTE,
     "no effect",
     {"$NCCL_P2P_LEVEL=NVL", "$NCCL_P2P_DISABLE=1"},
     {"$NCCL_P2P_LEVEL=NVL", "$NCCL_P2P_DISABLE=0"}},
    {"NCCL_MIN_CTAS-conflict", NOTE, "above", {"$NCCL_MIN_CTAS=16", "$NCCL_MAX_CTAS=8"}, {"$NCCL_MIN_CTAS=8", "$NCCL_MAX_CTAS=8"}},
    {"NCCL_NSOCKS_PERTHREAD-conflict",
     NOTE,
     "64",
     {"$NCCL_SOCKET_NTHREADS=8", "$NCCL_NSOCKS_PERTHREAD=9"},
     {"$NCCL_SOCKET_NTHREADS=8", "$NCCL_NSOCKS_PERTHREAD=8"}},
    {"NCCL_DEBUG_SUBSYS-conflict",
     NOTE,
     "NCCL_DEBUG=INFO",
     {"$NCCL_DEBUG_SUBSYS=NET", "$NCCL_DEBUG=WARN"},
     {"$NCCL_DEBUG_SUBSYS=NET", "$NCCL_DEBUG=INFO"}},
    {"TORCH_NCCL_DUMP_ON_TIMEOUT-conflict",
     NOTE,
     "nothing to dump",
     {"$TORCH_NCCL_DUMP_ON_TIMEOUT=1", "$TORCH_FR_BUFFER_SIZE=0"},
     {"$TORCH_NCCL_DUMP_ON_TIMEOUT=1", "$TORCH_FR_BUFFER_SIZE=2000"}},
    /* ranks */
    {"RANK-inconsistent", FAULT, "RANK=2 does not lie below WORLD_SIZE=2", {RANK_OF("2", "2")}, {RANK_OF("1", "2")}},
    {"LOCAL_RANK-inconsistent",
     FAULT,
     "LOCAL_RANK=4",
     {RANK_OF("4", "8"), "$LOCAL_RANK=4", "$LOCAL_WORLD_SIZE=4"},
     {RANK_OF("4", "8"), "$LOCAL_RANK=0", "$LOCAL_WORLD_SIZE=4"}},
    {"LOCAL_WORLD_SIZE-inconsistent",
     FAULT,
     "above WORLD_SIZE",
     {RANK_OF("0", "2"), "$LOCAL_WORLD_SIZE=4"},
     {RANK_OF("0", "4"), "$LOCAL_WORLD_SIZE=4"}},
    {"WORLD_SIZE-inconsistent",
     FAULT,
     "OMPI_COMM_WORLD_SIZE=4",
     {RANK_OF("1", "2"), "$OMPI_COMM_WORLD_RANK=1", "$OMPI_COMM_WORLD_SIZE=4"},
     {RANK_OF("1", "4"), "$OMPI_COMM_WORLD_RANK=1", "$OMPI_COMM_WORLD_SIZE=4"}},
    {"RANK-inconsistent",
     FAULT,
     "SLURM_PROCID=2",
     {RANK_OF("1", "4"), "$SLURM_PROCID=2", "$SLURM_NTASKS=4"},
     {RANK_OF("5", "8"), "$SLURM_PROCID=1", "$SLURM_NTASKS=2"}}, /* one task a node, four ranks each */
    {"RANK-inconsistent",
     FAULT,
     "PMI_RANK=0",
     {RANK_OF("1", "2"), "$PMI_RANK=0", "$PMI_SIZE=2"},
     {RANK_OF("1", "2"), "$PMI_RANK=1", "$PMI_SIZE=2"}},
    {"RANK-missing", FAULT, "MASTER_PORT", {"$RANK=0", "$WORLD_SIZE=2", "$MASTER_ADDR=a"}, {RANK_OF("0", "2")}},
    {"RANK-missing", NOTE, "RANK", {"$WORLD_SIZE=2", "$MASTER_ADDR=a", "$MASTER_PORT=29500"}, {"$MASTER_ADDR=a", "$MASTER_PORT=29500"}},
    {"MASTER_PORT-range", FAULT, "65535", {"$MASTER_PORT=70000"}, {"$MASTER_PORT=29500"}},
    /* libraries */
    {"LD_PRELOAD-absent", NOTE, "cannot be read", {"$LD_PRELOAD=/nowhere/libnccl.so.2"}, {"$LD_PRELOAD=/etc/passwd"}},
};

static void run_with(const char *const variables[VARIABLES])
{
    const char *settings[VARIABLES + 1] = {NULL};
    for (size_t i = 0; i < VARIABLES && variables[i]; i++)
        settings[i] = variables[i];
    run_probe("env", settings);
}

static void each_rule_has_a_case_and_a_near_miss(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        char name[160];
        (void)snprintf(name, sizeof name, "env.problem.%s", rule->code);
        run_with(rule->wrong);
        const struct fact *fact = fact_set_find(&ran.facts, name);
        if (!fact || !strstr(fact->value.string, rule->words))
            fail_msg("rule %zu: no fact %s that says '%s', but '%s'", i, name, rule->words, fact ? fact->value.string : "");
        status_is(rule->fault ? PROBE_FAULT : PROBE_OK, "");
        run_with(rule->right);
        no_fact(name);
        status_is(PROBE_OK, "");
        fact_is_u64("env.problem.count", 0);
    }
}

static void secrets_stay_here(void **state)
{
    (void)state;
    RUN("env", "$NCCL_PSK=hunter2", "$HOROVOD_SECRET_KEY=hunter2", "$AWS_SECRET_ACCESS_KEY=hunter2", "$RAY_REDIS_PASSWORD=hunter2",
        "$WANDB_API_KEY=hunter2", "$TF_VAR_db=hunter2", "$SLURM_JWT=hunter2", "$GLOO_DEVICE_TRANSPORT_TCP_TLS_PKEY=hunter2",
        "$TORCH_HOME=https://me:hunter2@example.org/", "$NCCL_KEYS=hunter2", "$HF_TOKEN=hunter2", "$NCCL_DEBUG=WARN",
        "$TORCH_LOGS_OUT=https://example.org/a@b");
    fact_is_string("env.var.NCCL_DEBUG", "WARN");
    fact_is_string("env.var.TORCH_LOGS_OUT", "https://example.org/a@b");
    for (size_t i = 0; i < ran.facts.count; i++)
        if (ran.facts.facts[i].type == FACT_STRING && strstr(ran.facts.facts[i].value.string, "hunter2"))
            fail_msg("%s tells a secret", ran.facts.facts[i].name);
    assert_null(strstr(ran.result->reason, "hunter2"));
    assert_null(strstr(ran.result->log, "hunter2"));
}

static void launchers_are_known_by_what_they_set(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *launcher;
    } signs[] = {{"$TORCHELASTIC_RUN_ID=none", "torchrun"},
                 {"$HOROVOD_RANK=0", "horovod"},
                 {"$OMPI_COMM_WORLD_RANK=0", "mpi"},
                 {"$SLURM_PROCID=0", "slurm"},
                 {"$SLURM_JOB_ID=17", "slurm"},
                 {"$RAY_JOB_ID=01", "ray"},
                 {"$KUBERNETES_SERVICE_HOST=10.0.0.1", "kubernetes"},
                 {"$NCCL_DEBUG=WARN", "none"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        RUN("env", signs[i].variable);
        fact_is_string("env.launcher", signs[i].launcher);
    }
    RUN("env", "$SLURM_PROCID=0", "$TORCHELASTIC_RUN_ID=7");
    fact_is_string("env.launcher", "torchrun");
}

static void ranks_are_told_only_where_there_are_some(void **state)
{
    (void)state;
    RUN("env", "$NCCL_DEBUG=WARN");
    no_fact("env.rank.missing");
    no_fact("env.rank.inconsistent");
    RUN("env", RANK_OF("0", "1"));
    fact_is_bool("env.rank.missing", false);
    fact_is_bool("env.rank.inconsistent", false);
    RUN("env", "$RANK=0", "$WORLD_SIZE=1", "$MASTER_ADDR=", "$MASTER_PORT=1");
    fact_is_bool("env.rank.missing", true);
    status_is(PROBE_FAULT, "MASTER_ADDR is not");
}

#define TF(text) "$TF_CONFIG=" text
#define CLUSTER "\"cluster\": {\"chief\": [\"a:2222\"], \"worker\": [\"b:2222\", \"c:2222\"]}"

static void tf_config_is_read_as_tensorflow_reads_it(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {TF("{" CLUSTER ", \"task\": {\"type\": \"worker\", \"index\": 2}}"), "2 entries"},
        {TF("{" CLUSTER ", \"task\": {\"type\": \"ps\", \"index\": 0}}"), "no job"},
        {TF("{" CLUSTER "}"), "no object 'task'"},
        {TF("{" CLUSTER ", \"task\": {\"type\": \"worker\"}}"), "no type or no index"},
        {TF("{'cluster': {}}"), "no JSON"},
        {TF("[]"), "no JSON object"},
        {TF("{\"cluster\": {\"worker\": [\"a\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}"), "no HOST:PORT"},
        {TF("{\"cluster\": {\"worker\": \"a:1\"}, \"task\": {\"type\": \"worker\", \"index\": 0}}"), "no list"},
        {TF("{\"cluster\": {\"worker\": [\"a:1\", \"a:1\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}"), "twice"},
        {TF("{\"cluster\": {}, \"task\": {\"type\": \"worker\", \"index\": 0}}"), "empty"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        RUN("env", wrong[i].text);
        status_is(PROBE_FAULT, wrong[i].words);
        fact_is_bool("env.tf_config.valid", false);
    }
    RUN("env", TF("{" CLUSTER ", \"task\": {\"type\": \"worker\", \"index\": \"1\"}}"));
    status_is(PROBE_OK, "");
    fact_is_bool("env.tf_config.valid", true);
    fact_is_u64("env.tf_config.tasks", 3);
    fact_is_string("env.tf_config.task", "worker:1");
    fact_is_string("env.tf_config.own_address", "c:2222");
    RUN("env", TF("{" CLUSTER ", \"task\": {\"type\": \"evaluator\", \"index\": 0}}"));
    fact_is_bool("env.tf_config.valid", true);
    no_fact("env.tf_config.own_address");
    RUN("env", TF("{}"));
    status_is(PROBE_OK, "");
    no_fact("env.tf_config.valid");
}

static void two_gpus(void)
{
    tree_file("proc/driver/nvidia/gpus/0000:01:00.0/information",
              "Model: \t\t GPU\nGPU UUID: \t GPU-11111111-2222-3333-4444-555555555555\n");
    tree_file("proc/driver/nvidia/gpus/0000:02:00.0/information",
              "Model: \t\t GPU\nGPU UUID: \t GPU-aaaaaaaa-2222-3333-4444-555555555555\n");
}

static void visible_devices_against_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        uint64_t count;
        bool invalid;
        const char *words;
    } cases[] = {
        {"$CUDA_VISIBLE_DEVICES=0,1", 2, false, ""},          {"$CUDA_VISIBLE_DEVICES=0,2", 1, true, "no device 2: this machine has 2"},
        {"$CUDA_VISIBLE_DEVICES=2", 0, true, "CUDA shows 0"}, {"$CUDA_VISIBLE_DEVICES=", 0, false, ""},
        {"$CUDA_VISIBLE_DEVICES=-1", 0, false, ""},           {"$CUDA_VISIBLE_DEVICES=0,-1,1", 1, true, "hides itself"},
        {"$CUDA_VISIBLE_DEVICES=1,1", 0, true, "twice"},      {"$CUDA_VISIBLE_DEVICES=cuda:0", 0, true, "neither a number"},
        {"$CUDA_VISIBLE_DEVICES=GPU-aaaa,0", 2, false, ""},   {"$CUDA_VISIBLE_DEVICES=GPU-bbbb", 0, true, "no GPU here"},
        {"$CUDA_VISIBLE_DEVICES=MIG-1234", 1, false, ""},
    };
    two_gpus();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RUN("env", "@proc", cases[i].value);
        fact_is_u64("env.cuda_visible.count", cases[i].count);
        fact_is_bool("env.cuda_visible.invalid", cases[i].invalid);
        status_is(cases[i].invalid ? PROBE_FAULT : PROBE_OK, cases[i].words);
    }
    RUN("env", "@proc", "$NCCL_DEBUG=WARN");
    no_fact("env.cuda_visible.count");
}

static void devices_without_the_drivers_list(void **state)
{
    (void)state;
    tree_file("proc/stat", "");
    tree_file("dev/nvidia0", "");
    tree_file("dev/nvidiactl", "");
    tree_file("dev/nvidia-uvm", "");
    RUN("env", "@proc", "@dev", "$CUDA_VISIBLE_DEVICES=1");
    status_is(PROBE_FAULT, "this machine has 1");
    RUN("env", "@proc", "@dev", "$CUDA_VISIBLE_DEVICES=0");
    fact_is_bool("env.cuda_visible.invalid", false);
    tree_file("empty/dev/null", "");
    RUN("env", "@proc", "$CUDA_VISIBLE_DEVICES=7");
    if (!fact_set_find(&ran.facts, "env.cuda_visible.invalid")) /* nothing is known here: nothing is called wrong */
        status_is(PROBE_OK, "");
}

static void a_local_rank_needs_a_device(void **state)
{
    (void)state;
    two_gpus();
    RUN("env", "@proc", RANK_OF("2", "4"), "$LOCAL_RANK=2", "$CUDA_VISIBLE_DEVICES=0,1");
    status_is(PROBE_FAULT, "LOCAL_RANK=2 has no GPU");
    RUN("env", "@proc", RANK_OF("2", "4"), "$LOCAL_RANK=2", "$CUDA_VISIBLE_DEVICES=0"); /* one device a rank */
    status_is(PROBE_OK, "");
    RUN("env", "@proc", RANK_OF("1", "4"), "$LOCAL_RANK=1", "$CUDA_VISIBLE_DEVICES=0,1");
    status_is(PROBE_OK, "");
}

static void libraries_that_shadow(void **state)
{
    (void)state;
    char setting[1200], expected[600];
    tree_file("cuda/lib64/libcudart.so.12", "");
    tree_file("cuda/lib64/stubs/libcuda.so", "");
    tree_file("nccl/libnccl.so.2.18.3", "");
    tree_file("other/libfoo.so", "");
    tree_file("other/libnccl-net.so", ""); /* a plugin of NCCL is no NCCL */
    (void)snprintf(setting, sizeof setting, "$LD_LIBRARY_PATH=%s:%s:/nowhere:%s/", tree_path("other"), tree_path("cuda/lib64"),
                   tree_path("nccl"));
    RUN("env", setting);
    (void)snprintf(expected, sizeof expected, "%s, %s", tree_path("cuda/lib64/libcudart.so.12"), tree_path("nccl/libnccl.so.2.18.3"));
    fact_is_string("env.ld.shadowing", expected);
    status_is(PROBE_OK, "");
    (void)snprintf(setting, sizeof setting, "$LD_LIBRARY_PATH=%s", tree_path("cuda/lib64/stubs"));
    RUN("env", setting);
    status_is(PROBE_FAULT, "stub");
    no_fact("env.ld.shadowing");
    (void)snprintf(setting, sizeof setting, "$LD_LIBRARY_PATH=%s", tree_path("other"));
    RUN("env", setting);
    no_fact("env.ld.shadowing");
    (void)snprintf(setting, sizeof setting, "$LD_PRELOAD=%s", tree_path("nccl/libnccl.so.2.18.3"));
    RUN("env", setting);
    fact_is_string("env.ld.shadowing", tree_path("nccl/libnccl.so.2.18.3"));
}

static void nonsense_does_no_harm(void **state)
{
    (void)state;
    static char giant[20000];
    (void)snprintf(giant, sizeof giant, "$TF_CONFIG=");
    memset(giant + strlen(giant), '[', sizeof giant - strlen(giant) - 1);
    RUN("env", giant, "$RANK=99999999999999999999", "$WORLD_SIZE=-", "$CUDA_VISIBLE_DEVICES=,,,;",
        "$PYTORCH_CUDA_ALLOC_CONF=:[:,]]:", "$LD_LIBRARY_PATH=:::", "$NCCL_DEBUG_SUBSYS=^^,,", "$NCCL_\xff\xfe=1", "$=x",
        "$NCCL_IB_HCA=\x1b[31m");
    status_is(PROBE_FAULT, "");
    fact_is_string("env.problem.RANK-value", "RANK=99999999999999999999 is no whole number");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_start, tree_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_rule_has_a_case_and_a_near_miss),
        TEST(secrets_stay_here),
        TEST(launchers_are_known_by_what_they_set),
        TEST(ranks_are_told_only_where_there_are_some),
        TEST(tf_config_is_read_as_tensorflow_reads_it),
        TEST(visible_devices_against_this_machine),
        TEST(devices_without_the_drivers_list),
        TEST(a_local_rank_needs_a_device),
        TEST(libraries_that_shadow),
        TEST(nonsense_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
