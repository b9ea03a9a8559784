"""One small distributed PyTorch job (CPU, gloo) that runs well or fails in a chosen way: job.py MODE."""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

TIMEOUT = datetime.timedelta(seconds=float(os.environ.get("JOB_TIMEOUT", "8")))


def start():
    dist.init_process_group("gloo", timeout=TIMEOUT)
    torch.manual_seed(7)
    return dist.get_rank(), dist.get_world_size()


def say(rank, text):
    if rank == 0:
        print(text, flush=True)


class Net(nn.Module):
    """Two layers; with `spare` a third one that forward() never uses."""

    def __init__(self, spare=False):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
        self.spare = nn.Linear(4, 4) if spare else None

    def forward(self, x):
        return self.body(x)


def loader(rank, world, workers=0, n=512):
    data = TensorDataset(torch.randn(n, 16), torch.randint(0, 4, (n,)))
    sampler = DistributedSampler(data, world, rank, shuffle=True, seed=7)
    return DataLoader(data, 32, sampler=sampler, num_workers=workers), sampler


def train(rank, world, epochs=2, workers=0, log=True, **ddp):
    model = DDP(Net(), **ddp)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    batches, sampler = loader(rank, world, workers)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for step, (x, y) in enumerate(batches):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            if log and step % 2 == 0:
                say(rank, f"epoch {epoch} step {step} loss {loss.item():.4f} error_rate {(loss.item() / 4):.3f}")
    return model


def healthy(rank, world):
    train(rank, world)
    say(rank, "training finished, 0 errors")


def healthy_workers(rank, world):
    train(rank, world, workers=2)
    say(rank, "training finished with 2 loader workers per rank")


def healthy_find_unused(rank, world):
    train(rank, world, find_unused_parameters=True)
    say(rank, "training finished")


def healthy_checkpoint(rank, world):
    path = os.environ["JOB_CHECKPOINT"]
    model = train(rank, world, log=False)
    if rank == 0:
        torch.save(model.module.state_dict(), path)
        print("checkpoint saved", flush=True)
    dist.barrier()
    Net().load_state_dict(torch.load(path, map_location="cpu"))
    print(f"rank {rank}: resumed from checkpoint, missing keys: 0, unexpected keys: 0", flush=True)


def healthy_collectives(rank, world):
    value = torch.full((1024,), float(rank + 1))
    dist.all_reduce(value)
    expected = world * (world + 1) / 2
    gathered = [torch.zeros(8) for _ in range(world)]
    dist.all_gather(gathered, torch.full((8,), float(rank)))
    dist.broadcast(value, 0)
    worst = (value - expected).abs().max().item()
    say(rank, f"all_reduce ok, all_gather ok, broadcast ok, max error {worst:.1e}, nan_count=0, mismatches: 0")


def healthy_slow(rank, world):
    if rank == 1:
        print("rank 1: data not ready, retrying in 2 s (attempt 1 of 5)", flush=True)
        time.sleep(2)
        print("rank 1: retry succeeded", flush=True)
    dist.barrier()
    train(rank, world, epochs=1)


def crash(rank, world):
    train(rank, world, epochs=1)
    if rank == 1:
        raise ValueError("sample 117 of shard 7 has no label")
    dist.barrier()


def mismatch(rank, world):
    dist.all_reduce(torch.ones(4 + rank))
    dist.broadcast(torch.ones(4 + rank), 0)


def model_mismatch(rank, world):
    DDP(nn.Linear(16, 4 + rank))


def missing(rank, world):
    if rank == 1:
        time.sleep(TIMEOUT.total_seconds() + 4)
        return
    dist.all_reduce(torch.ones(1))


def uneven(rank, world):
    for _ in range(10 if rank == 0 else 8):
        dist.all_reduce(torch.ones(64))
    if rank == 1:
        time.sleep(TIMEOUT.total_seconds() + 4)


def unused(rank, world):
    model = DDP(Net(spare=True))
    for _ in range(3):
        model(torch.randn(8, 16)).sum().backward()


def attribute(rank, world):
    model = DDP(Net())
    say(rank, f"training {model.body}")


def checkpoint(rank, world):
    path = os.environ["JOB_CHECKPOINT"]
    if rank == 0:
        torch.save(DDP(Net()).state_dict() if world == 1 else {f"module.{k}": v for k, v in Net().state_dict().items()}, path)
    dist.barrier()
    Net().load_state_dict(torch.load(path))


def path(rank, world):
    torch.load(f"/opt/out/run7/rank_{rank}.pt")


def loader_killed(rank, world):
    import signal

    class Bad(torch.utils.data.Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, i):
            if rank == 1 and i == 40:
                os.kill(os.getpid(), signal.SIGKILL)
            return torch.zeros(4)

    for _ in DataLoader(Bad(), 8, num_workers=1):
        dist.all_reduce(torch.ones(1))


def loader_raises(rank, world):
    class Bad(torch.utils.data.Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, i):
            if i == 40:
                raise FileNotFoundError(2, "No such file or directory", "/opt/data/train/000040.jpg")
            return torch.zeros(4)

    for _ in DataLoader(Bad(), 8, num_workers=2):
        dist.all_reduce(torch.ones(1))


def segfault(rank, world):
    import ctypes
    import faulthandler

    faulthandler.enable()
    if rank == 1:
        ctypes.string_at(0)
    dist.barrier()


def killed(rank, world):
    import signal

    train(rank, world, epochs=1)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()


def reduce_dtype(rank, world):
    dist.all_reduce(torch.ones(4, dtype=torch.complex64), op=dist.ReduceOp.MAX)


def shape(rank, world):
    train(rank, world, epochs=1, log=False)
    DDP(Net())(torch.randn(8, 12))


def no_cuda(rank, world):
    DDP(Net().to(f"cuda:{rank}"), device_ids=[rank])


MODES = {name: f for name, f in list(globals().items()) if callable(f) and getattr(f, "__code__", None)
         and f.__code__.co_varnames[:2] == ("rank", "world") and f.__code__.co_argcount == 2 and name != "loader"}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit("usage: job.py MODE, MODE one of: " + " ".join(sorted(MODES)))
    MODES[sys.argv[1]](*start())
    dist.destroy_process_group()
