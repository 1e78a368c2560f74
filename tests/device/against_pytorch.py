#!/usr/bin/env python3
"""gpt2-124m in bfloat16 on one GPU: ddbench's reference engine against PyTorch, eager and compiled, and what the probes of each
cost. The sides are interleaved; prints ratios, larger is better for ddbench.

    against_pytorch.py throughput DDBENCH
    against_pytorch.py overhead DDBENCH
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BATCH, SEQUENCE = 8, 1024


def of_ddbench(ddbench, steps):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([ddbench, "run", "--device", "cuda", "--workload", "gpt2-124m", "--precision", "bf16", "--batch-per-gpu",
                               str(BATCH), "--optimizer", "adamw", "--lr", "0.0003", "--warmup", "10", "--steps", str(steps),
                               "--no-baseline", "--quiet", "--json", "--db", f"{folder}/results.db"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ddbench: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def of_pytorch(*options):
    done = subprocess.run([sys.executable, HERE / "pytorch_gpt2.py", "--batch", str(BATCH), "--sequence", str(SEQUENCE), *options],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"PyTorch: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def throughput(ddbench):
    before = of_ddbench(ddbench, 40)
    eager = of_pytorch("--steps", "40")
    compiled = of_pytorch("--steps", "40", "--compile")
    after = of_ddbench(ddbench, 40)
    tokens = statistics.mean(run["samples_per_s"] * SEQUENCE for run in (before, after))
    mfu = f"MFU {100 * after['mfu']:.1f} %" if after["mfu"] is not None else f"MFU not known: {after['missing']['mfu']}"
    print(f"gpt2-124m bf16, batch {BATCH}: {tokens:,.0f} tokens/s, {mfu}; "
          f"{tokens / eager['tokens_per_s']:.2f} times PyTorch {eager['torch']} eager ({eager['tokens_per_s']:,.0f}), "
          f"{tokens / compiled['tokens_per_s']:.2f} times compiled ({compiled['tokens_per_s']:,.0f})")


def overhead(ddbench):
    run = of_ddbench(ddbench, 200)  # every fourth of them without probes
    told = run["probe_overhead"]
    theirs = of_pytorch("--windows", "--steps", "100")
    cost = 100 * (theirs["profiled_step_ms"] / theirs["step_ms"] - 1)
    ours = f"{run['probe_overhead_percent']:+.2f} % (95 % CI {told['ci_low']:+.2f} to {told['ci_high']:+.2f})" if told and run["probe_overhead_percent"] is not None else "not known"
    print(f"of a gpt2-124m bf16 step: ddbench's probes {ours}; torch.profiler {cost:+.2f} % of PyTorch's eager step")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("throughput", "overhead"):
        sys.exit(__doc__)
    {"throughput": throughput, "overhead": overhead}[sys.argv[1]](sys.argv[2])
