/* What tools show that were asked about a job: lists of GPUs and processes, processors, disks, stacks, clocks. */
#include "observed.h"

#define DEFAULT(power, memory, util) "| 30%   44C    P2    " power "W / 300W |   " memory "MiB / 49140MiB |    " util "%      Default |\n"

static void rows_that_grep_left(void **state)
{
    (void)state;
    shows("$ nvidia-smi | grep Default\n" DEFAULT("78", "1289", "100") DEFAULT("81", "1289", "100"),
          "all 2 GPUs show full utilisation at little power");
    shows_nothing("$ nvidia-smi | grep Default\n" DEFAULT("290", "41289", "100") DEFAULT("281", "41289", "99"));
    /* A table with one line a GPU, and a trainer that counts on both. */
    const char *table = "  Instantaneous batch size per device = 256\n"
                        "  Total train batch size (w. parallel, distributed & accumulation) = 512\n"
                        "|   0  Tesla V100-SXM2...  On   |  13920MiB / 32510MiB |     93%      Default |\n"
                        "|   1  Tesla V100-SXM2...  On   |      3MiB / 32510MiB |      0%      Default |\n";
    shows(table, "GPU 0 alone is in use though 2");
    shows_nothing(strchr(table, '|'));
}

static void joined_rows(void **state)
{
    (void)state;
    shows("$ nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader | xargs\n100 % 100 % 100 % 0 %\n",
          "3 GPUs at full utilisation wait for GPU 3");
    shows("$ nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader | paste -sd' '\n"
          "0, 100 %, 71333 MiB 1, 100 %, 71333 MiB 2, 0 %, 71011 MiB 3, 100 %, 71333 MiB\n",
          "3 GPUs at full utilisation wait for GPU 2");
    shows_nothing("$ nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader | xargs\n98 % 97 % 99 % 98 %\n");
    shows_nothing("100 % 100 % 100 % 0 %\n"); /* of what? */
    shows("GPU[0]\t\t: GPU use (%): 100\nGPU[1]\t\t: GPU use (%): 100\nGPU[2]\t\t: GPU use (%): 0\n",
          "2 GPUs at full utilisation wait for GPU 2");
    shows("# gpu     sm    mem\n    0    100      0\n    1    100      0\n    5      0      0\n",
          "2 GPUs at full utilisation wait for GPU 5");
}

/* A command that asks for two lists, and GPUs beyond those asked for. */
static void lists_one_after_another(void **state)
{
    (void)state;
    shows("$ export CUDA_VISIBLE_DEVICES=0,1,2\n$ nvidia-smi --query-compute-apps=pid,used_memory --format=csv ; nvidia-smi "
          "--query-gpu=index,utilization.gpu --format=csv,noheader\npid, used_gpu_memory [MiB]\n30117, 9913 MiB\n0, 97 %\n1, 0 %\n2, 0 %\n",
          "GPU 0 alone is in use though 3");
    shows("$ nvidia-smi --query-compute-apps=gpu_bus_id --format=csv,noheader | sort | uniq -c\n      8 00000000:15:00.0\n      8 "
          "00000000:16:00.0\n",
          "16 processes share 2 GPUs");
    shows_nothing("$ nvidia-smi --query-compute-apps=gpu_bus_id --format=csv,noheader | sort | uniq -c\n      1 00000000:15:00.0\n      1 "
                  "00000000:16:00.0\n");
#define SIX(util) "$ nvidia-smi --query-gpu=index,utilization.gpu --format=csv,noheader\n0, 71 %\n1, " util " %\n2, 69 %\n3, 70 %\n"
    shows("$ python train.py --gpus 2,3\n" SIX("70"), "more than the GPUs that were asked for work");
    shows_nothing("$ python train.py --gpus 2,3\n" SIX("12"));
    shows_nothing("$ CUDA_VISIBLE_DEVICES=4,5 python train.py --gpus 2,3\n" SIX("70"));
#define PROCESS(gpu, pid, used) "|   " gpu "     " pid "      C   python                         " used "MiB |\n"
    shows("$ CUDA_VISIBLE_DEVICES=0 python main.py\n" PROCESS("0", "871", "2411") PROCESS("1", "871", "1997") PROCESS("2", "871", "1997"),
          "one process is on 3 GPUs though it was to see 1");
    shows_nothing("$ CUDA_VISIBLE_DEVICES=0,1 python main.py\n" PROCESS("0", "871", "2411") PROCESS("1", "871", "1997"));
    shows_nothing("$ CUDA_VISIBLE_DEVICES=0 python main.py\n" PROCESS("0", "871", "2411") PROCESS("1", "902", "1997"));
}

static void bursts(void **state)
{
    (void)state;
    const char *samples =
        "$ nvidia-smi dmon -s u -i 0\n# gpu    sm   mem   enc   dec\n    0    95    61     0     0\n    0    12     3     0     0\n"
        "    0    10     2     0     0\n    0    88    54     0     0\n    0    11     2     0     0\n    0    10     2     0     0\n";
    shows(samples, "the GPUs work in bursts, 4 of 6 samples");
    shows_nothing(
        "# gpu    sm   mem   enc   dec\n    0    12     3     0     0\n    0    95    61     0     0\n    0    96     2     0     0\n"
        "    0    88    54     0     0\n    0    91     2     0     0\n    0    94     2     0     0\n"); /* it warmed up */
}

static void one_of_two(void **state)
{
    (void)state;
    const char *waits = "[0] NVIDIA A6000 | 55'C, 100 % | 41230 / 49140 MB | user(40210M)\n"
                        "[1] NVIDIA A6000 | 38'C,   0 % | 41198 / 49140 MB | user(40210M)\n";
    shows(waits, "1 GPU at full utilisation waits for GPU 1");
    /* Everything that is seen was reserved: the second one was never meant to be used. */
    shows("[0] NVIDIA A6000 | 55'C, 100 % | 48230 / 49140 MB | user(48210M)\n[1] NVIDIA A6000 | 38'C,   0 % | 48198 / 49140 MB | "
          "user(48210M)\n",
          "GPU 0 alone works");
    shows("$ caffe train --solver=solver.prototxt --gpu=2,3\n| 62%   79C    P2   160W / 180W |   6411MiB /  8113MiB |     98%      Default "
          "|\n"
          "| 58%   77C    P2   155W / 180W |   6390MiB /  8113MiB |     97%      Default |\n"
          "| 27%   35C    P8     7W / 180W |      2MiB /  8113MiB |      0%      Default |\n"
          "| 28%   37C    P8     8W / 180W |    201MiB /  8113MiB |      2%      Default |\n",
          "others than the GPUs that were asked for");
}

/* What is neither free nor the process's own belongs to others. */
static void memory_of_others(void **state)
{
    (void)state;
    shows(
        "RuntimeError: CUDA out of memory. Tried to allocate 1.21 GiB (GPU 2; 10.76 GiB total capacity; 4.33 GiB already allocated; 620.56 "
        "MiB free; 4.52 GiB reserved in total by PyTorch)\n",
        "GPU memory: other processes hold 5.6 GiB of the 10.8 GiB");
    shows(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 39.39 GiB of which 1.50 MiB "
        "is free. Process 7 has 30.10 GiB memory in use. Including non-PyTorch memory, this process has 9.20 GiB memory in use.\n",
        "GPU memory: other processes hold 30.2 GiB of the 39.4 GiB");
    struct findings findings =
        of_text("RuntimeError: CUDA out of memory. Tried to allocate 1.21 GiB (GPU 2; 10.76 GiB total capacity; 9.20 GiB "
                "already allocated; 620.56 MiB free; 9.51 GiB reserved in total by PyTorch)\n");
    assert_null(telling(&findings, "GPU memory:"));
    findings_free(&findings);
    findings = of_text("torch.OutOfMemoryError: CUDA out of memory. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. "
                       "this process has 71.00 GiB memory in use.\n"); /* contexts of its neighbours */
    assert_null(telling(&findings, "GPU memory:"));
    findings_free(&findings);
}

/* Programs that were each given a GPU by number, and share the first. */
static void programs_given_a_gpu_each(void **state)
{
    (void)state;
#define ON_ONE                                                                                                               \
    "$ nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory --format=csv,noheader\n00000000:15:00.0, 7011, 1302 MiB\n" \
    "00000000:15:00.0, 7012, 1511 MiB\n"
    shows("python main.py --dataset ZINC --gpu_id 0 &\npython main.py --dataset ZINC --gpu_id 1 &\n" ON_ONE,
          "all 2 processes are on GPU 0");
    shows_nothing("python main.py --dataset ZINC --gpu_id 0 &\npython main.py --dataset CIFAR --gpu_id 0 &\n" ON_ONE);
}

static void processes_in_lists(void **state)
{
    (void)state;
#define APPS "$ nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory --format=csv\ngpu_bus_id, pid, used_gpu_memory [MiB]\n"
    shows(APPS "00000000:07:00.0, 88101, 10613 MiB\n00000000:07:00.0, 88102, 1071 MiB\n00000000:07:00.0, 88103, 1071 MiB\n"
               "00000000:0B:00.0, 88102, 10611 MiB\n00000000:48:00.0, 88103, 10611 MiB\n",
          "2 of 3 processes keep memory on GPU 0");
    shows_nothing(APPS "00000000:07:00.0, 88101, 10613 MiB\n00000000:0B:00.0, 88102, 10611 MiB\n00000000:48:00.0, 88103, 10611 MiB\n");
    shows("$ nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader\nGPU-0a11, 5101\nGPU-0a11, 5107\nGPU-1b22, 5102\nGPU-1b22, "
          "5108\n",
          "4 processes share 2 GPUs");
    shows("[0] V100 | 71'C, 100 % | 30912 / 32510 MB | 4101/5M 4102/3921M 4100/3470M\n[1] V100 | 39'C,  12 % |  2011 / 32510 MB | "
          "4101/2006M\n"
          "[2] V100 | 38'C,  11 % |  2011 / 32510 MB | 4102/2006M\n",
          "2 of 3 processes keep memory on GPU 0");
    shows("$ torchrun --nproc_per_node=4 run.py\n[0] H100 | 71'C, 100 % | 38112 / 81559 MB | user(4764M) user(4764M) user(4764M) "
          "user(4764M)\n"
          "[1] H100 | 33'C,   0 % |     4 / 81559 MB |\n",
          "all 4 processes are on GPU 0");
    /* what the driver keeps on the other, large cards */
    shows("$ nvidia-smi --query-gpu=index,memory.used --format=csv,noheader\n0, 66012 MiB\n1, 414 MiB\n2, 414 MiB\n" APPS
          "00000000:17:00.0, 51011, 33006 MiB\n00000000:17:00.0, 51012, 33002 MiB\n",
          "all 2 processes are on GPU 0");
    shows("# gpu        pid  type    sm   mem   enc   dec   command\n# Idx          #   C/G     %     %     %     %   name\n"
          "    0      20111     C     3     0     -     -   python\n    0      20112     C     3     0     -     -   python\n"
          "    1      20111     C    29     9     -     -   python\n    2      20112     C    30     9     -     -   python\n",
          "2 of 2 processes keep memory on GPU 0");
    shows("  0    40211     C    77.2GiB    python main.py\n  0    40212     C     528MiB    python main.py\n  1    40212     C    74.0GiB "
          "   python main.py\n",
          "1 of 2 processes keep memory on GPU 0");
}

/* Memory alone, one line a GPU; several processes would each have their own. */
static void first_gpu_fuller(void **state)
{
    (void)state;
#define QUERY "$ nvidia-smi --format=csv,noheader --query-gpu=memory.used\n15903 MiB\n9801 MiB\n9795 MiB\n9799 MiB\n"
    shows("$ CUDA_VISIBLE_DEVICES=0,1,2,3 python train.py\n" QUERY, "GPU 0 holds 1.6 times the memory of each other GPU");
    shows_nothing("$ torchrun --nproc_per_node=4 train.py\n" QUERY);
}

static void processors(void **state)
{
    (void)state;
    shows("$ uptime\n 14:20:51 up 9 days,  2 users,  load average: 1190.22, 804.10, 377.41\n", "processors: a load of 1190");
    shows("$ nproc\n64\n$ uptime\n 14:20:51 up 9 days,  2 users,  load average: 190.22, 104.10, 77.41\n", "more than they can bear");
    shows_nothing("$ nproc\n256\n$ uptime\n 14:20:51 up 9 days,  2 users,  load average: 190.22, 104.10, 77.41\n");
    shows("Average:     all   48.02    0.00   46.71    0.01    0.00    0.20    0.00    0.00    0.00    5.06\n", "the kernel takes 47 %");
    shows_nothing("%Cpu(s): 78.0 us,  8.9 sy,  0.0 ni, 13.1 id\n");
    shows("$ ps -o nlwp,pid,cmd -C python | awk '{print $1,$2}'\n118 41\n116 180\n116 181\n116 182\n$ nproc; cat "
          "/sys/fs/cgroup/cpu.max\n112\n1600000 100000\n",
          "466 threads for 16 of them");
    shows_nothing("$ ps -o nlwp,pid,cmd -C python | awk '{print $1,$2}'\n118 41\n116 180\n$ nproc\n112\n");
    shows("$ grep nr_throttled /sys/fs/cgroup/cpu.stat\nnr_throttled 48120\n", "quota was used up 48120 times");
}

static void disks(void **state)
{
    (void)state;
#define IOSTAT "Device            r/s     rkB/s   await  aqu-sz  %util\n"
    shows(IOSTAT "sdb            212.50  14020.00  301.22   63.90 100.00\nnvme0n1          0.50      8.00    0.10    0.00   0.10\n",
          "disk: sdb is busy all the time");
    shows_nothing(IOSTAT
                  "nvme0n1       9212.50  914020.00    0.22    3.90 100.00\nsda              0.50      8.00    0.10    0.00   0.10\n");
}

#define BARRIER "    barrier (torch/distributed/distributed_c10d.py:4811)\n"
#define TRAIN "    train (bergson/trainer.py:390)\n"

static void stacks_compared(void **state)
{
    (void)state;
    const char *apart =
        "$ py-spy dump -p 9130 | grep -n 'full_tensor\\|save_optim'\n5:    full_tensor (torch/distributed/tensor/_api.py:531)\n"
        "6:    save_optimizer_state (bergson/trainer.py:214)\n$ py-spy dump -p 9131 | sed -n 5,6p\n" BARRIER TRAIN;
    shows(apart, "stack: a process waits in a collective");
    shows(apart, "stack: 1 of 2 processes stand elsewhere");
    struct findings findings = of_text("== 1\n" BARRIER TRAIN "== 2\n" BARRIER TRAIN "== 3\n" BARRIER TRAIN);
    assert_non_null(telling(&findings, "waits in a collective"));
    assert_null(telling(&findings, "elsewhere"));
    findings_free(&findings);
    /* One line of each process, without headings: all but one at the same place. */
    shows("    _train (dlio_benchmark/main.py:478)\n    _train (dlio_benchmark/main.py:456)\n    _train (dlio_benchmark/main.py:456)\n"
          "    _train (dlio_benchmark/main.py:456)\n",
          "stack: 1 of 4 processes stand elsewhere");
    shows_nothing("    _train (dlio_benchmark/main.py:478)\n    _train (dlio_benchmark/main.py:456)\n");
    shows("Process 4411: ray::PyTorchRunner.train_epochs()\n    backward (torch/autograd/__init__.py:147)\n    train_batch "
          "(orca/operator.py:262)\n"
          "Process 4412: ray::IDLE\n",
          "stack: 1 of 2 processes stand elsewhere");
    shows("Thread 30171 (active): \"MainThread\"\n    _shutdown_backend (torch/distributed/distributed_c10d.py:1471)\n"
          "    destroy_process_group (torch/distributed/distributed_c10d.py:2168)\n",
          "waits for its group to be taken down");
    /* Several threads of one process stand where they like. */
    findings = of_text("Thread 0x1 (most recent call first):\n  File \"distributed_c10d.py\", line 1 in barrier\n"
                       "Thread 0x2 (most recent call first):\n  File \"queue.py\", line 2 in get\n");
    assert_null(telling(&findings, "elsewhere"));
    findings_free(&findings);
}

static void ends_of_jobs(void **state)
{
    (void)state;
    shows(
        " [2026-03-18 03:55:11] iteration     2000/    2000 | lm loss: 6.098311E-01\n[user@node-0 ~]$ date\nWed Mar 18 07:31:40 UTC 2026\n",
        "stands still after its work is done: no line for 216 minutes");
    shows(
        " [2026-03-18 03:55:11] iteration     1000/    2000 | lm loss: 6.098311E-01\n[user@node-0 ~]$ date\nWed Mar 18 07:31:40 UTC 2026\n",
        "stands still in the midst of training");
    shows("2022-07-29 22:52:33 | INFO | fairseq_cli.train | done training in 162.1 seconds\n\n(prompt does not come back. 2 h later:)\n",
          "stands still after its work is done");
    shows("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n(still here after an hour)\n", "stands still while its processes meet");
    shows("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n[nothing more for an hour]\n", "stands still while its processes meet");
    shows("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n(the other node prints nothing)\n",
          "stands still while its processes meet");
    shows("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n(the processes stay)\n", "stands still while its processes meet");
    shows_nothing("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n(the processes meet)\n");
    /* comments of a program, and brackets that go on in a text, are nobody's remarks */
    shows_nothing("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n        # nothing happens without a store\n");
    shows_nothing("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n(hangs of older kernels are mended\n by this)\n");
    shows("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n  (hangs here)\n", "stands still while its processes meet");
    shows_nothing("[LightGBM] [Info] Start training from score 4.07\n[LightGBM] [Warning] No further splits with positive gain\n");
    shows("$ bash run.sh\nrun.sh: init method is file:///nfs/ddp_init\n(no more output after 12 min)\n$ sudo iptables -S INPUT\n-A INPUT "
          "-j DROP\n",
          "stands still while its processes meet");
    shows("$ ./testxgboost --gtest_filter=MGPU\n[ RUN      ] AllgatherV\n# no more output after this line\n",
          "stands still before the first step");
    shows_nothing("[ RUN      ] AllgatherV\n# no more output after this line\n");
    shows("step 1200/5000 loss 2.89\n(no line after that)\n", "stands still in the midst of training: no line for a while");
    shows("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n(stands here)\n", "stands still while its processes meet");
    shows_nothing("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\nno line after that is read\n");
    shows("step 1200/5000 loss 2.89\n-- silence --\n", "stands still in the midst of training: no line for a while");
    shows_nothing("step 1200/5000 loss 2.89\nnothing for now is saved\nstep 1300/5000 loss 2.2\n");
    shows("Loading dataset\n<nothing more for an hour>\n", "stands still while data and model are prepared");
    shows_nothing("Loading dataset\n<p>the name of the set is printed, and that it stops here</p>\n<p>no output follows\n"); /* a manual */
}

static void sleepers(void **state)
{
    (void)state;
    const char *const defunct = "$ ps aux | grep caffe\nuser  10233  0.0  0.0      0     0 ?   Zl   18:02  94:11 [python] <defunct>\n";
    char text[400];
    (void)snprintf(text, sizeof text, "Iteration 4120 loss = 0.412\n^C\n%s", defunct);
    shows(text, "processes: 1 are left, dead or not, of a job that was stopped");
    (void)snprintf(text, sizeof text, "Iteration 4120 loss = 0.412\n%s", defunct);
    shows(text, "processes: 1 are dead (defunct) while the job goes on waiting");
    shows("$ ps -eo pid,stat,wchan:20,cmd | grep train.py\n 9120 Sl+  futex_wait_queue_me  python train.py --batch_size=16\n"
          " 9377 S+   pipe_wait            python train.py --batch_size=16\n",
          "processes: the 2 of the job all sleep");
    shows_nothing("$ ps -o pid,stat,pcpu,cmd -C python\n  70411 Rl    99.0 python train.py\n  70988 S     0.0 python train.py\n");
    shows_nothing(" 9120 Sl+  futex_wait_queue_me  python train.py\n 9377 S+   pipe_wait            python train.py\n"); /* who asked? */
}

/* Libraries that load in one order only. */
static void imports(void **state)
{
    (void)state;
    const char *crash = "Segmentation fault (core dumped)\n";
    char text[600];
#define RUN(code) "$ python -c \"" code "\"\n"
    (void)snprintf(text, sizeof text, "%sok\n%s%s", RUN("import keras; import torch; print('ok')"),
                   RUN("import torch; import keras; print('ok')"), crash);
    shows(text, "imports: torch before keras crashes, while both load in another order");
    (void)snprintf(text, sizeof text, "%s# fine\n%s%s%s", RUN("import torch"), RUN("from tensorflow.python import ops"),
                   RUN("import torch, tensorflow as tf"), crash);
    shows(text, "imports: torch before tensorflow crashes, while both load alone");
    (void)snprintf(text, sizeof text, "%s%s%s", RUN("import torch"), RUN("import torch, tensorflow"), crash);
    shows_nothing(text); /* tensorflow may be at fault by itself */
    (void)snprintf(text, sizeof text, "%s%sTraceback (most recent call last):\nModuleNotFoundError: tensorflow\n%s%s", RUN("import torch"),
                   RUN("import tensorflow"), RUN("import torch, tensorflow"), crash);
    shows_nothing(text); /* it did not load */
    (void)snprintf(text, sizeof text, "%s%sok\n", RUN("import torch, tensorflow"), RUN("import tensorflow, torch"));
    shows_nothing(text);
#define DUMP(frame) \
    "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f5d0e1a7700 (most recent call first):\n  File \"" frame "\n"
    const char *loading = DUMP("/opt/env/lib/python3.5/site-packages/tensorflow/python/pywrap_tensorflow.py\", line 58 in <module>");
    const char *working = DUMP("/opt/env/lib/python3.5/site-packages/tensorflow/python/client/session.py\", line 58 in run");
    (void)snprintf(text, sizeof text, "%s%s1.8.0\n", loading, RUN("import tensorflow; print(tensorflow.__version__)"));
    shows(text, "imports: tensorflow crashes the program that loads it, and loads alone");
    (void)snprintf(text, sizeof text, "%s%s1.8.0\n", working, RUN("import tensorflow; print(tensorflow.__version__)"));
    shows_nothing(text);
    (void)snprintf(text, sizeof text, "%s%s%s", loading, RUN("import tensorflow"), crash);
    shows_nothing(text);
    shows_nothing("$ python -c \"\"\n$ python -c \"import\"\n$ python -c \"import ,,;;from ;import a,b,c,d,e,f\"\n$ python -c 'import\n");
}

/* A debugger's stack of a process that runs tells where it waits; that of a core, or of a crash, does not. */
static void debuggers(void **state)
{
    (void)state;
#define BACKTRACE "#0  0x00007f in sched_yield () from libc.so.6\n#1  0x00007f in ncclAllReduce () from libnccl.so.2\n"
    shows("$ gdb -p 4127 -batch -ex bt | head -2\n" BACKTRACE, "stack: a process waits in a collective");
    shows_nothing("$ gdb python core.4127 -batch -ex bt\n" BACKTRACE);
    shows_nothing(BACKTRACE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_grep_left),
        cmocka_unit_test(joined_rows),
        cmocka_unit_test(bursts),
        cmocka_unit_test(one_of_two),
        cmocka_unit_test(lists_one_after_another),
        cmocka_unit_test(first_gpu_fuller),
        cmocka_unit_test(memory_of_others),
        cmocka_unit_test(programs_given_a_gpu_each),
        cmocka_unit_test(processes_in_lists),
        cmocka_unit_test(processors),
        cmocka_unit_test(disks),
        cmocka_unit_test(stacks_compared),
        cmocka_unit_test(ends_of_jobs),
        cmocka_unit_test(sleepers),
        cmocka_unit_test(imports),
        cmocka_unit_test(debuggers),
    };
    return cmocka_run_group_tests(tests, build, discard);
}
