/* What several lines show together: each rule on a log that breaks it and on one that only looks like it. */
#include <stdio.h>
#include <stdlib.h>

#include "observed.h"

/* ---- GPUs ---- */

#define GPU(index, power, memory, util)                                                                 \
    "|   " index "  Tesla V100-SXM2...  On   | 00000000:0" index ":00.0 Off |                    0 |\n" \
    "| N/A   45C    P0    " power "W / 300W |  " memory "MiB / 32768MiB |    " util "%      Default |\n"
#define PROCESS(gpu, pid, memory) "|    " gpu "   N/A  N/A     " pid "      C   python3.8      " memory "MiB |\n"

static void one_gpu_of_several_works(void **state)
{
    (void)state;
    struct findings findings = of_text(GPU("0", "270", "21871", "98") GPU("1", "56", "21806", "0") GPU("2", "55", "21804", "0"));
    const struct evidence *told = telling(&findings, "GPU table: GPU 0 alone works, 2 others hold memory");
    assert_non_null(told);
    assert_int_equal(told->line, 6);
    bool matched = false; /* signatures are tried on it */
    for (size_t i = 0; i < findings.evidence_count; i++)
        matched = matched || (findings.evidence[i].kind == EV_SIGNATURE && !strcmp(findings.evidence[i].fields[0].value, "0"));
    assert_true(matched);
    findings_free(&findings);
    shows("$ torchrun --nproc_per_node=2 train.py\n" GPU("0", "270", "21871", "98") GPU("1", "56", "4", "0"), "alone is in use though 2");
    shows_nothing(GPU("0", "270", "21871", "98") GPU("1", "56", "4", "0")); /* somebody's job for one GPU */
    shows_nothing(GPU("0", "270", "21871", "98") GPU("1", "260", "21806", "91"));
    shows_nothing(GPU("0", "270", "21871", "98") GPU("1", "56", "21806", "0") "later\n" GPU("0", "270", "21871", "98")
                      GPU("1", "260", "21806", "91")); /* the last table counts */
}

static void gpus_that_wait(void **state)
{
    (void)state;
    shows(GPU("0", "95", "28471", "100") GPU("1", "93", "28471", "100"), "all 2 GPUs show full utilisation at little power");
    shows(GPU("0", "95", "28471", "100") GPU("1", "93", "28471", "100") GPU("2", "50", "28471", "0"),
          "2 GPUs at full utilisation wait for GPU 2");
    shows(GPU("0", "50", "28471", "0") GPU("1", "50", "28471", "0"), "all 2 GPUs hold memory and stand at 0 %");
    shows("index, power.draw [W], utilization.gpu [%], memory.used [MiB]\n0, 104.12 W, 100 %, 40131 MiB\n1, 101.55 W, 100 %, 40131 MiB\n",
          "all 2 GPUs show full utilisation at little power");
    shows("[0] Tesla V100-SXM2-16GB | 45'C,  98 % | 12034 / 16160 MB | user(12024M)\n"
          "[1] Tesla V100-SXM2-16GB | 40'C,   0 % | 12034 / 16160 MB | user(12024M)\n",
          "GPU 0 alone works");
    shows("$ nvidia-smi --query-gpu=index,utilization.gpu,power.draw --format=csv,noheader\n0, 100 %, 98.12 W\n1, 100 %, 96.40 W\n",
          "all 2 GPUs show full utilisation at little power");
    shows_nothing("index, utilization.gpu [%], power.draw [W]\n0, 100 %, 69.12 W\n1, 100 %, 68.40 W\n"); /* small GPUs at work */
    shows_nothing(GPU("0", "281", "28471", "100") GPU("1", "279", "28471", "100"));
    shows_nothing(GPU("0", "50", "4", "0") GPU("1", "50", "4", "0")); /* a machine at rest */
    shows_nothing("index, utilization.gpu [%], memory.used [MiB]\n0, 97 %, 40131 MiB\n1, 96 %, 40131 MiB\n");
}

static void processes_on_gpus(void **state)
{
    (void)state;
    shows(PROCESS("0", "41205", "14201") PROCESS("0", "41206", "531") PROCESS("1", "41206", "14201"),
          "1 of 2 processes keep memory on GPU 0");
    shows(PROCESS("0", "41205", "9001") PROCESS("1", "41205", "9001") PROCESS("0", "41206", "9001") PROCESS("1", "41206", "9001"),
          "each of 2 processes holds memory on several GPUs");
    shows(GPU("0", "270", "21871", "98") GPU("1", "56", "4", "0") PROCESS("0", "1", "9001") PROCESS("0", "2", "9001"),
          "all 2 processes are on GPU 0");
    shows(GPU("0", "270", "21871", "98") GPU("1", "256", "9004", "61") GPU("2", "256", "9004", "63"), "GPU 0 holds 2.4 times the memory");
    shows(GPU("0", "270", "21871", "98") GPU("1", "256", "9004", "61") PROCESS("0", "41205", "21861") PROCESS("1", "41205", "8994"),
          "GPU 0 holds 2.4 times the memory");
    shows_nothing(GPU("0", "270", "21871", "98") GPU("1", "256", "9004", "97") PROCESS("0", "41205", "21861")
                      PROCESS("1", "41206", "8994"));
    shows_nothing("$ torchrun --nproc_per_node=2 t.py\n" GPU("0", "270", "21871", "98") GPU("1", "256", "9004", "97"));
    shows_nothing(PROCESS("0", "41205", "14201") PROCESS("1", "41206", "14201"));
    shows_nothing(PROCESS("0", "41205", "14201") PROCESS("0", "41206", "900")); /* one GPU, two jobs */
    shows_nothing(PROCESS("0", "41205", "14201") PROCESS("1", "41205", "14201"));
}

/* ---- speed ---- */

static void settings_compared(void **state)
{
    (void)state;
    shows("1 GPU: 402.1 img/s\n8 GPUs: 311.8 img/s\n", "throughput with 8 GPUs is 78 % of that with 1 GPU");
    shows("1 GPU: 402.1 img/s\n8 GPUs: 811.8 img/s\n", "throughput with 8 GPUs is 2.0 times that with 1 GPU, of 8 times possible");
    shows("$ torchrun --nproc_per_node=1 t.py\nstep 1 loss 2.1 1.02s/it\n$ torchrun --nproc_per_node=4 t.py\nstep 1 loss 2.1 2.52s/it\n",
          "a step with 4 GPUs takes 2.5 times as long as with 1 GPU");
    shows("$ CUDA_VISIBLE_DEVICES=0 python t.py\nepoch 1 took 25.2 s\n$ CUDA_VISIBLE_DEVICES=0,1 python t.py\nepoch 1 took 58.1 s\n",
          "an epoch with 2 GPUs takes 2.3 times as long as with 1 GPU");
    shows("# nnodes=1\n2024-05-01 10:00:00 step: 100 loss 1\n2024-05-01 10:01:00 step: 400 loss 1\n"
          "# nnodes=2\n2024-05-01 11:00:00 step: 100 loss 1\n2024-05-01 11:02:00 step: 400 loss 1\n",
          "a step with 2 nodes takes 2.0 times as long as with 1 node");
    shows("# 1 GPU\nEpoch 0:   0%| | 0/1556 [00:00<?, ?it/s]\nEpoch 0:  50%| | 700/1556 [10:00<10:00, 1.2it/s]\n"
          "# 4 GPUs\nEpoch 0:  50%| | 700/1556 [10:00<10:00, 1.2it/s]\n",
          "an epoch has 1556 steps with 4 GPUs as with 1 GPU");
    shows("$ python t.py --batch_size 512 --device_id 0\nbatch_time: 0.021\n$ python t.py --batch_size 512 --device_ids 0,1\nbatch_time: "
          "0.052\n",
          "a step with 2 GPUs takes 2.5 times as long as with 1 GPU");
    shows("# 1 GPU\nbest recall@1 0.857\n# 4 GPUs\nbest recall@1 0.804\n", "accuracy: 0.804 with 4 GPUs, 0.857 with 1 GPU");
    shows("# 1 GPU\nacc:0.891\n# 4 GPUs\nacc:0.221\nacc:0.223\nacc:0.220\n", "metric: with 4 GPUs it is that with 1 GPU divided by 4");
    shows("# 2 GPUs\ntest_acc: 0.88\n# 3 GPUs\ntest_acc: 0.587\n", "accuracy: 0.587 with 3 GPUs"); /* two thirds are no share */
    shows("# 1 GPU\nstep 1 2.0 it/s\nval_acc: 0.761\n# 8 GPUs\nstep 1 2.0 it/s\nval_acc: 0.702\n",
          "accuracy: 0.702 with 8 GPUs, 0.761 with 1 GPU");
    shows("2 GPUs: 368.2 samples/s\n4 GPUs: 424.7 samples/s\n", "throughput with 4 GPUs is 1.2 times that with 2 GPUs, of 2 times");
    shows("$ a.py --num_gpus=1\nstep 9: loss = 1.2, time per step = 0:00:0.789\n$ a.py --num_gpus=4\nstep 9: loss = 1.2, time per step = "
          "0:01:1.390\n",
          "a step with 4 GPUs takes 77.8 times as long");
    shows("$ a.py --nodes 1\n0040/1024 loss = 9.0, s/sec=0.715\n$ a.py --nodes 2\n0040/512 loss = 9.0, s/sec=0.350\n",
          "throughput with 2 nodes is 49 %");
    shows_nothing("2 GPUs: 368.2 samples/s\n4 GPUs: 524.7 samples/s\n");
    shows_nothing("1 GPU: 402.1 img/s\n8 GPUs: 3011.8 img/s\n");
    shows_nothing("1 GPU: 402.1 img/s\n8 GPUs: 391.8 img/s per GPU\n");
    shows_nothing("$ torchrun --nproc_per_node=1 t.py\nstep 1 1.02s/it\n$ torchrun --nproc_per_node=4 t.py\nstep 1 1.11s/it\n");
}

static void releases_compared(void **state)
{
    (void)state;
    shows("2.9.0+cu126\nEpoch 0: time: 112.1\n2.10.0+cu126\nEpoch 0: time: 163.9\n",
          "with version 2.10.0 it is 68 % of that with version 2.9.0");
    shows(
        "NCCL version 2.18.5+cuda11.8\n# Avg bus bandwidth    : 3.10518\nNCCL version 2.20.5+cuda11.8\n# Avg bus bandwidth    : 1.74919\n",
        "with nccl 2.20.5");
    shows_nothing("2.9.0+cu126\nEpoch 0: time: 163.9\n2.10.0+cu126\nEpoch 0: time: 152.1\n");
}

static void options_and_rates(void **state)
{
    (void)state;
    shows("$ deepspeed --num_gpus 3 t.py --config z2.json\n20/20 [00:17<00:00, 1.15it/s]\n"
          "$ deepspeed --num_gpus 3 t.py --config z3.json\n20/20 [20:11<00:00, 60.58s/it]\n",
          "the same job goes 70 times slower with other options");
    shows("$ accelerate launch --num_processes 1 t.py\nstep 20 lr 0.0001\n$ accelerate launch --num_processes 4 t.py\nstep 20 lr 1e-07\n",
          "learning rate: at step 20 it is 1e-07 with 4 GPUs and 0.0001 with 1 GPU");
    shows_nothing(
        "$ deepspeed --num_gpus 3 a.py\n20/20 [00:17<00:00, 1.15it/s]\n$ deepspeed --num_gpus 3 b.py\n20/20 [20:11<00:00, 60.58s/it]\n");
    shows_nothing(
        "$ accelerate launch --num_processes 1 t.py\nstep 20 lr 0.0001\n$ accelerate launch --num_processes 4 t.py\nstep 20 lr 0.0004\n");
}

static void tables_in_text(void **state)
{
    (void)state;
    shows("| GPUs | batch | img/s |\n|---|---|---|\n| 1 | 32 | 96.9 |\n| 4 | 128 | 81.8 |\n",
          "throughput with 4 GPUs is 84 % of that with 1 GPU");
    shows("$ parse log-1node\n| epoch | train-accuracy | valid-accuracy | time |\n| 1 | 0.76 | 0.90 | 238.0 |\n"
          "$ parse log-5nodes\n| epoch | train-accuracy | valid-accuracy | time |\n| 1 | 0.65 | 0.64 | 119.8 |\n",
          "accuracy: 0.64 with 5 nodes, 0.9 with 1 node");
    shows_nothing("| GPUs | batch | img/s |\n| 1 | 32 | 96.9 |\n| 4 | 128 | 379.7 |\n");
    shows_nothing("| Trial name | status | loc |\n|---|---|---|\n| t_0 | RUNNING | 10.0.0.1 |\n");
}

static void transports(void **state)
{
    (void)state;
    shows("NCCL INFO NET/IB : No device found.\nNCCL INFO NET/Socket : Using [0]ibp60s0:10.0.0.1<0>\nNCCL INFO Using network Socket\n",
          "NCCL goes over sockets though the machine has an adapter for RDMA");
    shows("NCCL INFO Using network Socket\nprovider: efa\n", "NCCL goes over sockets");
    shows_nothing(
        "NCCL INFO NET/IB : No device found.\nNCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\nNCCL INFO Using network Socket\n");
    shows("NCCL INFO Failed to open libibverbs.so[.1]\nNCCL INFO NET/Socket : Using [0]ib0:10.0.0.1<0>\nNCCL INFO Using network Socket\n",
          "for RDMA: the verbs library is missing");
    shows_nothing(
        "NCCL INFO Failed to open libibverbs.so[.1]\nNCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\nNCCL INFO Using network Socket\n");
    shows("NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'\nNCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0\n",
          "NCCL goes over verbs without GPUDirect RDMA");
    shows_nothing("NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'\nNCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via "
                  "NET/IB/0/GDRDMA\nNCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/0\n");
    shows_nothing("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\nNCCL INFO Using network IB\nNCCL INFO Channel 00 : 0 -> 1 via NET/Socket/0\n");
}

static void times_and_data(void **state)
{
    (void)state;
    char text[2048] = "";
    for (int i = 0; i < 12; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "Epoch %d: time: %d.5\n", i, 300 + 90 * i);
    shows(text, "an epoch at the end takes 2.5 times");
    shows("step 10 loss 2 1.05s/it\nstep 20 loss 2 1.31s/it\nstep 30 loss 2 1.75s/it\nstep 40 loss 2 2.30s/it\n",
          "a step at the end takes 2.2 times");
    shows_nothing("step 10 loss 2 1.05s/it\nstep 20 loss 2 1.75s/it\nstep 30 loss 2 1.31s/it\nstep 40 loss 2 2.30s/it\n");
    shows_nothing("step 10 loss 2 1.05s/it\nstep 20 loss 2 1.11s/it\nstep 30 loss 2 1.15s/it\nstep 40 loss 2 1.30s/it\n");
    *text = '\0';
    for (int i = 0; i < 12; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "Epoch %d: time: %d.5\n", i, 300 + (i % 3) * 90);
    shows_nothing(text);
    *text = '\0';
    for (int i = 0; i < 8; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "Epoch: [0][%d/5005] Time 3.06%d Data 2.995 Loss 6.9\n", i, i);
    shows(text, "98 % of a step is waiting for data");
#define LOGGED(data) "[100/9780]  eta: 4 days  time: 40.9113  data: " data "  max mem: 10768\n"
    shows(LOGGED("38.6002") LOGGED("38.6002") LOGGED("38.1192"), "94 % of a step is waiting for data");
    shows_nothing(LOGGED("38.6002") LOGGED("38.6002"));
    shows_nothing(LOGGED("38.6002") LOGGED("26.6002") LOGGED("26.1192"));
    *text = '\0';
    for (int i = 0; i < 8; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "Epoch: [0][%d/5005] Time %s Data %s Loss 6.9\n", i,
                       i ? "0.310" : "61.2", i ? "0.004" : "60.8");
    shows_nothing(text);
    shows("# Avg bus bandwidth    : 3.23\n #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n 65536 5000 196.57 196.52 "
          "0.3748\n",
          "the collective reaches 3.2 GB/s of 24.6 GB/s");
}

/* ---- values ---- */

static void losses(void **state)
{
    (void)state;
    shows("step 1 loss: 2.3\nstep 2 loss: nan\nstep 3 loss: nan\n", "loss: NaN or infinite after finite values");
    shows(" 1008: 2.945518, 2.869562 avg loss\n 1016: -nan, -nan avg loss\n 1020: -nan, -nan avg loss\n", "loss: NaN");
    shows("step 1 loss: 11.934\nstep 2 loss: 11.934\nstep 3 loss: 11.934\nstep 4 loss: 11.934\nstep 5 loss: 11.934\n", "it does not move");
    shows("{'loss': 0.0, 'grad_norm': 0.0}\n{'loss': 0.0, 'grad_norm': 0.0}\n{'loss': 0.0, 'grad_norm': 0.0}\n", "loss: exactly 0 in 3");
    shows("{'loss': 1.2, 'grad_norm': 0.0}\n{'loss': 1.3, 'grad_norm': 0.0}\n{'loss': 1.1, 'grad_norm': 0.0}\n",
          "gradient norm: exactly 0");
    shows("loss 2.1\nloss 1.9\nloss 2.5\nloss 8.1\nloss 31.0\nloss 44.0\n", "loss: grows, 44 at the end");
    shows("accuracy=0.101\naccuracy=0.099\naccuracy=0.103\naccuracy=0.098\naccuracy=0.100\n", "accuracy: stays between 0.098 and 0.103");
    shows_nothing("accuracy=0.101\naccuracy=0.135\naccuracy=0.191\naccuracy=0.240\naccuracy=0.311\n");
    shows_nothing("loss 10.8\nloss 9.2\nloss 9.6\nloss 7.9\nloss 8.3\nloss 6.8\nloss 7.1\n");
    shows_nothing("loss 2.3\nloss: nan\nloss 2.2\n");                    /* one step that was skipped */
    shows_nothing("loss 0.1\nloss 0.1\nloss 0.1\nloss 0.1\nloss 0.1\n"); /* rounded */
}

static void plans_and_files(void **state)
{
    (void)state;
    shows("  Num examples = 1,283\n  Num Epochs = 1\n  Total train batch size (w. parallel) = 4\n  Total optimization steps = 1,283\n",
          "steps: 1283 are planned where examples, epochs and batch make 321");
    shows_nothing(
        "  Num examples = 1,283\n  Num Epochs = 3\n  Total train batch size (w. parallel) = 4\n  Total optimization steps = 963\n");
    shows_nothing(
        "  Num examples = 1,283\n  Num Epochs = 3\n  Total train batch size (w. parallel) = 4\n  Total optimization steps = 100\n");
    shows("$ ls -l out/checkpoint-120\ntotal 8\n-rw-r--r-- 1 u u 6712 training_args.bin\n$ exit\n",
          "the folder that was listed holds no weights");
    shows_nothing("$ ls -l out/checkpoint-120\ntotal 99\ntraining_args.bin\nmodel.safetensors\n$ exit\n");
    shows_nothing("$ ls checkpoints\ncheckpoint-100  checkpoint-200\n");
    shows_nothing("$ ls checkpoints\nls: cannot access 'checkpoints': No such file or directory\n");
}

static void runs_apart(void **state)
{
    (void)state;
    shows("$ torchrun a.py --fsdp\nloss 10.8249\nloss 10.8249\nloss 10.8249\nloss 10.8249\n$ torchrun a.py\nloss 3.1172\nloss 2.4031\n",
          "loss: 10.8249 in all of 4 prints");
    shows("# 1 node\nloss 1.95\nloss 1.40\nloss 1.12\nloss 1.03\n# 4 nodes\nloss 1.95\nloss 1.77\nloss 4.68\nloss 7.81\nloss 8.43\n",
          "loss: grows, 8.43 at the end");
    shows_nothing("$ torchrun small.py\nloss 0.11\nloss 0.10\n$ torchrun large.py\nloss 9.1\nloss 8.0\nloss 7.1\nloss 6.9\nloss 6.1\n");
    shows("$ deepspeed --include localhost:0,1 t.py\n1/9 [18:34<1:00, 53.07s/it]\n"
          "$ deepspeed --include=\"a:0,1@b:0,1\" t.py\n1/9 [18:34<1:00, 209.1s/it]\n",
          "a step with 2 nodes of 2 GPUs takes 3.9 times as long as with 1 node of 2 GPUs");
}

static void memory(void **state)
{
    (void)state;
    static const char head[] = "              total        used        free      shared  buff/cache   available\n";
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "%sMem:  65  1  19 0 44 63\n%sMem: 65 16 10 0 38 48\n%sMem: 65 31 6 0 27 33\n%sMem: 65 47 2 0 15 17\n", head, head, head,
                   head);
    shows(text, "host memory: rises all the time, 47.0 times");
    shows("step 1 mem 3.1GB\nstep 2 mem 4.8GB\nstep 3 mem 6.4GB\nstep 4 mem 8.0GB\nstep 5 mem 9.9GB\n", "memory: rises all the time");
    shows_nothing("mem[0]\nmem[1]\nmem[2]\nmem[3]\nmem[4]\nmem[5]\nmem[6]\n"); /* of a program's text */
    shows("9713 MiB\n10845 MiB\n11133 MiB\n11480 MiB\n11802 MiB\n", "memory: rises all the time, 1.2 times");
    shows("Memory info of GPU:0: current: 0.18, peak: 2.5\nMemory info of GPU:0: current: 0.62, peak: 2.9\n"
          "Memory info of GPU:0: current: 1.24, peak: 3.6\nMemory info of GPU:0: current: 1.86, peak: 4.2\n",
          "memory: rises all the time");
    shows("MemAvailable: 812 kB\nMemAvailable: 641 kB\nMemAvailable: 470 kB\nMemAvailable: 301 kB\nMemAvailable: 130 kB\n",
          "host memory: what is left falls all the time, to 16 %");
    shows_nothing("MemAvailable: 812 kB\nMemAvailable: 391 kB\nMemAvailable: 388 kB\nMemAvailable: 387 kB\nMemAvailable: 386 kB\n");
    shows_nothing("MemAvailable: 812 kB\nMemAvailable: 641 kB\nMemAvailable: 670 kB\nMemAvailable: 301 kB\nMemAvailable: 310 kB\n");
    shows_nothing("9713 MiB\n10845 MiB\n10845 MiB\n10840 MiB\n10845 MiB\n");
    shows_nothing("step 1 mem 3.1GB\nstep 2 mem 9.8GB\nstep 3 mem 10.4GB\nstep 4 mem 10.4GB\nstep 5 mem 10.5GB\n");
}

static void ranks(void **state)
{
    (void)state;
    shows("(Worker pid=10233) rank 0 of 1\n(Worker pid=10234) rank 0 of 1\n", "2 times a process takes itself for rank 0 of 1");
    shows("$ mpirun -np 4 python t.py\nrank=0 size=1\nrank=0 size=1\n", "takes itself for rank 0 of 1");
    shows("rank 0 after step 1: fc.weight sum 14.6120\nrank 1 after step 1: fc.weight sum 9.8871\n", "parameters or gradients differ");
    shows("rank 0: batch indices [3, 41, 7]\nrank 1: batch indices [3, 41, 7]\nrank 0: batch indices [9, 1, 8]\nrank 1: batch indices [9, "
          "1, 8]\n",
          "several ranks work on the same data");
    shows("[rank: 1] Metric val_loss improved. New best score: -11.178\n[rank: 0] Metric val_loss improved. New best score: -11.104\n",
          "each judges by its own value");
    shows_nothing(
        "[rank: 1] Metric val_loss improved. New best score: -11.178\n[rank: 0] Metric val_loss improved. New best score: -11.178\n");
    shows("wandb: Syncing run misty-sun-1\nwandb: Syncing run brisk-oak-2\nepoch 1\n", "2 wandb runs are begun by one job");
    shows_nothing(
        "wandb: Syncing run misty-sun-1\nepoch 1\nwandb: Run history:\nwandb: Synced misty-sun-1\nwandb: Syncing run brisk-oak-2\n");
    shows_nothing(
        "wandb: Agent Starting Run: a1 with config:\nwandb: Syncing run a-1\nwandb: Agent Starting Run: a2\nwandb: Syncing run a-2\n");
    shows_nothing("rank 0 of 1\nepoch 1\n");
    shows_nothing("$ mpirun -np 4 python t.py\nlocal rank: 0, size: 1\nlocal rank: 0, size: 1\n");
    shows_nothing("rank 0: sum of weights 1412.0391\nrank 1: sum of weights 1412.0391\n");
    shows_nothing("rank 0: grad of step 1 0.125\nrank 0: grad of step 2 0.5\nrank 1: grad of step 1 0.125\nrank 1: grad of step 2 0.5\n");
    shows_nothing("rank 0: batch indices [3, 41, 7]\nrank 1: batch indices [5, 2, 88]\n");
}

/* ---- standing still ---- */

static void stacks(void **state)
{
    (void)state;
    shows("Thread 0x7F01 (idle): \"MainThread\"\n    all_reduce (torch/distributed/distributed_c10d.py:1980)\n    main (train.py:40)\n",
          "stack: a process waits in a collective");
    shows("Thread 0x7F01 (idle): \"MainThread\"\n    barrier (torch/distributed/distributed_c10d.py:3700)\n"
          "    init_process_group (torch/distributed/distributed_c10d.py:1200)\n",
          "stack: a process waits for the other ranks to meet");
    shows("Thread 81 (active): \"MainThread\"\n    _verify_param_shape_across_processes (torch/distributed/utils.py:265)\n"
          "    __init__ (torch/nn/parallel/distributed.py:798)\n",
          "stack: a process waits for the other ranks to meet");
    shows("Thread 81 (active): \"MainThread\"\n    wait (threading.py:312)\n    _try_get_data (torch/utils/data/dataloader.py:1131)\n",
          "stack: a process waits for the data loader");
    shows(
        "Thread 1 (Thread 0x7f05db2ab740 (LWP 135301)):\n#0  0x0 in clock_gettime ()\n#5  0x1 in cuStreamSynchronize () from libcuda.so\n",
        "stack: a process waits for its GPU");
    shows("Current thread 0x00007f1 (most recent call first):\n  File \"/x/torch/distributed/distributed_c10d.py\", line 9 in barrier\n",
          "stack: a process waits in a collective");
    shows("2834 python3.11 <defunct>\n2836 python3.11 <defunct>\n", "2 are dead (defunct)");
    shows_nothing("3125 S+ 10:42 ssh -x node001 orted -mca ess env\n3126 Z+ 10:42 [ssh] <defunct>\n");
    shows_nothing("Thread 0x7F01 (idle): \"MainThread\"\n    main (train.py:40)\n");
}

static void standing_still(void **state)
{
    (void)state;
    shows("2022-02-15 15:53:21 epoch: 1 iter: 10/161 loss: 2.1\n$ date\nTue Feb 15 17:10:02 CST 2022\n",
          "stands still in the midst of training: no line for 77 minutes");
    shows("loading model\nAMP: checks passed\n^C\n$ echo $?\n130\n", "stands still while data and model are prepared: interrupted by hand");
    shows_nothing(
        "loading model\nAMP: checks passed\n[rank1]: TypeError: expected str, not NoneType\n^C\n$ echo $?\n130\n"); /* it failed first */
    shows("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n^C\n", "stands still while its processes meet: interrupted");
    shows(" 12%|#    | 310/2400 [10:59<13:09,  2.77s/it]\n$ tail -1 train.log\n 12%|#    | 310/2400 [10:59<13:09,  2.77s/it]\n",
          "stands still in the midst of training: no line for a while");
    /* the run after it, with what helped, does not undo it */
    shows("step 40 loss 2.1\n(no output; GPUs at 100 %)\n$ NCCL_P2P_DISABLE=1 python train.py\nstep 10 loss 2.9\nstep 20 loss 2.7\n",
          "stands still in the midst of training: no line for a while");
    shows("Starting training from iteration 0\n^CTraceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyboardInterrupt\n",
          "stands still at the first step: interrupted");
    shows_nothing(
        "step 10 loss 2.1\nstep 20 loss 2.0\n^CTraceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyboardInterrupt\n");
    shows_nothing(" 12%|#    | 310/2400 [10:59<13:09,  2.77s/it]\n$ tail -1 train.log\n 13%|#    | 312/2400 [11:05<13:07,  2.77s/it]\n");
    shows("  0%|          | 0/31230 [00:00<?, ?it/s]\n$ nvidia-smi\n" GPU("0", "295", "28471", "100") GPU("1", "293", "28471", "100"),
          "stands still at the first step: all GPUs");
    shows_nothing("step 10 loss 2.1\n$ nvidia-smi\n" GPU("0", "295", "28471", "100") GPU("1", "293", "28471", "100"));
    shows("$ torchrun train.py\nstep 40 loss 2.1\n(stands here on every run; with the release before it goes on)\n",
          "stands still in the midst of training: no line for a while");
    shows("$ torchrun train.py\nloading data\n(no progress bar and no loss after two hours)\n", "stands still while data and model");
    shows("$ torchrun train.py\nloading data\n(stands here)\n$ nvidia-smi\n" GPU("0", "295", "28471", "100")
              GPU("1", "293", "28471", "100") "$ python train.py\nstep 10 loss 2.9\nstep 20 loss 2.7\n",
          "stands still while data and model are prepared: all GPUs at full utilisation");
    shows_nothing("$ torchrun train.py\nstep 40 loss 2.1\n(no loss scaling is used)\n");
    shows_nothing("$ tail -f out.log\nepoch 0 step 20 loss 3.10\n^C\n");
    shows_nothing("2022-02-15 15:53:21 epoch: 1 iter: 10/161 loss: 2.1\n$ date\nTue Feb 15 15:54:02 CST 2022\n");
}

/* ---- the machine and the setup of the job ---- */

#define GAVE_UP(rank, number, operation)                                                                                                \
    "[rank" rank "]:[E ProcessGroupNCCL.cpp:632] [Rank " rank "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" number \
    ", OpType=" operation ", NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600008 milliseconds before timing out.\n"
#define STEP "step 20000 loss 0.0212 time 0.31\n"

static void waits(void **state)
{
    (void)state;
    shows("Map (num_proc=8):   2%|2         | 241000/14868862 [10:01<9:58:13, 407.5 examples/s]\n" GAVE_UP("1", "4", "ALLREDUCE"),
          "time-out: while data or weights were prepared, 2 % done");
    shows("Loading safetensors checkpoint shards:  41% Completed | 67/163 [09:51<13:50,  8.65s/it]\n"
          "RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but "
          "store->get('0') got error: Socket Timeout\n",
          "time-out: while data or weights were prepared, 41 % done");
    shows(STEP "validating...\n" GAVE_UP("3", "90", "ALLREDUCE"), "time-out: while the job evaluated");
    shows(STEP "Validation:  12%|#2        | 41/334 [09:58<1:11:05, 14.56s/it]\n" GAVE_UP("2", "22", "BROADCAST"),
          "time-out: while the job evaluated");
    shows(STEP "saving step-500.safetensors\n" GAVE_UP("0", "7", "ALLREDUCE"), "time-out: while the job saved");
    shows(STEP GAVE_UP("2", "355", "ALLGATHER") GAVE_UP("5", "356", "ALLREDUCE"),
          "time-out: rank 2 waited in ALLGATHER 355, rank 5 in ALLREDUCE 356");
    shows("Count pairs     \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88      421337   /  1304921\n" GAVE_UP("1", "1", "ALLREDUCE"),
          "time-out: while data or weights were prepared, 32 % done");
    shows_nothing("Count pairs     \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88     1304921   /  1304921\n" GAVE_UP("1", "1", "ALLREDUCE"));
    char huge[1400];
    (void)snprintf(huge, sizeof huge, "Count pairs \xe2\x96\x88 %0350d / 1%0350d\n" GAVE_UP("1", "1", "ALLREDUCE"), 7, 7);
    shows_nothing(huge); /* more than a number holds */
    /* the bar was full, training went on, nobody gave up, or it was another run */
    shows_nothing("Map: 100%|##########| 2400/2400 [00:01<00:00]\n" GAVE_UP("1", "4", "ALLREDUCE"));
    shows_nothing("validating...\n" STEP GAVE_UP("3", "90", "ALLREDUCE"));
    shows_nothing(STEP "saving step-500.safetensors\n" STEP);
    shows_nothing("$ python prepare.py\nMap:  31%|###  | 31/100\n$ torchrun --nproc_per_node=2 t.py\n" GAVE_UP("1", "4", "ALLREDUCE"));
    shows(
        "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2604, OpType=ALLREDUCE, NumelIn=1250304, NumelOut=1250304, "
        "Timeout(ms)=600000) ran\n[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2604, OpType=ALLREDUCE, "
        "NumelIn=1316096, NumelOut=1316096, Timeout(ms)=600000) ran\n",
        "time-out: rank 0 waited in ALLREDUCE 2604, rank 3 in one of another size (1250304 and 1316096)");
    /* what one rank sends another receives */
    shows_nothing(STEP GAVE_UP("0", "42", "SEND") GAVE_UP("1", "41", "RECV"));
    /* one collective for all; a rank's second line is of another group */
    shows_nothing(STEP GAVE_UP("2", "355", "ALLREDUCE") GAVE_UP("5", "355", "ALLREDUCE") GAVE_UP("2", "9", "ALLGATHER"));
}

/* ---- source beside the log ---- */

static void code(void **state)
{
    (void)state;
    shows("        if accelerator.is_main_process:\n"
          "            loss_gathered = accelerator.gather_for_metrics(accumulated_loss)\n",
          "code: a collective is called in a branch that one rank alone enters");
    shows("81:    if dist.get_rank() == 0:\n82:        # all of them\n83:        dist.barrier()\n", "code: a collective is called");
    shows_nothing("    if accelerator.is_main_process:\n        print(loss)\n    accelerator.wait_for_everyone()\n");
    shows_nothing("    if not accelerator.is_main_process:\n        accelerator.wait_for_everyone()\n");
    shows_nothing("    if accelerator.is_main_process:\n        # accelerator.wait_for_everyone()\n        print(loss)\n");
    shows_nothing("    accelerator.wait_for_everyone()\n");
}

#define FRAME(path, function, source) "  File \"" path "\", line 69, in " function "\n    " source "\n"
#define USER FRAME("/home/user/train.py", "main", "trainer.train()")
#define LIBRARY "/opt/env/lib/python3.10/site-packages/"

/* The package whose frame raised is told, the user's own code is not. */
static void packages(void **state)
{
    (void)state;
    shows("Traceback (most recent call last):\n" USER FRAME(
              LIBRARY "transformers/trainer.py", "prepare",
              "self.accelerator = Accelerator(") "TypeError: __init__() got an unexpected keyword argument 'dispatch_batches'\n",
          "transformers calls with an argument that its callee does not know (dispatch_batches)");
    shows("Traceback (most recent call last):\n" USER FRAME(LIBRARY "mmcv/parallel/distributed.py", "train_step", "self._sync_params()")
              FRAME(LIBRARY "torch/nn/modules/module.py", "__getattr__",
                    "raise AttributeError(") "AttributeError: 'MMDistributedDataParallel' object has no attribute '_sync_params'\n",
          "mmcv asks for a private name that is not there (_sync_params)");
    shows_nothing("Traceback (most recent call last):\n" USER
                  "TypeError: __init__() got an unexpected keyword argument 'dispatch_batches'\n");
    shows_nothing("Traceback (most recent call last):\n" USER FRAME(
        LIBRARY "transformers/auto.py", "from_pretrained",
        "cls(config, **kwargs)") "TypeError: __init__() got an unexpected keyword argument 'dispatch_batches'\n");
    shows_nothing("Traceback (most recent call last):\n" USER FRAME(
        LIBRARY "mmcv/runner.py", "run", "model.train_step()") "AttributeError: 'Model' object has no attribute 'train_step'\n");
}

/* Nothing that a log holds may break a rule's arithmetic or its tables. */
static void hostile(void **state)
{
    (void)state;
    char *text = malloc(300000), *p = text;
    assert_non_null(text);
    for (int i = 0; i < 900; i++)
        p += sprintf(
            p,
            "|   %d  X  | %d:%d | 0 |\n| N/A  %dW / 0W | %dMiB / 0MiB | 999999999999%% D |\n|  %d  %d  C  p  99999999999999999999MiB |\n"
            "rank %d of 1\nrank %d: weight 1e308 1e309 [1, 2, 3]\n# %d GPUs\nstep %d loss 1e-%d 0s/it 0 it/s Time 0 Data 0\n",
            i, i, i, i, i, i % 40, i, i, i, i, i, i);
    struct findings findings = of_text(text);
    findings_free(&findings);
    free(text);
    static const char *const odd[] = {"|",
                                      "||||",
                                      "| 1",
                                      "[0",
                                      "[0] 'C,",
                                      "$",
                                      "$ ",
                                      "loss",
                                      "loss:",
                                      "avg loss",
                                      " avg loss",
                                      "/s",
                                      "s/it",
                                      "it/s",
                                      "rank",
                                      "rank 0 of",
                                      "MEMBER: ",
                                      "GLOBAL_RANK: 0, MEMBER:",
                                      "Mem:",
                                      "epoch",
                                      "Thread 1 (LWP ",
                                      "#",
                                      "utilization.gpu,",
                                      "--query-gpu=",
                                      "nvidia-nccl-cu",
                                      "nvidia-nccl-cu12==",
                                      "nvidia-nccl-cu-7==1",
                                      "RANK=",
                                      "MASTER_PORT=1 rank -1",
                                      " up ",
                                      "CUDA_VISIBLE_DEVICES=",
                                      "%|",
                                      "9999999999%|",
                                      "[Rank 99999999999] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=, OpType=",
                                      "ollective operation timeout: WorkOpType=A SeqNum=18446744073709551616"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        shows_nothing(odd[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_gpu_of_several_works),
        cmocka_unit_test(gpus_that_wait),
        cmocka_unit_test(processes_on_gpus),
        cmocka_unit_test(settings_compared),
        cmocka_unit_test(releases_compared),
        cmocka_unit_test(times_and_data),
        cmocka_unit_test(options_and_rates),
        cmocka_unit_test(tables_in_text),
        cmocka_unit_test(plans_and_files),
        cmocka_unit_test(runs_apart),
        cmocka_unit_test(transports),
        cmocka_unit_test(losses),
        cmocka_unit_test(memory),
        cmocka_unit_test(ranks),
        cmocka_unit_test(stacks),
        cmocka_unit_test(standing_still),
        cmocka_unit_test(waits),
        cmocka_unit_test(code),
        cmocka_unit_test(packages),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, build, discard);
}
