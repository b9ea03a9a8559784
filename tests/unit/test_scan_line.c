/* Lines: prefixes, escapes, stamps, and what single lines say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "scan/findings.h"
#include "scan/line.h"
#include "scan/words.h"

static void prefixes_are_taken_off(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *text;
        int rank;
        char level;
    } cases[] = {
        {"[rank3]: boom", "boom", 3, 0},
        {"[rank3]:   File \"x\"", "  File \"x\"", 3, 0},
        {"[rank3]:[E1130 07:07:05.203265 ProcessGroupNCCL.cpp:828] boom", "boom", 3, 'E'},
        {"[1,3]<stderr>:boom", "boom", 3, 0},
        {"[1,3]<stderr>:[rank7]: boom", "boom", 7, 0},
        {"3: boom", "boom", 3, 0},
        {"(worker pid=123, ip=10.0.0.1) boom", "boom", -1, 0},
        {"(RayTrainWorker(rank=5) pid=9) boom", "boom", 5, 0},
        {"[Rank 3] boom", "boom", 3, 0},
        {"node-0: boom", "boom", -1, 0},
        {"10.0.0.29: [rank14]: boom", "boom", 14, 0},
        {"10.0.0.29:29500: boom", "10.0.0.29:29500: boom", -1, 0},
        {"10.0.0: boom", "10.0.0: boom", -1, 0},
        {"node-0:1001:1002 [4] NCCL INFO boom", "NCCL INFO boom", -1, 0},
        {"[trainer3]:node-0:1001:1002 [3] NCCL INFO boom", "NCCL INFO boom", 3, 0},
        {"[trainer0|0]:boom", "boom", 0, 0},
        {"[default3]:boom", "boom", 3, 0},
        {"[titan] 2024-01-05 10:11:12,123 - root - INFO - boom", "boom", -1, 'I'},
        {"E20261130 07:07:05.203265 10905 socket.cpp:860] boom", "boom", -1, 'E'},
        {"2022-09-07 10:00:00,000 - mmrotate - ERROR - boom", "boom", -1, 'E'},
        {"ERROR:torch.distributed.elastic.multiprocessing.api:boom", "boom", -1, 'E'},
        {"[2024-01-05 10:11:12,123] [ERROR] [launch.py:321:sigkill_handler] boom", "boom", -1, 'E'},
        {"2024-01-05T10:11:12.123456789Z stderr F boom", "boom", -1, 0},
        {"{\"log\":\"\\u001b[31m[rank2]: bo\\\"om\\u001b[0m\\n\",\"stream\":\"stderr\",\"time\":\"2024-01-05T10:11:12Z\"}", "bo\"om", 2, 0},
        {"Jan  5 10:11:12 node-1 kernel: boom", "boom", -1, 0},
        {"Jan  5 10:11:12 node-1 slurmstepd[42]: boom", "boom", -1, 0},
        {"<6>[  123.456789] boom", "boom", -1, 0},
        {"kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: boom", "NVRM: boom", -1, 'W'},
        {"[Sun Feb 23 16:24:18 2025] NVRM: boom", "NVRM: boom", -1, 0},
        {"6,3973,227996636,-;boom", "boom", -1, 0},
        {"opt-1_3b.0 [stderr] boom", "boom", -1, 0},
        {"INFO 06-03 10:00:00 llm_engine.py:161] boom", "boom", -1, 'I'},
        {"[node-0:1001 :0:1002] Caught signal 7", "Caught signal 7", -1, 0},
        {"RuntimeError: boom", "RuntimeError: boom", -1, 0},
        {"[1, 2, 3] boom", "[1, 2, 3] boom", -1, 0},
        {"ERROR boom", "ERROR boom", -1, 0},
        {"12345678: boom", "12345678: boom", -1, 0},
        {"[enforce fail at device.cc:80] boom", "[enforce fail at device.cc:80] boom", -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct line line;
        line_clean(&line, cases[i].raw, strlen(cases[i].raw));
        assert_string_equal(line.text, cases[i].text);
        assert_int_equal(line.length, strlen(cases[i].text));
        if (line.rank != cases[i].rank || line.level != cases[i].level)
            fail_msg("%s: rank %d, level %d", cases[i].raw, line.rank, line.level);
    }
}

static void stamps_are_seconds_since_the_epoch(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double time; /* NAN: a stamp without a date */
    } cases[] = {{"2024-01-05 10:11:12,5", 1704449472.5},
                 {"2024-01-05T10:11:12+02:00", 1704442272},
                 {"2024/01/05 10:11:12", 1704449472},
                 {"20240105 10:11:12.250", 1704449472.25},
                 {"Fri Jan  5 10:11:12 2024", 1704449472},
                 {"Jan 5 2024 10:11:12", 1704449472},
                 {"Jan  5 10:11:12", NAN},
                 {"10:11:12", NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double time = 0;
        assert_int_equal(stamp_read(cases[i].text, &time), strlen(cases[i].text));
        if (isnan(cases[i].time) ? !isnan(time) : fabs(time - cases[i].time) > 0.001)
            fail_msg("%s: %f", cases[i].text, time);
    }
    static const char *const none[] = {"2024-13-45 10:11:12x", "99:99:99", "2024", "Janus 5", ""};
    for (size_t i = 1; i < sizeof none / sizeof none[0]; i++) {
        double time;
        assert_int_equal(stamp_read(none[i], &time), 0);
    }
}

static void escapes_and_bad_bytes_are_made_safe(void **state)
{
    (void)state;
    static const struct {
        const char *raw;
        size_t length;
        const char *text;
    } cases[] = {{"\x1b[1;31mred\x1b[0m", 14, "red"},
                 {"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", 26, "link"},
                 {"a\0b\x01", 4, "ab"},
                 {"50%\b\b\b60%", 9, "60%"},
                 {"\xc3\xa4\xff\xc3", 4, "\xc3\xa4??"},
                 {"\xc2\x9b"
                  "31m",
                  5, "??31m"},
                 {"\xed\xa0\x80", 3, "???"},
                 {"cut \x1b[", 6, "cut"},
                 {"\x1b", 1, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct line line;
        line_clean(&line, cases[i].raw, cases[i].length);
        assert_string_equal(line.text, cases[i].text);
    }
}

static void deaths_are_read_with_rank_and_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool found, is_signal;
        int number, rank;
    } cases[] = {
        {"failed (exitcode: -9) local_rank: 2 (pid: 412) of binary: python", true, true, 9, 2},
        {"failed (exitcode: 1) local_rank: 0 (pid: 412) of binary: python", true, false, 1, 0},
        {"  traceback : Signal 15 (SIGTERM) received by PID 413", true, true, 15, -1},
        {"['python', '--local_rank=7'] exits with return code = -7", true, true, 7, 7},
        {"mpirun noticed that process rank 3 with PID 0 on node n exited on signal 11 (Segmentation fault).", true, true, 11, 3},
        {"srun: error: node-1: task 5: Killed", true, true, 9, 5},
        {"srun: error: node-1: task 6: Exited with exit code 1", true, false, 1, 6},
        {"srun: error: node-1: task 4: Out Of Memory", true, true, 9, 4},
        {"Command '['python', 'x.py']' died with <Signals.SIGSEGV: 11>.", true, true, 11, -1},
        {"DataLoader worker (pid 1002) is killed by signal: Killed.", true, true, 9, -1},
        {"Caught signal 7 (Bus error: nonexistent physical address)", true, true, 7, -1},
        {"./run.sh: line 12:  4242 Killed                  python train.py", true, true, 9, -1},
        {"Segmentation fault (core dumped)", true, true, 11, -1},
        {"Killed", true, true, 9, -1},
        {"Reason: OOMKilled", true, true, 9, -1},
        {"rank 1 exit code 1", true, false, 1, 1},
        {"rank 1 exit code 0", true, false, 0, 1},
        {"rank 1 exit code 137", true, true, 9, 1},
        {"Process 1 exit with status code 1.", true, false, 1, 1},
        {"the movie Killed was fine", false, false, 0, 0},
        {"HTTP status code 500", false, false, 0, 0},
        {"SIGTERM handler installed", false, false, 0, 0},
        {"the exit code is documented below", false, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct line line;
        struct death death;
        line_clean(&line, cases[i].text, strlen(cases[i].text));
        bool found = death_read(&line, &death);
        if (found != cases[i].found)
            fail_msg("%s: %d", cases[i].text, found);
        if (found && (death.is_signal != cases[i].is_signal || death.number != cases[i].number || death.rank != cases[i].rank))
            fail_msg("%s: signal %d number %d rank %d", cases[i].text, death.is_signal, death.number, death.rank);
    }
}

static void error_lines_are_told_from_figures_and_advice(void **state)
{
    (void)state;
    static const char *const errors[] = {"Error 4126: Unresponsive receiver", "Test CUDA failure common.cu:1007 'busy'",
                                         "ERROR: None of TensorFlow, PyTorch, or MXNet plugins were built"};
    static const char *const harmless[] = {
        "test finished with 0 errors, 0 failed",
        "step 10 max error 1e-6",
        "validation error 0.25",
        "val-error-top1: 0.31904",
        "train_error(%): 12.25, 40 s",
        "$ grep -c error train.log",
        "Error = 0.0013 after 10 steps",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1 on error",
        "    raise RuntimeError(message)",
        "INFO:root:retry failed, trying again",
        "E0000 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)",
        "[W socket.cpp:663] [c10d] The client socket has failed to connect to [::1]:29500"};
    struct line line;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        line_clean(&line, errors[i], strlen(errors[i]));
        assert_true(is_error_line(&line));
    }
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        line_clean(&line, harmless[i], strlen(harmless[i]));
        if (is_error_line(&line))
            fail_msg("%s", harmless[i]);
    }
}

/* What a program could print, as its source shows it, against what it printed. */
static void source_of_a_message_is_no_message(void **state)
{
    (void)state;
    static const char *const source[] = {"            raise ValueError(\"Invalid learning rate: {}\".format(lr))",
                                         "    raise NotImplementedError(msg)",
                                         "        warnings.warn('size mismatch for {}: copying a param')",
                                         "logger.error(f\"Port is absent in endpoint: {endpoint}\")",
                                         "                    if param.grad is None:",
                                         "        fprintf(stderr, \"PMI_Init failed: %d\", rc);",
                                         "                \"Modules must not have hooks registered. \" + \\",
                                         "            f\"Tensor storage should have been resized to be 0 but got {size}\",",
                                         "            \"rank is absent in RendezvousParameters.\")",
                                         "        assert param.is_cuda, \"must be CUDA tensors.\"",
                                         "        >>> torch.distributed.rpc.init_rpc('worker', rank=0, world_size=1)",
                                         "    # (incurs \"RuntimeError: CUDA error: operation not permitted\")"};
    static const char *const message[] = {"ValueError: Invalid learning rate: -1",
                                          "raise a RuntimeError by hand",
                                          "    raise the number of open files",
                                          "    \"message\": \"CUDA error: out of memory\",",
                                          "            \"message\": \"CUDA error: out of memory\",",
                                          "    dist.init_process_group(\"nccl\")",
                                          "AssertionError: must be CUDA tensors.",
                                          ">>> RuntimeError: CUDA error: out of memory",
                                          "# torchrun --nproc_per_node 2 train.py",
                                          "\"CUDA error: out of memory\""};
    struct line line;
    for (size_t i = 0; i < sizeof source / sizeof source[0]; i++) {
        line_clean(&line, source[i], strlen(source[i]));
        if (!is_source_of_message(&line))
            fail_msg("%s", source[i]);
    }
    for (size_t i = 0; i < sizeof message / sizeof message[0]; i++) {
        line_clean(&line, message[i], strlen(message[i]));
        if (is_source_of_message(&line))
            fail_msg("%s", message[i]);
    }
}

static void exceptions_have_a_type_and_a_role(void **state)
{
    (void)state;
    struct span type, message;
    assert_true(exception_read("torch.cuda.OutOfMemoryError: CUDA out of memory.", false, &type, &message));
    assert_int_equal(type.length, strlen("torch.cuda.OutOfMemoryError"));
    assert_string_equal(message.text, "CUDA out of memory.");
    assert_true(exception_read("_pickle.PicklingError: Can't pickle x", false, &type, &message));
    assert_true(exception_read("AssertionError", true, &type, &message));
    assert_false(exception_read("AssertionError", false, &type, &message));
    assert_false(exception_read("raise ValueError: x", false, &type, &message));
    assert_false(exception_read("error: x", false, &type, &message));
    /* A manual's list of what a function raises. Behind frames it is a message all the same. */
    assert_false(exception_read("    ValueError: If the size is negative", false, &type, &message));
    assert_true(exception_read("    ValueError: If the size is negative", true, &type, &message));
    assert_true(exception_read("ValueError: when called, the group was gone", false, &type, &message));
    assert_int_equal(exception_role("RuntimeError", "Connection closed by peer [1]:2"), ROLE_CASCADE);
    assert_int_equal(exception_role("torch.distributed.elastic.multiprocessing.errors.ChildFailedError", ""), ROLE_CASCADE);
    assert_int_equal(exception_role("KeyboardInterrupt", ""), ROLE_TEARDOWN);
    assert_int_equal(exception_role("ValueError", "bad sample"), ROLE_INITIATING);
    assert_true(is_user_file("/opt/app/train.py"));
    assert_false(is_user_file("/usr/lib/python3/dist-packages/torch/nn/modules/module.py"));
}

static char versions[512];

static void on_version(void *context, const char *component, const char *version, size_t length)
{
    (void)context;
    char entry[128];
    size_t used = strlen(versions);
    (void)snprintf(entry, sizeof entry, "%s=%.*s;", component, (int)length, version);
    if (!strstr(versions, entry)) /* two marks may tell the same */
        (void)snprintf(versions + used, sizeof versions - used, "%s", entry);
}

static void versions_are_read(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"NCCL version 2.21.5+cuda12.4", "nccl=2.21.5+cuda12.4;"},
        {"PyTorch version: 2.9.0+cu126", "torch=2.9.0+cu126;"},
        {"nvidia-nccl-cu12==2.21.5", "nccl=2.21.5;"},
        {"nvidia_nccl_cu12-2.19.3-py3-none-manylinux1_x86_64.whl", "nccl=2.19.3;"},
        {"torch                    2.8.0+cu128", "torch=2.8.0+cu128;"},
        {"[pip3] torch 1.2.0", "torch=1.2.0;"},
        {"Found existing installation: pytorch_lightning-1.9.0 and flash-attn==2.5.6", "lightning=1.9.0;flash-attn=2.5.6;"},
        {"so ray 2.0 times as fast", ""},
        {"my-torch-2.0 mytorch==2.0 -1.5 ==2.0", ""},
        {"mxnet-cu101==1.6.0", "mxnet=1.6.0;"},
        {"Horovod v0.16.4", "horovod=0.16.4;"},
        {"mpirun (Open MPI) 4.1.4", "openmpi=4.1.4;"},
        {"/opt/env/lib/python3.10/site-packages/x.py", "python=3.10;"},
        {"import torch 5", ""},
        {"| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4 |", "cuda=12.4;driver=550.54.15;"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct line line;
        versions[0] = '\0';
        line_clean(&line, cases[i][0], strlen(cases[i][0]));
        versions_read(&line, on_version, NULL);
        assert_string_equal(versions, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_are_taken_off),
        cmocka_unit_test(stamps_are_seconds_since_the_epoch),
        cmocka_unit_test(escapes_and_bad_bytes_are_made_safe),
        cmocka_unit_test(deaths_are_read_with_rank_and_number),
        cmocka_unit_test(error_lines_are_told_from_figures_and_advice),
        cmocka_unit_test(source_of_a_message_is_no_message),
        cmocka_unit_test(exceptions_have_a_type_and_a_role),
        cmocka_unit_test(versions_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
