"""Plain DDP as tutorials write it: knows nothing of ddbench. `accumulate` micro-batches a step through no_sync."""

import argparse
import contextlib
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--hidden", type=int, default=512)
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--evaluate-every", type=int, default=0)
parser.add_argument("--checkpoint-every", type=int, default=0)
parser.add_argument("--checkpoint", default="")
parser.add_argument("--profile", default="")
options = parser.parse_args()

torch.manual_seed(0)
dist.init_process_group("gloo")
rank = dist.get_rank()
model = DistributedDataParallel(torch.nn.Sequential(
    torch.nn.Linear(784, options.hidden), torch.nn.ReLU(),
    torch.nn.Linear(options.hidden, options.hidden), torch.nn.ReLU(), torch.nn.Linear(options.hidden, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
generator = torch.Generator().manual_seed(rank)
profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) if options.profile else None
with profiler or contextlib.nullcontext():
    ends = []
    for step in range(options.steps):
        if step == options.steps // 4:
            ends, begin_processor = [time.monotonic()], time.process_time()
        optimizer.zero_grad()
        for micro in range(options.accumulate):
            last = micro + 1 == options.accumulate
            with contextlib.nullcontext() if last else model.no_sync():
                inputs = torch.randn(options.batch, 784, generator=generator)
                labels = torch.randint(0, 10, (options.batch,), generator=generator)
                loss = torch.nn.functional.cross_entropy(model(inputs), labels)
                loss.backward()
        optimizer.step()
        if options.evaluate_every and (step + 1) % options.evaluate_every == 0:
            with torch.no_grad():
                correct = (model(torch.randn(2048, 784)).argmax(1) == 0).float().mean()
            dist.all_reduce(correct)
        if options.checkpoint_every and (step + 1) % options.checkpoint_every == 0 and rank == 0:
            for part in range(20):
                torch.save(model.state_dict(), f"{options.checkpoint}.{part}")
        ends.append(time.monotonic())
    steps = sorted(end - begin for begin, end in zip(ends, ends[1:]))
    step_ms, tenth_ms, processor_ms = (1000 * seconds for seconds in (
        sum(steps) / len(steps), steps[len(steps) // 10], (time.process_time() - begin_processor) / len(steps)))
    if profiler:
        time.sleep(0.3)  # its last events end in other threads
if profiler:
    profiler.export_chrome_trace(f"{options.profile}.{rank}.json")
os.write(1, f"rank {rank} loss {loss.item():.4f}, {step_ms:.3f} ms a step, {tenth_ms:.3f} ms in the fastest tenth, {processor_ms:.3f} ms of processor\n".encode())  # one write: ranks may share a pipe
dist.destroy_process_group()
