#!/usr/bin/env python3
"""ddbench's reference engine against PyTorch DDP over Gloo: same models, batch, ranks and cores, one thread a rank.

Runs both on 1 and 2 ranks, interleaved, and prints how many times as fast ddbench trains, with the 95 % interval over
rounds (Student's t of logarithms), and how many times the memory it takes.

    /usr/bin/python3 tests/bench/engine/against_pytorch.py [rounds] [model ...]
"""

import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
DDBENCH = ROOT / "build/release/bin/ddbench"
PORT = 29660
WARMUP = 5
STUDENT_975 = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
# Model: batch a rank, measured steps, options of the workload.
CASES = {"mlp": (64, 100, []), "resnet18": (16, 12, ["-O", "image=32"]), "gpt2-nano": (16, 30, [])}


def models():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.skip = (nn.Identity() if stride == 1 and inputs == outputs else
                         nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)))

        def forward(self, x):
            y = torch.relu(self.bn1(self.conv1(x)))
            return torch.relu(self.bn2(self.conv2(y)) + self.skip(x))

    def resnet18():
        blocks, inputs = [], 64
        for stage, outputs in enumerate((64, 128, 256, 512)):
            blocks += [Block(inputs, outputs, 1 if stage == 0 else 2), Block(outputs, outputs, 1)]
            inputs = outputs
        return nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *blocks,
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))

    class Transformer(nn.Module):
        def __init__(self, width=128, heads=4):
            super().__init__()
            self.heads = heads
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))
            self.register_buffer("mask", torch.full((64, 64), float("-inf")).triu(1))

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.attention(self.ln_1(x)).split(c, 2))
            scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5 + self.mask[:t, :t]
            x = x + self.projection((scores.softmax(3) @ v).transpose(1, 2).reshape(b, t, c))
            return x + self.mlp(self.ln_2(x))

    class Gpt2(nn.Module):
        def __init__(self, vocabulary=65, width=128, layers=4):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(64, width)
            self.blocks = nn.Sequential(*(Transformer(width) for _ in range(layers)))
            self.ln_f = nn.LayerNorm(width)

        def forward(self, tokens):
            x = self.blocks(self.tokens(tokens) + self.places.weight[: tokens.shape[1]])
            return self.ln_f(x) @ self.tokens.weight.T

    def mlp():
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))

    return {"mlp": (mlp, lambda b: (torch.randn(b, 784), torch.randint(10, (b,)))),
            "resnet18": (resnet18, lambda b: (torch.randn(b, 3, 32, 32), torch.randint(10, (b,)))),
            "gpt2-nano": (Gpt2, lambda b: (torch.randint(65, (b, 64)), torch.randint(65, (b, 64))))}


def train_as_pytorch(name, batch, steps):
    """One rank. Batches are made once: what PyTorch's loader costs is not what is compared."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(os.environ["RANK"]) % len(cores)]})
    dist.init_process_group("gloo")
    make_model, make_batch = models()[name]
    model = torch.nn.parallel.DistributedDataParallel(make_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batches = [make_batch(batch) for _ in range(4)]
    times = []
    for step in range(WARMUP + steps):
        begin = time.monotonic()
        inputs, labels = batches[step % 4]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs).flatten(0, -2), labels.flatten()).backward()
        optimizer.step()
        times.append(time.monotonic() - begin)
    status = pathlib.Path("/proc/self/status").read_text()
    peak_kb = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    print(json.dumps({"step_ns": 1e9 * statistics.median(times[WARMUP:]), "peak_bytes": 1024 * peak_kb}))


def of_pytorch(name, ranks):
    batch, steps, _ = CASES[name]
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(PORT),
                           OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
        processes.append(subprocess.Popen([sys.executable, __file__, "--rank", name, str(batch), str(steps)],
                                          env=environment, stdout=subprocess.PIPE, text=True))
    results = [json.loads(process.communicate()[0]) for process in processes]
    return max(r["step_ns"] for r in results), max(r["peak_bytes"] for r in results), 0


def of_ddbench(name, ranks, directory):
    batch, steps, options = CASES[name]
    done = subprocess.run([DDBENCH, "run", "--workload", name, *options, "--nodes", "1", "--gpus", str(ranks),
                           "--batch-per-gpu", str(batch), "--steps", str(steps), "--warmup", str(WARMUP), "--no-baseline",
                           "--quiet", "--json", "--db", directory / "results.db"], check=True, capture_output=True, text=True)
    run = json.loads(done.stdout)
    total = sum(part for part in run["partition_ns"].values() if part)
    peak = max(rank["peak_memory_bytes"] for rank in run["ranks"])
    return run["step_time_ns"]["value"], peak, run["communication_ns"] / total if ranks > 1 else 0


def compare(name, ranks, rounds, directory):
    ratios, memories, shares = [], [], []
    for round_ in range(rounds):
        sides = [lambda: of_ddbench(name, ranks, directory), lambda: of_pytorch(name, ranks)]
        results = [side() for side in sides] if round_ % 2 == 0 else [side() for side in sides[::-1]][::-1]
        (ours_ns, our_bytes, share), (theirs_ns, their_bytes, _) = results
        ratios.append(math.log(theirs_ns / ours_ns))
        memories.append(our_bytes / their_bytes)
        shares.append(share)
    half = STUDENT_975.get(rounds - 1, 2.0) * statistics.stdev(ratios) / math.sqrt(rounds)
    low, middle, high = (math.exp(statistics.mean(ratios) + shift) for shift in (-half, 0, half))
    print(f"{name:10} {ranks} rank{'s' if ranks > 1 else ' '}  throughput {middle:5.2f} times PyTorch's ({low:.2f} to {high:.2f})"
          f"   memory {statistics.mean(memories):.2f} times   communication {100 * statistics.mean(shares):.0f}% of a step",
          flush=True)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as directory:
        for name in sys.argv[2:] or CASES:
            for ranks in (1, 2):
                compare(name, ranks, rounds, pathlib.Path(directory))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        train_as_pytorch(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
