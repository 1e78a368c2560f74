#!/usr/bin/env python3
"""The same PyTorch DDP steps broken down by ddbench, which watches the program from outside, and by PyTorch's own profiler:
compute, communication and their overlap of a step. Exit code 1 when one of them differs by more than 2 % of a step. Ranks that take
turns on a GPU do not repeat themselves that well: with several, torch.profiler measures before and after ddbench, and twice the
difference of its two runs is allowed where that is more.

    breakdown.py DDBENCH [ranks]        ranks share a GPU where there are fewer
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

from one_run import last_line, one_run

HERE = pathlib.Path(__file__).resolve().parent
WARMUP, STEPS = 5, 25
TRAINING = [sys.executable, str(HERE / "pytorch_gpt2.py"), "--layers", "6", "--batch", "4", "--warmup", str(WARMUP), "--steps",
            str(STEPS)]
TOLERANCE = 0.02


def by_ddbench(ddbench, ranks):
    run = one_run(ddbench, "--gpus", ranks, "--share-gpus", "--device", "cuda", "--warmup", WARMUP, "--", *TRAINING)
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


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def train_under_profiler(ranks, folder):
    port, processes = str(free_port()), []
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                           MASTER_PORT=port)
        with open(f"{folder}/output.{rank}", "w") as output:
            processes.append(subprocess.Popen([*TRAINING, "--profile", f"{folder}/trace"], env=environment, stdout=output,
                                              stderr=subprocess.STDOUT))
    while None in (ended := [process.poll() for process in processes]) and not any(ended):
        time.sleep(0.1)
    for process in processes:  # which wait for one that failed
        process.kill()
    for rank, code in enumerate(ended):
        if code:
            raise RuntimeError(f"PyTorch, rank {rank}: {last_line(pathlib.Path(f'{folder}/output.{rank}').read_text())}")


def by_profiler(ranks):
    """Nanoseconds of a step, mean over ranks."""
    sums = {"compute": 0, "communication": 0, "overlap": 0}
    with tempfile.TemporaryDirectory() as folder:
        train_under_profiler(ranks, folder)
        for rank in range(ranks):
            trace = json.loads(pathlib.Path(f"{folder}/trace.{rank}.json").read_text())
            intervals = {True: [], False: []}
            for kernel in (event for event in trace["traceEvents"] if event.get("cat") == "kernel"):
                intervals["nccl" in kernel["name"].lower()].append((kernel["ts"], kernel["ts"] + kernel["dur"]))
            communication_us, communication = length(intervals[True])
            compute_us, compute = length(intervals[False])
            sums["compute"] += compute_us
            sums["communication"] += communication_us
            sums["overlap"] += overlap(compute, communication)
    return {name: 1e3 * value / STEPS / ranks for name, value in sums.items()}


def compare(ours, profiled, needed):
    """Texts of the parts, and whether one is further from the profiler's mean than is allowed. Parts that neither saw are not
    compared; `needed` ones are wrong then."""
    reported, wrong = [], False
    for name in profiled[0]:
        values = [each[name] for each in profiled]
        if not any(values) and not ours[name]:
            if name in needed:
                reported.append(f"no {name} was seen by either: nothing was compared")
                wrong = True
            continue
        mean = sum(values) / len(values)
        allowed = max(TOLERANCE, 2 * (max(values) - min(values)) / ours["step"])
        difference = (ours[name] - mean) / ours["step"]
        wrong |= abs(difference) > allowed
        reported.append(f"{name} {ours[name] / 1e6:.3f} ms beside {' and '.join(f'{value / 1e6:.3f}' for value in values)} "
                    f"({100 * difference:+.2f}% of a step, {100 * allowed:.1f}% allowed)")
    return reported, wrong


def main(ddbench, ranks):
    profiled = [by_profiler(ranks)]
    ours = by_ddbench(ddbench, ranks)
    if ranks > 1:
        profiled.append(by_profiler(ranks))
    reported, wrong = compare(ours, profiled, ("compute", "communication") if ranks > 1 else ("compute",))
    print(f"{ranks} rank(s), step {ours['step'] / 1e6:.3f} ms: ddbench beside torch.profiler: " + "; ".join(reported))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1))
    except RuntimeError as error:
        sys.exit(str(error))
