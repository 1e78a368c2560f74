"""Trains a network with PyTorch's profiler on, and writes the trace of this rank into a folder: profiled.py FOLDER [STEPS
[WIDTH [BATCH]]]. The profiler leaves out the first two steps."""

import sys

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, schedule


def main(folder, steps=6, width=128, batch=32):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    network = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.ReLU(), torch.nn.Linear(2 * width, width))
    model = torch.nn.parallel.DistributedDataParallel(network, bucket_cap_mb=0.1 * (width / 128)**2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=steps), record_shapes=True,
                 on_trace_ready=lambda p: p.export_chrome_trace(f"{folder}/rank{rank}.json")) as profiler:
        for _ in range(steps + 2):
            loss = model(torch.randn(batch, width)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()
    dist.destroy_process_group()


main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
