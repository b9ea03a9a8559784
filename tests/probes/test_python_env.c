/* The python_env probe on environments made of empty files, metadata and hand-made ELF headers. */
#include "fixture.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

static const char *setting(const char *format, const char *path)
{
    static char texts[8][700];
    static unsigned next;
    char *out = texts[next++ % 8];
    (void)snprintf(out, sizeof texts[0], format, tree_path(path));
    return out;
}
#define PREFIX setting("prefix=%s", "env")

static void wheel(const char *site, const char *name, const char *version)
{
    char path[256], text[256];
    (void)snprintf(path, sizeof path, "%s/%s-%s.dist-info/METADATA", site, name, version);
    (void)snprintf(text, sizeof text, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n\nVersion: of the description\n", name, version);
    tree_file(path, text);
}

#define SITE "env/lib/python3.12/site-packages"

static void make_env(void)
{
    tree_program("env/bin/python3", "");
    tree_file(SITE "/README.txt", "");
    tree_file("env/include/python3.12/patchlevel.h", "#define PY_MAJOR_VERSION 3\n#define PY_VERSION      \"3.12.3\"\n");
}

/* A shared object with a dynamic section that needs `needed` and looks in `path` by `tag` (DT_RPATH, DT_RUNPATH or DT_NULL). */
static void library(const char *file, const char *needed, Elf64_Sxword tag, const char *path)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr programs[2];
        Elf64_Dyn dynamic[4];
        char strings[256];
    } image;
    memset(&image, 0, sizeof image);
    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS64;
    image.header.e_phoff = offsetof(__typeof__(image), programs);
    image.header.e_phnum = 2;
    image.header.e_phentsize = sizeof(Elf64_Phdr);
    image.programs[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x10000, .p_filesz = sizeof image};
    image.programs[1] =
        (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = offsetof(__typeof__(image), dynamic), .p_filesz = sizeof image.dynamic};
    int second = snprintf(image.strings + 1, 100, "%s", needed) + 2;
    (void)snprintf(image.strings + second, 150, "%s", path);
    image.dynamic[0] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un.d_val = 1};
    image.dynamic[1] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = (Elf64_Xword)second};
    image.dynamic[2] = (Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_ptr = 0x10000 + offsetof(__typeof__(image), strings)};
    if (tag == DT_NULL) { /* none: the table would end there */
        image.dynamic[1] = image.dynamic[2];
        image.dynamic[2] = (Elf64_Dyn){.d_tag = DT_NULL};
    }
    tree_bytes(file, &image, sizeof image);
}

static void torch(const char *version, const char *cuda)
{
    char text[128];
    wheel(SITE, "torch", version);
    (void)snprintf(text, sizeof text, "__version__ = '%s'\ndebug = False\ncuda: Optional[str] = %s\nhip: Optional[str] = None\n", version,
                   cuda);
    tree_file(SITE "/torch/version.py", text);
}

static void packages_by_their_metadata(void **state)
{
    (void)state;
    make_env();
    torch("2.9.0+cu128", "'12.8'");
    wheel(SITE, "flash_attn", "2.8.3");
    wheel(SITE, "nvidia_nccl_cu12", "2.27.5");
    wheel(SITE, "requests", "2.32.0"); /* of no interest */
    tree_file(SITE "/apex-0.1-py3.12.egg-info/PKG-INFO", "Name: apex\nVersion: 0.1\n");
    tree_file(SITE "/horovod-0.28.1-py3.12.egg-info", "Name: horovod\nVersion: 0.28.1\n");
    tree_file(SITE "/deepspeed-0.18.0.dist-info/RECORD", ""); /* METADATA lost: the folder's name tells */
    tree_file(SITE "/torch-2.9.0+cu128.dist-info/INSTALLER", "pip\n");
    RUN("python_env", PREFIX);
    status_is(PROBE_OK, "");
    fact_is_string("python.version", "3.12.3");
    fact_is_string("python.package.torch", "2.9.0+cu128");
    fact_is_string("python.package.flash-attn", "2.8.3");
    fact_is_string("python.package.apex", "0.1");
    fact_is_string("python.package.horovod", "0.28.1");
    fact_is_string("python.package.deepspeed", "0.18.0");
    fact_is_string("python.package.nvidia-nccl-cu12", "2.27.5");
    fact_is_string("python.torch.cuda", "12.8");
    fact_is_bool("python.torch.debian", false);
    fact_is_string("python.cuda_majors", "12");
    fact_is_bool("python.cuda_mixed", false);
    fact_is_bool("python.nccl_doubled", false);
    no_fact("python.package.requests");
    no_fact("python.shadowed");
}

static void builds_of_torch(void **state)
{
    (void)state;
    make_env();
    torch("2.9.0+cpu", "None");
    RUN("python_env", PREFIX);
    fact_is_string("python.torch.cuda", "cpu");
    tree_file(SITE "/torch/version.py", "cuda = None\nhip = '6.4.1'\n");
    RUN("python_env", PREFIX);
    fact_is_string("python.torch.cuda", "rocm");
    tree_file(SITE "/torch/version.py", "cuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n");
    wheel(SITE, "nvidia_cublas_cu12", "12.8.4.1");
    RUN("python_env", PREFIX);
    fact_is_bool("python.torch.cuda_mismatch", true);
    status_is(PROBE_FAULT, "built for CUDA 13, but the nvidia-* wheels are for CUDA 12");
    tree_file(SITE "/torch/version.py", "cuda: Optional[str] = '12.6'\n");
    RUN("python_env", PREFIX);
    fact_is_bool("python.torch.cuda_mismatch", false);
    status_is(PROBE_OK, "");
}

static void mixed_cuda_majors(void **state)
{
    (void)state;
    make_env();
    wheel(SITE, "nvidia_cublas_cu11", "11.11.3.6");
    wheel(SITE, "nvidia_cudnn_cu12", "9.10.2.21");
    RUN("python_env", PREFIX);
    fact_is_string("python.cuda_majors", "11,12");
    fact_is_bool("python.cuda_mixed", true);
    status_is(PROBE_FAULT, "wheels of CUDA 11,12");
}

static void wheels_of_cuda_13_have_no_suffix(void **state)
{
    (void)state;
    make_env();
    wheel(SITE, "nvidia_cuda_runtime", "13.0.48");
    wheel(SITE, "nvidia_nccl_cu13", "2.27.7");
    wheel(SITE, "nvidia_ml_py", "12.560.30"); /* no CUDA library, whatever its number */
    RUN("python_env", PREFIX);
    fact_is_string("python.cuda_majors", "13");
    status_is(PROBE_OK, "");
}

static void two_nccl_wheels_in_one_folder(void **state)
{
    (void)state;
    make_env();
    wheel(SITE, "nvidia_nccl_cu12", "2.27.5");
    wheel(SITE, "nvidia_nccl_cu11", "2.21.5");
    RUN("python_env", PREFIX);
    fact_is_bool("python.nccl_doubled", true);
    status_is(PROBE_FAULT, "");
}

static void another_folder_shadows(void **state)
{
    (void)state;
    make_env();
    wheel(SITE, "numpy", "2.1.0");
    wheel(SITE, "protobuf", "5.29.0");
    wheel("mine", "numpy", "1.26.4");
    wheel("mine", "protobuf", "5.29.0"); /* the same version harms nobody */
    RUN("python_env", PREFIX, setting("$PYTHONPATH=%s", "mine"));
    fact_is_string("python.package.numpy", "1.26.4");
    fact_is_string("python.shadowed", "numpy 1.26.4 over 2.1.0");
    wheel("home/.local/lib/python3.12/site-packages", "numpy", "1.24.0");
    RUN("python_env", PREFIX, setting("$HOME=%s", "home"));
    fact_is_string("python.package.numpy", "1.24.0");
    RUN("python_env", PREFIX, setting("$HOME=%s", "home"), "$PYTHONNOUSERSITE=1");
    fact_is_string("python.package.numpy", "2.1.0");
}

static void the_interpreter_that_a_job_would_use(void **state)
{
    (void)state;
    make_env();
    tree_program("venv/bin/python3", "");
    tree_file("venv/lib/python3.12/site-packages/x", "");
    tree_file("venv/pyvenv.cfg", setting("home = %s/bin\ninclude-system-site-packages = false\nversion = 3.12.9\n", "env"));
    wheel(SITE, "numpy", "2.1.0");
    RUN("python_env", setting("$VIRTUAL_ENV=%s", "venv"));
    fact_is_string("python.version", "3.12.9");
    no_fact("python.package.numpy");
    tree_file("venv/pyvenv.cfg", setting("home = %s/bin\ninclude-system-site-packages = true\nversion = 3.12.9\n", "env"));
    RUN("python_env", setting("$PATH=/nowhere:%s/bin", "venv"));
    fact_is_string("python.executable", tree_path("venv/bin/python3"));
    fact_is_string("python.package.numpy", "2.1.0");
    RUN("python_env", setting("$CONDA_PREFIX=%s", "env"));
    fact_is_string("python.executable", tree_path("env/bin/python3"));
    tree_link("links/python3", tree_path("env/bin/python3"));
    RUN("python_env", setting("$PATH=%s", "links"));
    fact_is_string("python.package.numpy", "2.1.0");
    tree_program("pyenv/shims/python3", "");
    tree_file("pyenv/version", "3.11.9\n");
    tree_program("pyenv/versions/3.11.9/bin/python3", "");
    tree_file("pyenv/versions/3.11.9/lib/python3.11/x", "");
    RUN("python_env", setting("$PATH=%s", "pyenv/shims"));
    fact_is_string("python.version", "3.11");
    RUN("python_env", "$PATH=/nowhere");
    status_is(PROBE_SKIPPED, "no Python");
    RUN("python_env", "prefix=/nowhere");
    status_is(PROBE_UNAVAILABLE, "prefix=/nowhere");
}

static void debian_packages_are_known(void **state)
{
    (void)state;
    tree_program("usr/bin/python3", "");
    tree_file("usr/lib/python3.11/os.py", "");
    tree_file("usr/lib/python3/dist-packages/torch-1.13.1.egg-info/PKG-INFO", "Name: torch\nVersion: 1.13.1\n");
    tree_file("usr/lib/python3/dist-packages/torch/version.py", "cuda = None\n");
    RUN("python_env", setting("prefix=%s", "usr"));
    fact_is_bool("python.torch.debian", true);
    fact_is_string("python.torch.cuda", "cpu");
}

static void the_nccl_that_is_loaded(void **state)
{
    (void)state;
    const char *wheels = SITE "/nvidia/nccl/lib/libnccl.so.2", *cuda_library = SITE "/torch/lib/libtorch_cuda.so";
    make_env();
    torch("2.9.0", "'12.8'");
    wheel(SITE, "nvidia_nccl_cu12", "2.27.5");
    tree_file(wheels, "");
    tree_file("opt/libnccl.so.2.18.3", "");
    tree_link("opt/libnccl.so.2", "libnccl.so.2.18.3");
    const char *path = setting("$LD_LIBRARY_PATH=%s", "opt");

    library(cuda_library, "libnccl.so.2", DT_RPATH, "$ORIGIN:$ORIGIN/../../nvidia/nccl/lib"); /* goes before LD_LIBRARY_PATH */
    RUN("python_env", PREFIX, path);
    fact_is_string("python.nccl.path", tree_path(wheels));
    fact_is_string("python.nccl.version", "2.27.5");

    library(cuda_library, "libnccl.so.2", DT_RUNPATH, "$ORIGIN/../../nvidia/nccl/lib"); /* comes after it */
    RUN("python_env", PREFIX, path);
    fact_is_string("python.nccl.path", tree_path("opt/libnccl.so.2.18.3"));
    fact_is_string("python.nccl.version", "2.18.3");
    RUN("python_env", PREFIX, "$X=1");
    fact_is_string("python.nccl.path", tree_path(wheels));
    RUN("python_env", PREFIX, setting("$LD_PRELOAD=%s", "opt/libnccl.so.2.18.3"));
    fact_is_string("python.nccl.path", tree_path("opt/libnccl.so.2.18.3"));

    library(cuda_library, "libcudart.so.12", DT_RPATH, "$ORIGIN");
    RUN("python_env", PREFIX, path);
    fact_is_string("python.nccl.path", "bundled");
}

static void a_missing_nccl_is_a_fault(void **state)
{
    (void)state;
    make_env();
    torch("2.9.0", "'12.8'");
    library(SITE "/torch/lib/libtorch_cuda.so", "libnccl.so.2", DT_RPATH, "$ORIGIN/../../nvidia/nccl/lib");
    RUN("python_env", PREFIX, "$X=1", "library_folders=/nowhere");
    fact_is_string("python.nccl.path", "none");
    status_is(PROBE_FAULT, "needs libnccl.so.2 and none is found");
}

static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    make_env();
    torch("2.9.0", "'12.8");
    tree_file(SITE "/numpy-1.0.dist-info/METADATA", "Version");
    tree_file(SITE "/-.dist-info/METADATA", "Version: 1\n");
    tree_file(SITE "/jax-.dist-info/x", "");
    tree_file(SITE "/ray.egg-info", "Name: ray\nVersion:\n");
    unsigned char bytes[1024];
    library(SITE "/torch/lib/libtorch_cuda.so", "libnccl.so.2", DT_RPATH, "$ORIGIN");
    FILE *file = fopen(tree_path(SITE "/torch/lib/libtorch_cuda.so"), "r");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    for (size_t at = 0; at < size; at += 7) { /* each part of the headers spoilt in turn, and the file cut there */
        unsigned char kept = bytes[at];
        bytes[at] = 0xff;
        tree_bytes(SITE "/torch/lib/libtorch_cuda.so", bytes, at % 2 ? size : at + 1);
        bytes[at] = kept;
        RUN("python_env", PREFIX, "$X=1");
        assert_int_not_equal(ran.result->status, PROBE_CRASHED);
        assert_int_not_equal(ran.result->status, PROBE_BAD_OUTPUT);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_start, tree_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(packages_by_their_metadata),
        TEST(builds_of_torch),
        TEST(mixed_cuda_majors),
        TEST(wheels_of_cuda_13_have_no_suffix),
        TEST(two_nccl_wheels_in_one_folder),
        TEST(another_folder_shadows),
        TEST(the_interpreter_that_a_job_would_use),
        TEST(debian_packages_are_known),
        TEST(the_nccl_that_is_loaded),
        TEST(a_missing_nccl_is_a_fault),
        TEST(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
