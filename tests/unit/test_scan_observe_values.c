/* Values of several ranks, epochs and runs: lists, counts, scores, losses, learning rates, memory. */
#include "observed.h"

static void lists(void **state)
{
    (void)state;
    shows("0 [0, 1, 2, 3]\n1 [0, 1, 2, 3]\n2 [0, 1, 2, 3]\n3 [0, 1, 2, 3]\n", "several ranks work on the same data");
    shows_nothing("0 [0, 1, 2, 3]\n1 [16, 17, 18, 19]\n2 [32, 33, 34, 35]\n");
    shows_nothing("0 [0, 0, 0, 0]\n1 [0, 0, 0, 0]\n2 [0, 0, 0, 0]\n"); /* all the same anyhow */
    shows("epoch 1: ['a-12', 'b-7', 'c-1']\nepoch 2: ['a-12', 'b-7', 'c-1']\nepoch 3: ['a-12', 'b-7', 'c-1']\n",
          "as they came before in each of 3 epochs");
    shows_nothing("epoch 1: ['a-12', 'b-7', 'c-1']\nepoch 2: ['c-1', 'a-12', 'b-7']\nepoch 3: ['a-12', 'b-7', 'c-1']\n");
    shows("rank 0 | first ids 0 0 0 0 1 1 1 1 2 2\nrank 1 | first ids 0 0 0 0 1 1 1 1 2 2\n", "several ranks work on the same data");
    shows_nothing("rank 0 | first ids 0 0 0\nrank 1 | first ids 0 0 0\n");
    shows("[rank 0] i,j = (31, 12, 170) noise[0]=0.3367\n[rank 1] i,j = (31, 12, 170) noise[0]=0.3367\n",
          "several ranks draw the same random numbers");
    shows_nothing("[rank 0] i,j = (31, 12, 170) noise[0]=0.3367\n[rank 1] i,j = (1, 142, 70) noise[0]=0.1288\n");
}

static void batches_in_the_same_order(void **state)
{
    (void)state;
#define SHUFFLED "loader = DataLoader(dataset, batch_size=2, shuffle=True)\n"
#define TWICE(lists) lists lists
    shows(SHUFFLED TWICE(TWICE("[5, 6]\n[3, 2]\n")), "as they came before in each of 4 epochs");
    shows_nothing(TWICE(TWICE("[5, 6]\n[3, 2]\n"))); /* nobody wants another order */
    shows_nothing(SHUFFLED "[5, 6]\n[3, 2]\n[3, 5]\n[6, 2]\n[2, 3]\n[6, 5]\n[5, 3]\n[2, 6]\n");
    shows_nothing(SHUFFLED TWICE(TWICE(TWICE("[64, 128]\n")))); /* a shape */
    shows_nothing(SHUFFLED TWICE("[5, 6]\n[3, 2]\n"));          /* twice may be chance */
}

static void files_of_each_epoch(void **state)
{
    (void)state;
    shows("epoch 0  first files: 0411.png 0093.png 0720.png\nepoch 1  first files: 0411.png 0093.png 0720.png\nepoch 2  first files: "
          "0411.png "
          "0093.png 0720.png\n",
          "as they came before in each of 3 epochs");
    shows_nothing(
        "epoch 0  first files: 0411.png 0093.png 0720.png\nepoch 1  first files: 0007.png 0555.png 0231.png\nepoch 2  first files: "
        "0302.png 0140.png 0779.png\n");
    shows_nothing(
        "epoch 1: 625 batches on 8 GPUs of 4 nodes\nepoch 2: 625 batches on 8 GPUs of 4 nodes\nepoch 3: 625 batches on 8 GPUs of 4 "
        "nodes\n");
}

static void workers_that_draw(void **state)
{
    (void)state;
    shows("worker 0  sample 0: snr 12.31 dB  offset  0.0173  phase 1.204\nworker 1  sample 0: snr 12.31 dB  offset  0.0173  phase 1.204\n",
          "several ranks draw the same random numbers");
    shows_nothing("worker 0  sample 0: snr 12.31 dB  offset  0.0173  phase 1.204\nworker 1  sample 0: snr 3.01 dB  offset  0.1173  phase "
                  "0.204\n");
    shows_nothing("worker 0  batch 0 took 0.13 s of 2.20 s, 0.05 s idle\nworker 1  batch 0 took 0.13 s of 2.20 s, 0.05 s idle\n");
}

static void values_behind_a_resume(void **state)
{
    (void)state;
#define BEFORE "iteration 398 | loss 2.31 | lr 7.52e-07\niteration 399 | loss 2.28 | lr 7.51e-07\niteration 400 | loss 2.30 | lr 7.50e-07\n"
#define RESUMED "$ bash run.sh --load /ckpt\n successfully loaded checkpoint from /ckpt at iteration 400\n"
    shows(BEFORE RESUMED "iteration 401 | loss 2.29 | lr 5.01e-07\n", "resumed: the learning rate is 5.01e-07 at step 401 and was 7.5e-07");
    shows("load_state_dict(strict=False): 163 missing keys, 163 unexpected keys\n", "as many names are missing as are unexpected (163)");
    shows("loaded, missing keys: 163, unexpected keys: 163\n", "as many names are missing as are unexpected (163)");
    shows_nothing("load_state_dict(strict=False): 163 missing keys, 12 unexpected keys\n");
    shows_nothing("missing keys: 0, unexpected keys: 0\n");
    shows(BEFORE RESUMED "iteration 401 | loss 6.91 | lr 7.50e-07\n", "resumed: the loss is 6.91 at step 401 and was 2.31 at most");
    shows_nothing(BEFORE RESUMED "iteration 401 | loss 2.41 | lr 7.49e-07\n");
    shows_nothing(BEFORE RESUMED "iteration 1200 | loss 2.29 | lr 2.50e-07\n");               /* what came between is not shown */
    shows_nothing(BEFORE "iteration 401 | loss 6.91 | lr 5.01e-07\n");                        /* a decay, a hard batch */
    shows_nothing(BEFORE RESUMED "$ bash run.sh\niteration 401 | loss 6.91 | lr 5.01e-07\n"); /* another run */
}

static void counts(void **state)
{
    (void)state;
    shows("rank 0: 79 batches\nrank 1: 78 batches\n", "they count unlike numbers of batches");
    shows("len_w_stats RANK:0 batches yielded 511\nlen_w_stats RANK:1 batches yielded 510 -> StopIteration\n", "unlike numbers of batches");
    shows("xla:1 1425\nxla:2 1425\nxla:3 1424\n", "unlike numbers of batches");
    shows_nothing("rank 0: 12500 samples, 196 batches of 64\nrank 1: 12499 samples, 196 batches of 64\n");
    shows_nothing("rank 0: step 79 loss 3.2\nrank 1: step 78 loss 3.1\n");
    shows("rank: 0, worker: 0, seed: 734796314\nrank: 1, worker: 0, seed: 734796314\n", "several ranks draw the same random numbers");
    shows_nothing("rank: 0, seed: 734796314\nrank: 1, seed: 734796314\n");
    shows("$ mpirun -np 3 python -c 'from mpi4py import MPI; print(MPI.COMM_WORLD.size)'\n1\n1\n1\n",
          "3 times a process takes itself for rank 0 of 1");
    shows_nothing("$ mpirun -np 3 python -c 'from mpi4py import MPI; print(MPI.COMM_WORLD.size)'\n3\n3\n3\n");
    shows("[rank0] step 200 sum(|w|)=3120711.25\n[rank1] step 200 sum(|w|)=3120698.50\n", "parameters or gradients differ");
}

static void scores(void **state)
{
    (void)state;
    shows("$ CUDA_VISIBLE_DEVICES=0 python test_model.py market\nmAP: 77.31%  top-1: 91.42\n$ CUDA_VISIBLE_DEVICES=0,1,2,3 python "
          "test_model.py market\n"
          "mAP: 71.06%  top-1: 87.77\n",
          "evaluation: a score is 71.06 with 4 GPUs and 77.31 with 1");
    shows_nothing("$ CUDA_VISIBLE_DEVICES=0 python test_model.py market\nmAP: 77.31%  top-1: 91.42\n"
                  "$ CUDA_VISIBLE_DEVICES=0,1,2,3 python test_model.py market\nmAP: 77.31%  top-1: 91.42\n");
    shows_nothing("$ CUDA_VISIBLE_DEVICES=0 python train_model.py\nfinal mAP: 77.31%\n$ CUDA_VISIBLE_DEVICES=0,1 python "
                  "train_model.py\nfinal mAP: 76.96%\n");
    shows_nothing("$ CUDA_VISIBLE_DEVICES=0 python eval.py\ntime 3.11 s\n$ CUDA_VISIBLE_DEVICES=0,1 python eval.py\ntime 3.02 s\n");
}

static void losses_with_other_options(void **state)
{
    (void)state;
#define PLAIN "$ ./run_train.sh --cp 4\nstep:  1  loss: 12.2381  grad_norm: 3.8210\nstep: 50  loss:  6.9012  grad_norm: 1.2204\n"
#define WITH_TP "$ ./run_train.sh --cp 4 --tp 2\n"
    shows(PLAIN WITH_TP "step:  1  loss:  3.0595  grad_norm: 3.8214\n", "metric: the loss with some options is 4 times that with others");
    shows_nothing(PLAIN WITH_TP "step:  1  loss: 12.2384  grad_norm: 3.8214\n");
    shows_nothing(PLAIN WITH_TP "step:  1  loss:  2.8113  grad_norm: 3.8214\n"); /* another model, say */
    shows_nothing(PLAIN "$ ./run_other.sh --cp 4 --tp 2\nstep:  1  loss:  3.0595  grad_norm: 3.8214\n");
}

static void losses_that_fall_on_one_gpu_only(void **state)
{
    (void)state;
#define ALONE "$ python train.py --ngpu 1\n[0/25][500/11250] Loss: 14.20\n[0/25][2000/11250] Loss: 4.11\n[0/25][5000/11250] Loss: 0.73\n"
#define ON_FOUR "$ python train.py --ngpu 4\n"
    shows(ALONE ON_FOUR "[0/25][500/2812] Loss: 24.99\n[0/25][2000/2812] Loss: 21.30\n[2/25][2000/2812] Loss: 13.01\n",
          "loss: 13.01 at the end with 4 GPUs, 0.73 with 1 GPU");
    shows_nothing(ALONE ON_FOUR "[0/25][500/2812] Loss: 24.99\n[0/25][2000/2812] Loss: 21.30\n"); /* stopped earlier */
    shows_nothing(ALONE ON_FOUR "[0/25][500/2812] Loss: 24.99\n[0/25][2000/2812] Loss: 8.30\n[2/25][2000/2812] Loss: 0.91\n");
}

static void losses_of_several_gpus(void **state)
{
    (void)state;
    const char *const one =
        "$ python lm.py --gpus 0 --batch_size 80\n[Epoch 0 Batch 200/1327] loss 6.77, ppl 871.30\n$ python lm.py --gpus 0,1,2,3\n";
    char text[400];
    (void)snprintf(text, sizeof text, "%s[Epoch 0 Batch 200/1327] loss 27.02, ppl 543100.11\n", one);
    shows(text, "metric: the loss with 4 GPUs is 4 times that with 1 GPU");
    (void)snprintf(text, sizeof text, "%s[Epoch 0 Batch 200/1327] loss 1.69, ppl 5.42\n", one);
    shows(text, "metric: with 4 GPUs it is that with 1 GPU divided by 4");
    (void)snprintf(text, sizeof text, "%s[Epoch 0 Batch 200/1327] loss 6.71, ppl 820.57\n", one);
    shows_nothing(text);
    (void)snprintf(text, sizeof text, "%s[Epoch 0 Batch 900/1327] loss 1.69, ppl 5.42\n", one); /* later */
    shows_nothing(text);
    shows("1/3 - accuracy: 2.1701 - val_accuracy: 0.8993\n2/3 - accuracy: 3.5678 - val_accuracy: 0.9236\n",
          "metric: accuracy is above 1 in training");
    shows("220/220 [=====] - 21s 61ms/step - loss: 0.59 - accuracy: 2.7441 - val_loss: 0.51 - val_accuracy: 3.0118\n"
          "220/220 [=====] - 12s 55ms/step - loss: 0.51 - accuracy: 3.1037 - val_loss: 0.48 - val_accuracy: 3.1894\n",
          "metric: accuracy is above 1 in training");
    shows_nothing(
        "epoch 1 - loss: 0.59 - accuracy: 2.7441 - val_accuracy: 3.0118\nepoch 2 - loss: 0.51 - accuracy: 3.1 - val_accuracy: 3.2\n");
    shows_nothing("1/3 - accuracy: 0.8701 - val_accuracy: 0.8993\n2/3 - accuracy: 0.9678 - val_accuracy: 0.9236\n");
    shows_nothing("1/3 - accuracy: 87.01 - val_accuracy: 89.93\n2/3 - accuracy: 96.78 - val_accuracy: 92.36\n"); /* per cent */
}

static void schedules(void **state)
{
    (void)state;
    shows("Step 500/10000 | loss: 0.21 | LR: 1.60e-04\nStep 2500/10000 | loss: 0.20 | LR: 0.00e+00\nStep 9000/10000 | loss: 0.19 | LR: "
          "0.00e+00\n",
          "learning rate: 0 already at step 2500 of 10000");
    shows_nothing("Step 0/10000 | loss: 0.21 | LR: 0.00e+00\nStep 500/10000 | loss: 0.21 | LR: 1.60e-04\nStep 10000/10000 | loss: 0.19 | "
                  "LR: 0.00e+00\n");
    shows("$ accelerate launch --num_processes 8 train.py --lr_scheduler linear --learning_rate 1e-4\nSteps: 100%|###| 2000/2000 "
          "[41:05<00:00, lr=8.75e-5]\n",
          "learning rate: 8.75e-05 at the last step, it has hardly fallen");
    shows_nothing("$ accelerate launch --num_processes 8 train.py --lr_scheduler constant --learning_rate 1e-4\nSteps: 100%|###| 2000/2000 "
                  "[41:05<00:00, lr=1e-4]\n");
}

static void times_of_runs(void **state)
{
    (void)state;
    shows("batch=100: tokens_per_sec: 3610.2\nbatch=500: tokens_per_sec: 2877.9\nbatch=1000: tokens_per_sec: 2104.4\nbatch=1500: "
          "tokens_per_sec: 1671.8\n",
          "a step at the end takes 2.2 times");
    shows("INFO:tensorflow:Using MirroredStrategy with devices ('/device:GPU:0', '/device:GPU:1')\n500/500 [====] - 61s 121ms/step - loss: "
          "0.6931\n"
          "# the same with one GPU\n500/500 [====] - 22s 43ms/step - loss: 0.6931\n",
          "a step with 2 GPUs takes 2.8 times as long");
    shows("$ time horovodrun -np 1 python train.py\nreal\t13m52s\n$ time horovodrun -np 2 python train.py\nreal\t14m31s\n",
          "an epoch with 2 GPUs takes 1.0 times as long");
    shows_nothing("$ time horovodrun -np 1 python train.py\nreal\t13m52s\n$ time horovodrun -np 2 python train.py\nreal\t7m31s\n");
}

static void memory_that_grows(void **state)
{
    (void)state;
    shows("2018/11/20 15:01:10.101, 7022 MiB\n2018/11/20 15:04:00.105, 7711 MiB\n2018/11/20 15:06:50.108, 8399 MiB\n2018/11/20 "
          "15:09:40.110, 9088 MiB\n",
          "memory: rises all the time, 1.3 times");
    shows_nothing("2018/11/20 15:01:10.101, 7022 MiB\n2018/11/20 15:04:00.105, 8911 MiB\n2018/11/20 15:06:50.108, 8999 MiB\n"
                  "2018/11/20 15:09:40.110, 9088 MiB\n"); /* a cache that filled */
    shows("step 1 host mem: 412 GB\nstep 2 host mem: 655 GB\nstep 3 host mem: 897 GB\nstep 4 host mem: 1.11 TB\n",
          "host memory: rises all the time, 2.7");
    shows("11/62 GB used\n19/62 GB used\n28/62 GB used\n37/62 GB used\n49/62 GB used\n", "host memory: rises all the time, 4.5");
    shows_nothing("11/62 GB used\n19/62 GB used\n19/62 GB used\n20/62 GB used\n20/62 GB used\n");
    const char *copies =
        "[rank 0] scene loaded, host rss 118.4 GB\n[rank 1] scene loaded, host rss 118.4 GB\n[rank 2] scene loaded, host rss 118.3 GB\n"
        "               total        used        free      shared  buff/cache   available\n"
        "Mem:             503         488           4           1          11           9\n";
    shows(copies, "host memory: 3 processes hold 118 GB each, nearly all of it");
    shows_nothing("[rank 0] scene loaded, host rss 118.4 GB\n[rank 1] scene loaded, host rss 118.4 GB\n"
                  "               total        used        free      shared  buff/cache   available\n"
                  "Mem:            1003         288           4           1          11           9\n");
}

static void equal_lines(void **state)
{
    (void)state;
    const char *const four = "$ mpirun -np 4 python fsi.py\n";
    char text[900];
    (void)snprintf(text, sizeof text, "%s%s%s%s", four,
                   "Solved for timestep 1 in 6.1 s\nSolved for timestep 1 in 6.1 s\n"
                   "Solved for timestep 1 in 6.1 s\nSolved for timestep 1 in 6.1 s\n",
                   "Compute Jacobian matrix\nCompute Jacobian matrix\nCompute Jacobian matrix\nCompute Jacobian matrix\n",
                   "Solved for timestep 2 in 5.9 s\nSolved for timestep 2 in 5.9 s\nSolved for timestep 2 in 5.9 s\n"
                   "Solved for timestep 2 in 5.9 s\n");
    shows(text, "lines: 3 of them come 4 times in a row each");
    (void)snprintf(text, sizeof text, "%s%s", four,
                   "Solved for timestep 1 in 6.1 s\nCompute Jacobian matrix\n"
                   "Solved for timestep 2 in 6.1 s\nCompute Jacobian matrix\n");
    shows_nothing(text);
    /* Each process warns of the same thing. */
    shows_nothing("$ mpirun -np 2 python fsi.py\nUserWarning: the value is deprecated\nUserWarning: the value is deprecated\n"
                  "Some weights of the model are new\nSome weights of the model are new\n");
    /* A bar that is drawn again. */
    shows_nothing("$ torchrun --nproc_per_node=2 t.py\n 1%|  | 1/100 [00:01<01:40, 1.00s/it]\n 1%|  | 1/100 [00:01<01:40, 1.00s/it]\n"
                  " 2%|  | 2/100 [00:02<01:40, 1.00s/it]\n 2%|  | 2/100 [00:02<01:40, 1.00s/it]\n"
                  " 3%|  | 3/100 [00:03<01:40, 1.00s/it]\n 3%|  | 3/100 [00:03<01:40, 1.00s/it]\n");
}

static void values_of_ranks(void **state)
{
    (void)state;
    shows("step: 200, loss: 5.8121, grad_norm: 0.391 [rank 0]\nstep: 200, loss: 5.8121, grad_norm: 0.507 [rank 1]\n"
          "step: 200, loss: 5.8121, grad_norm: 0.442 [rank 2]\n",
          "ranks: 3 of them print unlike norms");
    shows("rank_0.txt: step 21 local loss 0.3098\nrank_5.txt: step 21 local loss nan\nrank_6.txt: step 21 local loss 0.3214\n",
          "the loss is no number on rank 5 alone");
    static const char *const not_alone[] = {"rank 0: step 21 loss nan\nrank 1: step 21 loss nan\nrank 2: step 21 loss nan\n",
                                            "rank 0: step 21 loss 0.3\nrank 1: step 22 loss nan\nrank 2: step 23 loss 0.3\n"};
    for (size_t i = 0; i < sizeof not_alone / sizeof *not_alone; i++) {
        struct findings findings = of_text(not_alone[i]);
        assert_null(telling(&findings, "the loss is no number on rank"));
        findings_free(&findings);
    }
    shows_nothing("step: 200, loss: 5.8121, grad_norm: 0.391 [rank 0]\nstep: 200, loss: 5.8134, grad_norm: 0.391 [rank 1]\n"
                  "step: 200, loss: 5.8110, grad_norm: 0.391 [rank 2]\n");
    shows_nothing("step: 100, loss: 5.9, grad_norm: 0.391 [rank 0]\nstep: 200, loss: 5.8, grad_norm: 0.507 [rank 1]\n"
                  "step: 300, loss: 5.7, grad_norm: 0.442 [rank 2]\n");
    shows("rank 0  Prec@1 74.21\nrank 1  Prec@1 73.64\nrank 2  Prec@1 73.90\n", "ranks: 3 of them print unlike scores");
    shows_nothing("rank 0  Prec@1 74.21\nrank 1  Prec@1 74.21\nrank 2  Prec@1 74.21\n");
    shows("rank 0 epoch 1 5f8e0c\nrank 1 epoch 1 b4471d\nrank 0 epoch 2 5f8e0c\nrank 1 epoch 2 b4471d\nrank 0 epoch 3 5f8e0c\n",
          "order: the data come as they came before in each of 3 epochs");
    shows_nothing("rank 0 epoch 1 5f8e0c\nrank 0 epoch 2 90aa3e\nrank 0 epoch 3 b4471d\n");
    shows_nothing("epoch 1 done\nepoch 2 done\nepoch 3 done\nepoch 1 took 600 steps\nepoch 2 took 600 steps\nepoch 3 took 600 steps\n");
    shows("INFO [train.py:1000] (0/16) validation batches seen: 13\nINFO [train.py:1000] (9/16) validation batches seen: 12\n",
          "they count unlike numbers of batches");
    shows_nothing("INFO [train.py:1000] (0/16) validation batches seen: 13\nINFO [train.py:1000] (9/16) validation batches seen: 13\n");
    shows("$ mpirun -n 3 ./r\n0 of 1\n0 of 1\n0 of 1\n", "takes itself for rank 0 of 1");
    shows_nothing("$ mpirun -n 3 ./r\n0 of 3\n1 of 3\n2 of 3\n");
}

static void folders(void **state)
{
    (void)state;
    shows("$ ls -1 logs/\n2020-12-30_18-20-05_1b7z\n2020-12-30_18-20-11_3hd8\n", "folders: 2 were made within seconds");
    shows_nothing("$ ls -1 logs/\n2020-12-30_18-20-05_1b7z\n2020-12-30_19-42-11_3hd8\n");
    shows_nothing("$ ls -1 logs/\n2020-12-30_18-20-05.log\n2020-12-30_18-20-06.log\n");
}

static void losses_and_rates(void **state)
{
    (void)state;
    shows("step: 1 loss: -1.0000 wps: 3,601\nstep: 10 loss: -1.0000 wps: 5,011\nstep: 20 loss: -1.0000 wps: 5,044\n",
          "loss: -1 in all of 3 prints");
    shows_nothing("step: 1 loss: -1.0000\nstep: 10 loss: -1.3721\nstep: 20 loss: -1.9000\n");
    const char *const rest = "epoch 1 lr 8.0e-04\nepoch 12 lr 4.2e-04\nepoch 25 lr 0.0e+00\n";
    char text[400];
    (void)snprintf(text, sizeof text, "$ accelerate launch --num_processes 4 t.py\n%sepoch 40 lr 5.7e-04\n", rest);
    shows(text, "learning rate: falls to 0 and rises again");
    (void)snprintf(text, sizeof text, "$ accelerate launch --num_processes 4 t.py\n%s", rest);
    shows_nothing(text);
    const char *const slow = "$ torchrun --nproc_per_node 4 t.py\nscheduler: CosineAnnealing\nEpoch 1/40 iter 687/687 lr 2.0e-04\n"
                             "Epoch 40/40 iter 687/687 lr 1.72e-04\n";
    (void)snprintf(text, sizeof text, "%s$ python t.py\nEpoch 40/40 iter 2748/2748 lr 2.0e-06\n", slow);
    shows(text, "learning rate: 0.000172 at the last step");
    shows("Epoch 3/90 data_time: 0.217 iter_time: 0.331\nEpoch 4/90 data_time: 0.219 iter_time: 0.334\n", "66 % of a step is waiting");
    shows_nothing("Epoch 3/90 data_time: 2.617 iter_time: 3.331\nEpoch 4/90 data_time: 0.219 iter_time: 0.334\n"); /* the first waits */
    shows("$ python a.py\nRSS 4.1 GB\nRSS 5.8 GB\nRSS 7.5 GB\nRSS 9.3 GB\n$ python b.py\nRSS 2.6 GB\n", "host memory: rises all the time");
    shows_nothing("$ python a.py\nRSS 4.1 GB\nRSS 5.8 GB\nRSS 5.9 GB\nRSS 6.3 GB\n$ python b.py\nRSS 2.6 GB\n");
    shows("Num GPUs Available:  4\n$ nvidia-smi --query-gpu=index,utilization.gpu --format=csv,noheader\n0, 98 %\n1, 0 %\n2, 0 %\n3, 0 %\n",
          "GPU table: GPU 0 alone is in use though 4");
    shows_nothing("Num GPUs Available:  1\n$ nvidia-smi --query-gpu=index,utilization.gpu --format=csv,noheader\n0, 98 %\n1, 0 %\n"
                  "2, 0 %\n3, 0 %\n");
    shows("if args.local_rank == 0:\n    model_engine.save_checkpoint(path)\n", "code: a collective");
    shows_nothing("if args.local_rank == 0:\n    print(path)\nmodel_engine.save_checkpoint(path)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(batches_in_the_same_order),
        cmocka_unit_test(files_of_each_epoch),
        cmocka_unit_test(workers_that_draw),
        cmocka_unit_test(values_behind_a_resume),
        cmocka_unit_test(counts),
        cmocka_unit_test(scores),
        cmocka_unit_test(schedules),
        cmocka_unit_test(times_of_runs),
        cmocka_unit_test(losses_with_other_options),
        cmocka_unit_test(losses_that_fall_on_one_gpu_only),
        cmocka_unit_test(losses_of_several_gpus),
        cmocka_unit_test(memory_that_grows),
        cmocka_unit_test(equal_lines),
        cmocka_unit_test(values_of_ranks),
        cmocka_unit_test(folders),
        cmocka_unit_test(losses_and_rates),
    };
    return cmocka_run_group_tests(tests, build, discard);
}
