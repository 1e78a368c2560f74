#!/usr/bin/env python3
"""Step time of PyTorch DDP over NCCL with one rank, for the mlp 784-2048-2048-10 with batch 256 in float32."""

import os
import statistics
import time

import torch
from torch import nn

WARMUP, STEPS, BATCH = 10, 100, 256


def main():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29671", RANK="0", WORLD_SIZE="1")
    torch.distributed.init_process_group("nccl")
    torch.backends.cuda.matmul.allow_tf32 = False
    model = nn.Sequential(nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    x = torch.randn(BATCH, 784, device="cuda")
    labels = torch.randint(10, (BATCH,), device="cuda")
    times = []
    for step in range(WARMUP + STEPS):
        begin = time.perf_counter()
        loss = nn.functional.cross_entropy(model(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()  # as ddbench reads it
        torch.cuda.synchronize()
        if step >= WARMUP:
            times.append(time.perf_counter() - begin)
    torch.distributed.destroy_process_group()
    median = statistics.median(times)
    print(f"torch {torch.__version__}: step {median * 1e3:.3f} ms, {BATCH / median:.1f} samples/s")


if __name__ == "__main__":
    main()
