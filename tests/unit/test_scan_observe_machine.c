/* What the machine answers to what was asked of it, and the environment of a job: services, limits, links, releases, launchers. */
#include "observed.h"

static void machines(void **state)
{
    (void)state;
    shows("$ systemctl is-failed nvidia-fabricmanager\nfailed\n", "the fabric manager failed to start, and CUDA said nothing");
    shows("$ systemctl status nvidia-fabricmanager\n  Loaded: loaded\n   Active: inactive (dead)\n", "fabric manager is not running");
    shows_nothing("$ systemctl is-active nvidia-fabricmanager\nactive\n$ systemctl is-active other\ninactive\n");
    shows("UCX  WARN  no active port\n$ srun bash -c 'ulimit -S -l'\n64\n", "machine: locked memory is limited to 64 kB");
    shows_nothing("$ ulimit -l\n64\n");
    shows("RuntimeError: Unable to pin host memory\n$ bash -c 'ulimit -l; ulimit -l unlimited'\n64\n",
          "host memory cannot be pinned beyond 64 kB");
    shows_nothing("RuntimeError: Unable to pin host memory\n$ ulimit -l unlimited; nproc\n64\n");
    shows("mlx5_0 is up\n$ lsmod | grep -i peer\n$\n", "no module for peer memory is loaded");
    shows("mlx5_0 is up\n$ for h in a b; do echo \"$h: $(ssh $h lsmod | grep -c '^nv_peer_mem')\"; done\na: 1\nb: 0\n",
          "no module for peer memory is loaded");
    shows_nothing("mlx5_0 is up\n$ lsmod | grep -c peermem\n1\n");
    shows_nothing("mlx5_0 is up\n$ lsmod | grep -i peer\nnvidia_peermem         16384  0\n");
    shows_nothing("all is up\n$ lsmod | grep -i peer\n$\n");
    shows_nothing("UCX  INFO  ready\n$ ulimit -l\nunlimited\n$ cat count\n64\n");
    shows("$ nvidia-smi topo -m\n\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-119\nGPU1\tPHB\t X \t0-119\nNVIDIA A100-SXM4-80GB, 100 %\n",
          "no NVLink joins the 2 GPUs, which are SXM modules");
    shows_nothing("\tGPU0\tGPU1\tmlx5_0\nGPU0\t X \tNV12\tPHB\nGPU1\tNV12\t X \tPHB\nNVIDIA A100-SXM4-80GB, 4 %\n");
    shows_nothing("\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \nNVIDIA A100-PCIE-40GB, 4 %\n");
    shows_nothing("\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV1\tSYS\nGPU1\tNV1\t X \tNV2\nGPU2\tSYS\tNV2\t X \nTesla V100-SXM2-16GB\n");
    shows_nothing("\tGPU0\tmlx5_0\nGPU0\t X \tPIX\nmlx5_0\tPIX\t X \nNVIDIA A100-SXM4-80GB, 4 %\n"); /* a GPU and an adapter */
    shows("\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \nGPU0: NVIDIA A100-SXM4-80GB\n", "no NVLink joins the 2 GPUs");
    shows("$ nvidia-smi --query-gpu=index,utilization.gpu,pcie.link.width.current --format=csv,noheader\n0, 3 %, 16\n1, 4 %, 1\n",
          "a GPU has 1 PCIe lanes where another has 16");
    shows_nothing("$ nvidia-smi --query-gpu=index,pcie.link.width.current,utilization.gpu --format=csv,noheader\n0, 16, 1 %\n1, 8, 1 %\n");
    shows("$ lspci -vv | grep -A30 VGA | grep LnkSta:\n\t\tLnkSta: Speed 8GT/s, Width x16\n\t\tLnkSta: Speed 2.5GT/s, Width x1\n",
          "a GPU has 1 PCIe lanes");
    shows_nothing("$ lspci -vv | grep LnkSta:\n\t\tLnkSta: Speed 8GT/s, Width x16\n\t\tLnkSta: Speed 2.5GT/s, Width x1\n");
    shows("$ for n in 2 6; do ssh node-$n nvidia-smi --query-gpu=driver_version --format=csv,noheader; done\n396.26\n418.67\n",
          "machine: drivers 396.26 and 418.67");
    shows_nothing("$ nvidia-smi --query-gpu=driver_version --format=csv,noheader\n418.67\n$ sudo apt upgrade\n"
                  "$ nvidia-smi --query-gpu=driver_version --format=csv,noheader\n535.54.03\n");
    shows_nothing("$ srun nvidia-smi --query-gpu=driver_version --format=csv,noheader\n418.67\n418.67\n");
    shows("nvidia-nccl-cu11==2.14.3\nnvidia-nccl-cu12==2.20.5\n$ pip freeze\nnvidia-nccl-cu11==2.14.3\nnvidia-nccl-cu12==2.19.3\n",
          "unlike releases of one NCCL package");
    shows_nothing("nvidia-nccl-cu11==2.14.3\nnvidia-nccl-cu12==2.20.5\n$ pip freeze\nnvidia-nccl-cu12==2.20.5\n");
    shows("$ ethtool eth0 | grep Speed\n\tSpeed: 10000Mb/s\n", "the link between the nodes has 10000 Mb/s");
    shows("$ cat /sys/class/net/eno1/speed\n1000\n", "the link between the nodes has 1000 Mb/s");
    shows_nothing("\tSpeed: 100000Mb/s\n$ cat /sys/class/net/ib0/speed\n200000\n");
    shows("Connection to node-0 closed by remote host.\n$ ssh node-0 uptime\n 17:47:30 up 2 min,  1 user,  load average: 0.44\n",
          "machine: it restarted");
    shows("client_loop: send disconnect: Broken pipe\nreboot   system boot  5.15.0 Thu Feb 23 10:14   still running\n", "it restarted");
    shows_nothing("reboot   system boot  5.15.0 Thu Feb 23 10:14   still running\n");
    shows_nothing("Connection to node-0 closed by remote host.\n 17:47:30 up 41 days,  1 user,  load average: 0.44\n");
}

#define PEERS(state, off) "Unidirectional P2P=" state " (GB/s)\n   D\\D     0      1\n     0 1512.33 " off "\n     1 " off " 1530.10\n"

static void links_within(void **state)
{
    (void)state;
    shows(PEERS("Enabled Bandwidth (P2P Writes) Matrix", "  6.21"), "direct copies between GPUs reach 6.2 GB/s");
    shows_nothing(PEERS("Enabled Bandwidth (P2P Writes) Matrix", " 24.80"));
    shows_nothing(PEERS("Disabled Bandwidth Matrix", "  6.21"));
    shows("pid 31002's current affinity list: 8\n", "may run on one processor only");
    shows_nothing("pid 31002's current affinity list: 0-7\npid 31003's current affinity list: 8,9\n");
    shows("   GID[  0]:   fe80::be97:e1ff:fe00:1a20, RoCE v1\n[RDMA] device bnxt_re0 gid_index 0\n", "GID 0 in use holds a link-local");
    shows_nothing("   GID[  0]:   fe80::be97:e1ff:fe00:1a20, RoCE v1\n GID index       : 3\n");
}

static void errors_named_beside(void **state)
{
    (void)state;
    struct findings findings = of_text("Error 802: system not yet initialized\n$ systemctl is-active nvidia-fabricmanager\ninactive\n");
    assert_non_null(telling(&findings, "the fabric manager is not running"));
    assert_null(telling(&findings, "CUDA said nothing"));
    findings_free(&findings);
}

static void setups(void **state)
{
    (void)state;
    shows("http_proxy=http://10.0.0.100:911\nUnavailableError: failed to connect to all addresses\n", "a proxy is set");
    shows("$ echo $http_proxy\nhttp://10.0.0.100:3128\ngrpc_client.cc:431] error_code:14 error_message:Connect Failed\n", "a proxy is set");
    shows_nothing("http_proxy=http://10.0.0.100:911\nDownloading model.bin\n");
    shows("http_proxy=http://127.0.0.1:7890\nredis.exceptions.ConnectionError: Connection closed by server.\n", "a proxy is set");
    shows("mpirun (Open MPI) 5.0.8\nOMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile\n",
          "settings of Open MPI 4's launcher for release 5.0");
    shows_nothing("mpirun (Open MPI) 4.1.6\nOMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile\n");
    shows_nothing("mpirun (Open MPI) 5.0.8\nOMPI_MCA_btl_tcp_if_include=eth0\n");
    shows_nothing("mpirun (Open MPI) 5.0.8\nOMPI_MCA_orte_default_hostfile=/a\nPRTE_MCA_prte_default_hostfile=/a\n");
    shows_nothing("no_proxy=localhost\nUnavailableError: failed to connect to all addresses\n");
    shows("rank 0/2 MASTER_ADDR=localhost MASTER_PORT=40113\nrank 1/2 MASTER_ADDR=localhost MASTER_PORT=51877\n",
          "name different rendezvous ports");
    shows_nothing("rank 0/2 MASTER_ADDR=a MASTER_PORT=40113\nrank 1/2 MASTER_ADDR=a MASTER_PORT=40113\n"
                  "rank 0/2 MASTER_ADDR=a MASTER_PORT=40999\nrank 1/2 MASTER_ADDR=a MASTER_PORT=40999\n");
    shows("set RANK=1\nset WORLD_SIZE=1\n", "RANK 1 is not below WORLD_SIZE 1");
    shows_nothing("RANK=0 LOCAL_RANK=0 WORLD_SIZE=8\nRANK=7 LOCAL_WORLD_SIZE=4 NODE_RANK=9 WORLD_SIZE=8\n");
    shows("$ CUDA_VISIBLE_DEVICES=1,2 deepspeed t.py\nSetting CUDA_VISIBLE_DEVICES=0,1\n", "in place of CUDA_VISIBLE_DEVICES=1,2");
    shows_nothing("$ CUDA_VISIBLE_DEVICES=0,1 deepspeed t.py\nSetting CUDA_VISIBLE_DEVICES=0,1\n");
    shows_nothing("Setting CUDA_VISIBLE_DEVICES=0,1\n");
    shows("$ python -m torch.distributed.launch --nproc_per_node 4 train.py --sync-bn --device 0,1,2\n",
          "4 processes are started for the 3 GPUs that the command names");
    shows("$ CUDA_VISIBLE_DEVICES=0 torchrun --nproc_per_node=2 train.py\n", "2 processes are started for the 1 GPUs");
    shows_nothing("$ CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py\n");
    shows_nothing("$ torchrun --nproc_per_node=2 train.py --device 0\n"); /* a number of something */
    static const char nccl[] = "ii  libnccl2  2.1.2-1+cuda9.0  amd64\nncclCommInitRank failed: unhandled cuda error\n";
    char text[256];
    (void)snprintf(text, sizeof text, "Cuda compilation tools, release 8.0, V8.0.61\n%s", nccl);
    shows(text, "NCCL is built for CUDA 9 and fails on CUDA 8");
    (void)snprintf(text, sizeof text, "I0404 10:13:38.892247 caffe.cpp:458] CUDA version: 8000\n%s", nccl);
    shows(text, "NCCL is built for CUDA 9 and fails on CUDA 8");
    (void)snprintf(text, sizeof text, "Cuda compilation tools, release 9.2, V9.2.148\n%s", nccl);
    shows_nothing(text);
    shows("| Driver Version: 470.82.01    CUDA Version: 11.4 |\nNCCL version 2.21.5+cuda12.4\nNCCL WARN Cuda failure 'x'\n",
          "NCCL is built for CUDA 12 and fails on CUDA 11");
    shows_nothing("| Driver Version: 470.82.01    CUDA Version: 11.4 |\nNCCL version 2.21.5+cuda12.4\n");
}

/* ---- what the job was at when ranks gave up waiting ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines),
        cmocka_unit_test(links_within),
        cmocka_unit_test(errors_named_beside),
        cmocka_unit_test(setups),
    };
    return cmocka_run_group_tests(tests, build, discard);
}
