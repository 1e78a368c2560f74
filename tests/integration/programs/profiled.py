"""Trains a small network with PyTorch's profiler on, and writes the trace of this rank into a folder."""

import sys

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 6


def main(folder):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    network = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128))
    model = torch.nn.parallel.DistributedDataParallel(network, bucket_cap_mb=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=STEPS), record_shapes=True,
                 on_trace_ready=lambda p: p.export_chrome_trace(f"{folder}/rank{rank}.json")) as profiler:
        for _ in range(STEPS + 2):
            loss = model(torch.randn(32, 128)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()
    dist.destroy_process_group()


main(sys.argv[1])
