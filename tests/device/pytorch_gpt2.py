#!/usr/bin/env python3
"""GPT-2 as PyTorch's users train it: autocast to bfloat16, scaled_dot_product_attention, AdamW, DistributedDataParallel, and
optionally torch.compile. The same model, batch and sequence as ddbench's workload. Prints one line of JSON, and writes it to
--result. A rank of a world that its environment describes (torchrun, `ddbench run --`), or a world of one.

    --profiler       makes as many steps again, recorded with torch.profiler
    --profile FILE   records the measured steps with torch.profiler, and writes what it recorded to FILE.<rank>.json
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import statistics
import time

os.environ.setdefault("RANK", "0")
os.environ.setdefault("WORLD_SIZE", "1")
os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29671")
# NCCL refuses ranks of one host on one GPU; so each is a host of its own.
os.environ.setdefault("NCCL_HOSTID", f"rank{os.environ['RANK']}")

import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 50257


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.attention(self.ln_1(x)).split(c, 2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, layers, width, sequence):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(sequence, width)
        self.blocks = nn.Sequential(*(Block(width, width // 64) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens, labels):
        x = self.blocks(self.tokens(tokens) + self.places.weight[: tokens.shape[1]])
        logits = functional.linear(self.ln_f(x), self.tokens.weight)
        return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


class Training:
    def __init__(self, options):
        self.cuda = torch.cuda.is_available()
        torch.distributed.init_process_group("nccl" if self.cuda else "gloo")
        self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count()) if self.cuda else "cpu"
        if self.cuda:
            torch.cuda.set_device(self.device)
        torch.manual_seed(0)
        model = Gpt2(options.layers, options.width, options.sequence).to(self.device)
        if options.compile:
            model.compile()  # inside of DDP, which else splits the graph at its buckets
        self.model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, **({"fused": True} if self.cuda else {}))
        shape = (options.batch, options.sequence)
        self.batches = [[torch.randint(VOCABULARY, shape, device=self.device) for _ in range(2)] for _ in range(4)]
        # Marks a step if ddbench records; does nothing otherwise.
        self.mark_step = getattr(ctypes.CDLL(None), "ddbench_step", lambda: None)

    def step(self, number):
        """In seconds, from one moment at which the GPU has nothing to do to the next."""
        begin = time.perf_counter()
        self.mark_step()
        with torch.autocast("cuda" if self.cuda else "cpu", torch.bfloat16):
            loss = self.model(*self.batches[number % 4])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        loss.item()  # as ddbench reads it
        if self.cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - begin


def profiler():
    activities = [torch.profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=activities)


def measure(training, options):
    recording = profiler() if options.profile else contextlib.nullcontext()
    with recording:
        times = [training.step(i) for i in range(options.steps)]
    if options.profile:
        recording.export_chrome_trace(f"{options.profile}.{os.environ['RANK']}.json")
    median = statistics.median(times)
    result = {"step_ms": 1e3 * median, "tokens_per_s": options.batch * options.sequence / median, "steps": options.steps}
    if options.profiler:
        with profiler():
            result["profiled_step_ms"] = 1e3 * statistics.median(training.step(i) for i in range(options.steps))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--profile", default="")
    parser.add_argument("--profiler", action="store_true")
    parser.add_argument("--result", default=os.devnull)
    options = parser.parse_args()
    training = Training(options)
    for i in range(options.warmup):
        training.step(i)
    result = measure(training, options)
    if os.environ["RANK"] == "0":
        line = json.dumps({"torch": torch.__version__, **result})
        pathlib.Path(options.result).write_text(line)
        print(line, flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
