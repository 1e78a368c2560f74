#!/usr/bin/env python3
"""The same PyTorch DDP steps broken down by ddbench, which watches the program from outside, and by PyTorch's own profiler:
compute, communication and their overlap of a step. Exit code 1 when one of them differs by more than 2 % of a step.

    breakdown.py DDBENCH [ranks]        ranks share a GPU where there are fewer
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WARMUP, STEPS = 5, 25
TRAINING = [sys.executable, HERE / "pytorch_gpt2.py", "--layers", "6", "--batch", "4"]
TOLERANCE = 0.02


def by_ddbench(ddbench, ranks, folder):
    done = subprocess.run([ddbench, "run", "--gpus", str(ranks), "--share-gpus", "--device", "cuda", "--warmup", str(WARMUP),
                           "--no-baseline", "--quiet", "--json", "--db", f"{folder}/results.db", "--", *TRAINING, "--warmup",
                           str(WARMUP), "--steps", str(STEPS)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ddbench: {(done.stderr + done.stdout).strip()[-500:]}")
    run = json.loads(done.stdout)
    parts = run["partition_ns"]
    return {"step": run["partition_step_ns"], "compute": parts["compute"], "communication": run["communication_ns"] or 0,
            "overlap": run["overlap_ns"] or 0}


def length(intervals):
    """Of the union, and the union itself."""
    union = []
    for begin, end in sorted(intervals):
        if union and begin <= union[-1][1]:
            union[-1][1] = max(union[-1][1], end)
        else:
            union.append([begin, end])
    return sum(end - begin for begin, end in union), union


def overlap(a, b):
    total, j = 0, 0
    for begin, end in a:
        while j < len(b) and b[j][1] <= begin:
            j += 1
        k = j
        while k < len(b) and b[k][0] < end:
            total += min(end, b[k][1]) - max(begin, b[k][0])
            k += 1
    return total


def by_profiler(ranks, folder):
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                           MASTER_PORT="29672")
        processes.append(subprocess.Popen([*map(str, TRAINING), "--warmup", str(WARMUP), "--steps", str(STEPS), "--profile",
                                           f"{folder}/trace"], env=environment, stdout=subprocess.PIPE, text=True))
    outputs = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit(f"PyTorch failed: {outputs}")
    sums = {"compute": 0, "communication": 0, "overlap": 0}
    for rank in range(ranks):
        trace = json.loads(pathlib.Path(f"{folder}/trace.{rank}.json").read_text())
        kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
        intervals = {True: [], False: []}
        for kernel in kernels:
            intervals["nccl" in kernel["name"].lower()].append((kernel["ts"], kernel["ts"] + kernel["dur"]))
        communication_us, communication = length(intervals[True])
        compute_us, compute = length(intervals[False])
        sums["compute"] += compute_us
        sums["communication"] += communication_us
        sums["overlap"] += overlap(compute, communication)
    return {name: 1e3 * value / STEPS / ranks for name, value in sums.items()}


def main():
    ranks = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        ours = by_ddbench(sys.argv[1], ranks, folder)
        theirs = by_profiler(ranks, folder)
    told, wrong = [], False
    for name, theirs_ns in theirs.items():
        difference = (ours[name] - theirs_ns) / ours["step"]
        wrong |= abs(difference) > TOLERANCE
        told.append(f"{name} {ours[name] / 1e6:.3f} ms beside {theirs_ns / 1e6:.3f} ({100 * difference:+.2f} % of a step)")
    print(f"{ranks} rank(s), step {ours['step'] / 1e6:.3f} ms: ddbench beside torch.profiler: " + "; ".join(told))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())
