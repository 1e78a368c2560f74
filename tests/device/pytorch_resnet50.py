#!/usr/bin/env python3
"""resnet50 as PyTorch's users train it: torchvision's model, channels last, autocast to bfloat16, SGD, DistributedDataParallel, cuDNN's
benchmark mode, and optionally torch.compile. Synthetic images that are on the GPU, as ddbench's are when a step begins. Prints one line of JSON."""

import argparse
import json
import os
import statistics
import time

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29672", RANK="0", WORLD_SIZE="1")

import torch
import torchvision
from torch import nn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.distributed.init_process_group("nccl")
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True  # engines by trial, as ddbench chooses its own
    model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    if options.compile:
        model.compile()
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0], gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images = torch.randn(options.batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(1000, (options.batch,), device="cuda")
    times = []
    for _ in range(options.warmup + options.steps):
        begin = time.perf_counter()
        with torch.autocast("cuda", torch.bfloat16):
            loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss.item()  # as ddbench reads it
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    torch.distributed.destroy_process_group()
    median = statistics.median(times[options.warmup:])
    print(json.dumps({"torch": torch.__version__, "step_ms": 1e3 * median, "images_per_s": options.batch / median}))


if __name__ == "__main__":
    main()
