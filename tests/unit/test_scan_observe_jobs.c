/* Where jobs wait, what they compile, and which GPUs they were to see: reports, counts, stacks and settings beside a table. */
#include "observed.h"

static void graphs_compiled(void **state)
{
    (void)state;
#define COMPILED(count, seconds) "Metric: CompileTime\n  TotalSamples: " count "\n  Accumulator: " seconds "\n"
#define EXECUTED(count) "Metric: ExecuteTime\n  TotalSamples: " count "\n  Accumulator: 09s221ms\n"
    shows(COMPILED("318", "48m11s803ms") EXECUTED("330"), "XLA: compiled 318 graphs for 330 executions");
    shows("Metric: CompileTime        TotalSamples: 41    Accumulator: 29m02s\n", "XLA: compiled 41 graphs, which took 1742 s");
    shows_nothing(COMPILED("3", "01m02s") EXECUTED("330"));
    shows_nothing(COMPILED("12", "42s") EXECUTED("5000"));
    shows_nothing("Counter: CachedCompile\n  TotalSamples: 318\n" EXECUTED("330"));
    shows_nothing(COMPILED("3", "01m02s") "Counter: CachedCompile\n  TotalSamples: 318\n" EXECUTED("330"));
}

static void counted_down_in_vain(void **state)
{
    (void)state;
#define WAITS(count) "2019-07-18 08:11:47,133 INFO (MainThread-3310) waiting for " count " reservations\n"
    shows(WAITS("3") WAITS("2") WAITS("2") WAITS("2"), "waits: the number of reservations that are waited for stays at 2");
    shows_nothing(WAITS("3") WAITS("2") WAITS("2") WAITS("1"));
    shows_nothing(WAITS("2") WAITS("2") WAITS("2") "2019-07-18 08:12:47,133 INFO (MainThread-3310) all reservations completed\n");
    shows("Waiting for 1 more worker\nWaiting for 1 more worker\nWaiting for 1 more worker\n", "the number of workers");
    shows_nothing("waiting for 5 seconds\nwaiting for 5 seconds\nwaiting for 5 seconds\n");
    shows_nothing(WAITS("2") WAITS("2") WAITS("2") "step 10 loss 2.1\nstep 20 loss 2.0\n"); /* they came, and nobody said so */
    shows_nothing("[rank 0] waiting for 2 workers\n[rank 1] waiting for 2 workers\n[rank 2] waiting for 2 workers\n");
}

/* Each rank with a file of its own. */
static struct findings of_ranks(const char *const *texts, size_t count, const char *launcher)
{
    struct scan *scan;
    struct findings findings;
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "rank_%zu.log", i);
        assert_int_equal(scan_feed(scan, name, texts[i], strlen(texts[i]), NULL), DTKB_OK);
    }
    if (launcher)
        assert_int_equal(scan_feed(scan, "launcher.log", launcher, strlen(launcher), NULL), DTKB_OK);
    assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
    scan_free(scan);
    return findings;
}

static void one_rank_says_nothing(void **state)
{
    (void)state;
#define PEER_LOST "step 10 loss 2.1\nRuntimeError: [pair.cc:561] Connection closed by peer [127.0.0.1]:52458\n"
    const char *one[] = {PEER_LOST, "step 10 loss 2.1\n", PEER_LOST}, *none[] = {PEER_LOST, PEER_LOST, PEER_LOST};
    const char *two[] = {PEER_LOST, "step 10 loss 2.1\n", "step 10 loss 2.1\n"};
    const char *says[] = {PEER_LOST, "step 10 loss 2.1\nKeyError: 'input_ids'\n", PEER_LOST};
    struct findings findings = of_ranks(one, 3, NULL);
    const struct evidence *told = telling(&findings, "ranks: rank 1 says nothing while the others lost their peer");
    assert_non_null(told);
    assert_int_equal(told->rank, 1);
    findings_free(&findings);
    findings = of_ranks(one, 3, "Root Cause (first observed failure):\n[0]:\n  rank      : 1 (local_rank: 1)\n  exitcode  : 3 (pid: 7)\n");
    assert_non_null(telling(&findings, "ranks: rank 1 left with exit code 3 and without a word, and others lost it"));
    findings_free(&findings);
    const char *const *others[] = {none, two, says};
    for (size_t i = 0; i < 3; i++) {
        findings = of_ranks(others[i], 3, NULL);
        assert_null(telling(&findings, "ranks: rank"));
        findings_free(&findings);
    }
}

static void names_sought_for_ever(void **state)
{
    (void)state;
#define SOUGHT(second, name)                                                                        \
    "[W1201 05:31:" second ".397105118 socket.cpp:764] [c10d] The IPv6 network addresses of (" name \
    ", 29511) cannot be retrieved (gai error: -2 - Name or service not known).\n"
    shows(SOUGHT("07", "nosuch") SOUGHT("08", "nosuch") SOUGHT("10", "nosuch") SOUGHT("14", "nosuch"),
          "waits: the name nosuch is looked up in vain for 7 s");
    shows_nothing(SOUGHT("07", "node-0") SOUGHT("07", "node-0") SOUGHT("08", "node-0") SOUGHT("08", "node-0")); /* four ranks, once each */
    shows_nothing(SOUGHT("07", "a") SOUGHT("08", "b") SOUGHT("10", "a") SOUGHT("14", "b"));
    shows_nothing(SOUGHT("07", "a") SOUGHT("08", "a") SOUGHT("10", "a") SOUGHT("14", "a") "step 10 loss 2.1\nstep 20 loss 2.0\n");
    shows_nothing(SOUGHT("07", "a") "step 10 loss 2.1\nstep 20 loss 2.0\n" SOUGHT("30", "a") SOUGHT("30", "a") SOUGHT("31", "a")
                      SOUGHT("31", "a")); /* it starts anew */
}

#define LOST(rank) "[rank" rank "]: RuntimeError: [pair.cc:561] Connection closed by peer [127.0.0.1]:52458\n"
#define TABLE(others, rank, code)                                                                                             \
    "Failures:\n" others "Root Cause (first observed failure):\n[0]:\n  time      : 2026-12-01_05:00:05\n  rank      : " rank \
    " (local_rank: " rank ")\n  exitcode  : " code " (pid: 7708) \n"
#define NO_OTHERS "  <NO_OTHER_FAILURES>\n"
#define STOPPED "[1]:\n  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 7707)  (SIGTERM)\n"

static void left_without_a_word(void **state)
{
    (void)state;
    shows(LOST("0") TABLE(STOPPED, "1", "3"), "ranks: rank 1 left with exit code 3 and without a word, and others lost it");
    shows(LOST("1") TABLE(NO_OTHERS, "1", "1"), "ranks: one lost its peer and no other rank failed, so the peer had ended before");
    shows_nothing(LOST("0") TABLE(STOPPED, "1", "-9"));                                   /* killed: the signal says enough */
    shows_nothing(LOST("1") TABLE(STOPPED, "1", "1"));                                    /* the launcher stopped the other */
    shows_nothing("[rank1]: KeyError: 'input_ids'\n" LOST("0") TABLE(STOPPED, "1", "1")); /* it did say something */
    shows_nothing("terminate called after throwing an instance\n" LOST("0") TABLE(STOPPED, "1", "1"));
    shows_nothing(LOST("0"));
}

static void tables_that_were_cut(void **state)
{
    (void)state;
#define QUERY "$ nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader | sort | uniq -c\n"
    shows(QUERY "      1 0 %\n      7 100 %\n", "GPU table: 7 GPUs at full utilisation wait for GPU 0");
    shows("$ torchrun train.py\nloading data\n(stands here)\n" QUERY "      8 100 %\n",
          "stands still while data and model are prepared: all GPUs at full utilisation"); /* whatever is in their memory */
    shows_nothing(QUERY "      4 87 %\n      4 91 %\n");
    shows("$ nvidia-smi | grep Default | awk '{print $9,$13}'\n13198MiB 100%\n13226MiB 100%\n13128MiB 100%\n13206MiB 0%\n",
          "GPU table: 3 GPUs at full utilisation wait for GPU 3");
    shows_nothing("13198MiB 97%\n13226MiB 95%\n13128MiB 98%\n13206MiB 96%\n");
}

static void gpus_that_were_to_be_seen(void **state)
{
    (void)state;
#define VISIBLE "CUDA_VISIBLE_DEVICES: 2,3\n$ nvidia-smi --query-gpu=index,memory.used,utilization.gpu --format=csv,noheader\n"
#define RESTS(index) index ", 3 MiB, 0 %\n"
#define WORKS(index) index ", 15210 MiB, 96 %\n"
    shows(VISIBLE WORKS("0") WORKS("1") RESTS("2") RESTS("3"), "GPU table: others than the GPUs that were asked for work");
    shows_nothing(VISIBLE RESTS("0") RESTS("1") WORKS("2") WORKS("3"));
    shows_nothing(VISIBLE WORKS("0") WORKS("1")); /* of a container that renumbers them, say */
    struct findings findings = of_text(VISIBLE WORKS("0") WORKS("1") "2, 15210 MiB, 0 %\n3, 15210 MiB, 0 %\n"); /* the job is on them */
    assert_null(telling(&findings, "others than the GPUs"));
    findings_free(&findings);
}

static void processors_that_wait(void **state)
{
    (void)state;
    shows("%Cpu(s):  2.0 us,  0.6 sy, 21.4 id, 76.0 wa\n", "disk: the processors wait for it 76 % of their time");
    shows_nothing("%Cpu(s): 42.0 us,  2.6 sy,  0.0 ni, 51.4 id,  4.0 wa,  0.0 hi\n");
    shows_nothing("%Cpu(s): 42.0 us,  2.6 sy,  0.0 ni, 21.4 id, 34.0 wa,  0.0 hi\n"); /* for a moment, while a checkpoint is written */
    shows("%Cpu(s): 42.0 us,  2.6 sy,  0.0 ni, 21.4 id, 34.0 wa\n%Cpu(s): 44.0 us,  2.0 sy,  0.0 ni, 26.0 id, 28.0 wa\n",
          "disk: the processors wait for it 34 % of their time");
    shows("avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           3.11    0.00    1.20   61.30    0.00   34.39\n",
          "disk: the processors wait for it 61 % of their time");
    shows_nothing("           3.11    0.00    1.20   61.30    0.00   34.39\n"); /* of what? */
}

static void rates_against_the_command(void **state)
{
    (void)state;
#define JOB "$ accelerate launch --num_processes 8 train.py --max-train-steps 2000 --learning-rate 2e-5\n"
#define STEP(step, rate) "step " step " loss 2.31 lr " rate " ppl 10.07\n"
    shows(JOB STEP("50", "1.60e-05") STEP("200", "4.00e-06") STEP("250", "0.00e+00") STEP("900", "0.00e+00"),
          "learning rate: 0 already at step 250 of 2000");
    shows_nothing(JOB STEP("50", "1.60e-05") STEP("200", "4.00e-06") STEP("1990", "0.00e+00") STEP("2000", "0.00e+00"));
    shows_nothing(STEP("50", "1.60e-05") STEP("200", "4.00e-06") STEP("250", "0.00e+00") STEP("900", "0.00e+00"));
}

static void memory_in_stairs(void **state)
{
    (void)state;
#define USED(time, mib) "2026/08/18 " time ", 0, " mib " MiB\n"
    shows(USED("10:00:02", "28110") USED("10:10:02", "28110") USED("10:20:02", "36402") USED("10:30:02", "36402") USED("10:40:02", "51200")
              USED("10:50:02", "70316"),
          "memory: rises all the time");
    shows_nothing(USED("10:00:02", "28110") USED("10:10:02", "58110") USED("10:20:02", "66402") USED("10:30:02", "66402")
                      USED("10:40:02", "66402") USED("10:50:02", "66402"));
#define PEAK(loss, mib) "loss: " loss "  max_mem: " mib "M\n" /* the most so far never falls */
    shows_nothing(PEAK("2.4", "2811") PEAK("2.3", "2811") PEAK("2.2", "3640") PEAK("2.1", "3640") PEAK("2.0", "5120") PEAK("1.9", "7031"));
    shows("$ python train.py\n[Epoch 0] loss 2.1 gpu0 memory 3101 MB\n[Epoch 1] loss 1.8 gpu0 memory 3755 MB\n"
          "[Epoch 2] loss 1.7 gpu0 memory 4410 MB\n[Epoch 3] loss 1.6 gpu0 memory 5066 MB\n"
          "$ python train.py --num-workers 0\n[Epoch 0] loss 2.1 gpu0 memory 3092 MB\n[Epoch 3] loss 1.6 gpu0 memory 3092 MB\n",
          "memory: rises all the time");
}

static void trackers_and_locks(void **state)
{
    (void)state;
#define HEAD "Thread 60122 (active): \"MainThread\"\n"
    shows(HEAD "    acquire (filelock/_api.py:225)\n    __enter__ (filelock/_api.py:262)\n",
          "stack: a process waits for the lock of a file");
    shows(HEAD "    wait (threading.py:320)\n    log (wandb/sdk/wandb_run.py:1341)\n", "stack: a process waits for the tracker");
#define TRACE(package)                                                                                       \
    "Traceback (most recent call last):\n  File \"/home/user/train.py\", line 188, in main\n    log(loss)\n" \
    "  File \"/opt/env/lib/python3.8/site-packages/" package "/run.py\", line 1341, in log\n    self.add(data)\n"
    shows(TRACE("wandb") "KeyboardInterrupt\n", "interrupted while it waited for the tracker of the experiment (wandb)");
    shows_nothing(TRACE("torch") "KeyboardInterrupt\n");
}

static void values_times_the_gpus(void **state)
{
    (void)state;
#define RUN(gpus, total, rate, shown)                                                                       \
    "$ python train.py --gpus " gpus "\nEpoch 0: 100%|##########| " total "/" total " [01:02<00:00,  " rate \
    "it/s, loss=0.693, train_loss_step=" shown "]\n"
    shows(RUN("1", "500", "8.05", "0.692") RUN("4", "125", "7.90", "2.77"),
          "metric: the loss that is logged with 4 GPUs is 4 times that with 1 GPU");
    shows(RUN("1", "500", "8.05", "2.77") RUN("4", "125", "7.90", "0.692"),
          "metric: the loss that is logged with 1 GPU is 4 times that with 4 GPUs");
#define NORM_WITH(gpus, norm) "$ python train.py --gpus " gpus "\nstep 10 loss 0.612 grad_norm " norm "\n"
    shows(NORM_WITH("1", "0.372") NORM_WITH("4", "1.488"), "metric: the gradient norm with 4 GPUs is 4 times that with 1 GPU");
    shows_nothing(NORM_WITH("1", "0.372") NORM_WITH("4", "0.401"));
    shows_nothing(RUN("1", "500", "8.05", "0.692") RUN("4", "125", "5.90", "0.691")); /* a quarter of the steps, each a little longer */
    shows(RUN("1", "500", "8.05", "0.692") RUN("4", "125", "2.90", "0.691"), "speed: a step with 4 GPUs takes 2.8 times as long");
#define BAR(label, total, rate) label "100%|##########| " total "/" total " [01:02<00:00,  " rate "it/s]\n"
    shows_nothing("$ python train.py --gpus 1\n" BAR("", "500", "8.05") "$ python train.py --gpus 4\n" BAR("", "500",
                                                                                                           "7.90") /* no step of training */
                  BAR("Validating: ", "50", "2.10") BAR("Validating: ", "50", "2.12"));
#define LAYOUT(mode, norm) "$ python -m areal.launcher.local allocation_mode=" mode "\nstep 10  loss/avg 0.612  grad_norm " norm "\n"
    shows(LAYOUT("fsdp:d4", "0.372") LAYOUT("fsdp:d8", "0.744"), "metric: the gradient norm with some options is 2 times that with others");
    shows_nothing(LAYOUT("fsdp:d4", "0.372") LAYOUT("fsdp:d8", "0.371"));
    shows_nothing(LAYOUT("fsdp:d4", "0.372") "$ python -m areal.launcher.local allocation_mode=fsdp:d8\n"
                                             "step 90  loss/avg 0.612  grad_norm 0.744\n"); /* of another step */
    shows_nothing("$ python train.py --gpus 1\nstep 1 loss 2.31 150ms/step\n$ python train.py --gpus 4\nstep 1 loss 2.30 290ms/step\n"
                  "step 2 loss nan 290ms/step\n");                                     /* learns nothing, whatever its speed */
    shows("$ python train.py --gpus 1\nstep 1 loss nan\nstep 2 loss 2.31 150ms/step\n" /* before there was one */
          "$ python train.py --gpus 4\nstep 1 loss 2.30 290ms/step\n",
          "speed: a step with 4 GPUs takes 1.9 times as long");
}

static void ranks_under_a_heading(void **state)
{
    (void)state;
    shows("# sum of tok_embeddings.weight on each rank before step 1\nrank 0  -11.8214\nrank 1    3.0971\n",
          "ranks: they begin with unlike parameters");
    shows("# checksum of unet.conv_in.weight after step 100, taken on both ranks\nrank 0  -3.118204\nrank 1  -3.121977\n",
          "ranks: parameters or gradients differ between ranks");
    shows_nothing("# checksum of unet.conv_in.weight after step 100, taken on both ranks\nrank 0  -3.118204\nrank 1  -3.118204\n");
    shows_nothing("# seconds of each rank\nrank 0  -11.8214\nrank 1    3.0971\n");
    shows_nothing("# gradient of layer1.weight on each rank, before the all-reduce\nrank 0  -11.8214\nrank 1    3.0971\n");
    shows_nothing("# sum of the shard of layer1.weight on each rank\nrank 0  -11.8214\nrank 1    3.0971\n");
    shows("dp_shard 0  noise[0]=-1.2204  t=0.481\ndp_shard 1  noise[0]=-1.2204  t=0.481\n", "several ranks draw the same random numbers");
}

static void samples_of_runs(void **state)
{
    (void)state;
#define SCORED(command, count) "$ " command " run_glue.py\nepoch 2: {'accuracy': 0.86} (examples scored: " count ")\n"
    shows(SCORED("python", "408") SCORED("accelerate launch --num_processes 8", "512"),
          "metric: 512 samples are counted on several GPUs, 408 on one");
    shows_nothing(SCORED("python", "408") SCORED("accelerate launch --num_processes 8", "408"));
#define OF_RANKS(count) "$ python train.py --gpus 4\n[val] rank 0 images seen: " count "\n[val] rank 1 images seen: " count "\n"
    shows("$ python train.py --gpus 1\n[val] images seen: 8000\n" OF_RANKS("8000"), "ranks: each goes through all of the 8000 samples");
    shows_nothing("$ python train.py --gpus 1\n[val] images seen: 8000\n" OF_RANKS("2000"));
    shows_nothing(OF_RANKS("2000") "$ grep seen out.log\n[val] rank 0 images seen: 2000\n" OF_RANKS("2000"));
    shows_nothing("$ python train.py --gpus 1\n[val] images seen: 8000\n$ python train.py --gpus 4\n" /* one rank evaluates for all */
                  "[val] rank 0 images seen: 8000\n[val] rank 0 images seen: 8000\n");
    shows_nothing("$ python train.py --gpus 1\nsamples seen: 320\nsamples seen: 640\n" /* training as it goes */
                  "$ python train.py --gpus 4\nsamples seen: 320\nsamples seen: 640\nsamples seen: 960\n");
#define FIT(done) ">>> multi_gpu_model(model, gpus=2).fit(x, y, batch_size=128)\n" done "/883 [=====>....] - ETA: 0s - loss: 3.22\n"
    shows(FIT("768") "InvalidArgumentError\n", "batch: the last one of an epoch, 115 samples, fails on several GPUs");
    shows_nothing(FIT("256") "InvalidArgumentError\n");
    shows_nothing(">>> model.fit(x, y, batch_size=128)\n768/883 [=====>....] - ETA: 0s - loss: 3.22\nInvalidArgumentError\n"); /* on one */
}

static void norms_behind_a_resume(void **state)
{
    (void)state;
#define NORM(step, loss, norm) "step " step " | loss " loss " | grad_norm " norm "\n"
#define BEFORE_IT NORM("4998", "2.7431", "0.61") NORM("4999", "2.7418", "0.60") NORM("5000", "2.7422", "0.61")
    shows(BEFORE_IT "resumed: step 5000, scheduler restored\n" NORM("5001", "2.7419", "0.61") NORM("5002", "2.8120", "1.37"),
          "resumed: the gradient norm is 1.37 at step 5002 and was 0.61 before");
    shows_nothing(BEFORE_IT "resumed: step 5000, scheduler restored\n" NORM("5001", "2.7419", "0.61") NORM("5002", "2.7120", "0.63"));
    shows_nothing(BEFORE_IT NORM("5001", "2.7419", "0.61") NORM("5002", "2.8120", "1.37"));
#define NOISY NORM("4998", "2.7431", "0.61") NORM("4999", "2.6418", "0.60") NORM("5000", "2.7922", "0.31") /* as norms and losses are */
    shows_nothing(NOISY "resumed: step 5000, scheduler restored\n" NORM("5001", "2.7419", "0.61") NORM("5002", "2.8120", "1.37"));
    shows_nothing(BEFORE_IT "resumed: step 5000, scheduler restored\n" NORM("5001", "2.7419", "0.61") NORM("9000", "2.8120", "1.37"));
}

static void sets_of_epochs(void **state)
{
    (void)state;
    shows("epoch 1 rank0 ids: 0 4 8 12 16 20\nepoch 2 rank0 ids: 16 0 4 8 12 20\nepoch 3 rank0 ids: 8 20 0 12 4 16\n",
          "order: what a rank is given stays the same in each of 3 epochs");
    shows_nothing(
        "epoch 1 rank0 ids: 0 4 8 12 16 20\nepoch 2 rank0 ids: 0 4 8 12 16 20\n" /* an evaluation's, which has an order of its own */
        "epoch 3 rank0 ids: 0 4 8 12 16 20\n");
    shows_nothing("epoch 1 rank0 ids: 0 4 8 12 16 20\nepoch 2 rank0 ids: 16 1 5 8 12 21\nepoch 3 rank0 ids: 8 20 0 13 4 16\n");
}

static void memory_taken_before(void **state)
{
    (void)state;
#define START(free) "name: TITAN X (Pascal)\nTotal memory: 11.90GiB\nFree memory: " free "\n"
#define FULL "W tensorflow/core/framework/op_kernel.cc:975] Resource exhausted: OOM when allocating tensor with shape[25088,4096]\n"
    shows(START("423.62MiB") FULL, "GPU memory: other processes hold 11.5 GiB of the 11.9 GiB of the card");
    shows_nothing(START("11.62GiB") FULL);
    shows_nothing(START("423.62MiB")); /* it was enough */
    shows_nothing(START("423.62MiB") "Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.90GiB. The caller indicates that this "
                                     "is not a failure\n");
}

/* Numbers that hold more than they should, texts that stop in the middle: nothing is told, and nothing breaks. */
static void hostile(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "Metric: CompileTime\n  TotalSamples: 1e999\n  Accumulator: nanms\nMetric: \nMetric: CompileTime",
        "Metric: CompileTime\n  TotalSamples: -5\n  Accumulator: 1d2d3d4d5\n",
        "waiting for 1e309 workers\nwaiting for -1 workers\nwaiting for nan workers\nwaiting for \nwaiting for 1",
        "$ nvidia-smi --query-gpu=utilization.gpu --format=csv | uniq -c\n   99999999999 100 %\n   -1 100 %\n   1.5 100 %\n   2 \n   ",
        "1e9MiB 1e9%\n1.1.1MiB 5%\n7MiB \n7MiB %\nMiB 7%",
        "CUDA_VISIBLE_DEVICES=99999999999999999999999,,,\nCUDA_VISIBLE_DEVICES: [\nCUDA_VISIBLE_DEVICES='",
        "%Cpu(s): 1e400 wa\n%Cpu(s): wa\n%Cpu(s): . wa\navg-cpu: %iowait\n 1 1 1 1e400\n",
        "\tGPU0\tGPU1\n\tGPU0\nGPU0\t X\nGPU0\tX\t\t\t\nGPU0 X GPU",
        "epoch 99999999999999999999 rank0 ids: 99999999999999999999999 1 2 3 4 5\nepoch 1 rank0\nepoch 1 rank\nepoch 1 rank0:",
        "-1/-9 [ ETA\n9/1e999 [ ETA\nInvalidArgumentError\nbatch_size=1e999\nmulti_gpu_model\n1/0 [ ETA\nInvalidArgumentError\n",
        "images seen: 1e999\nimages seen: \nrank 99999999999 images seen: 8000\nrank -1 images seen: 8000\n",
        "missing unexpected\nmissing keys: unexpected keys: \n99999999999999999999999 missing keys, \nmissing_keys=9",
        "totalMemory: GiB freeMemory: \nTotal memory: 0GiB\nFree memory: 1e999GiB\nran out of memory",
        "# weight of each rank before step 1\n# rank\n#\nrank 0\nrank 1 .\nrank 2 e.e\n",
        "$ python -m \n$ python -m\n$ gdb -p \n#0 \n#0  \n$ pstack 1",
        "(Open MPI) \n(Open MPI) 99999999999999999999\nOMPI_MCA_\nOMPI_MCA_plm_rsh_",
        "$ torchrun --nproc_per_node=1e999 --device 0,\n$ torchrun --nproc_per_node= --gpus ,\n",
        "rank_0.txt: step nan loss 1e999\nrank_1.txt: step 1e999 loss -1\nrank_99999999999 loss \n",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        shows_nothing(odd[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_compiled),           cmocka_unit_test(counted_down_in_vain),
        cmocka_unit_test(left_without_a_word),       cmocka_unit_test(names_sought_for_ever),
        cmocka_unit_test(one_rank_says_nothing),     cmocka_unit_test(tables_that_were_cut),
        cmocka_unit_test(gpus_that_were_to_be_seen), cmocka_unit_test(processors_that_wait),
        cmocka_unit_test(rates_against_the_command), cmocka_unit_test(memory_in_stairs),
        cmocka_unit_test(trackers_and_locks),        cmocka_unit_test(values_times_the_gpus),
        cmocka_unit_test(ranks_under_a_heading),     cmocka_unit_test(samples_of_runs),
        cmocka_unit_test(norms_behind_a_resume),     cmocka_unit_test(sets_of_epochs),
        cmocka_unit_test(memory_taken_before),       cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, build, discard);
}
