#!/usr/bin/env python3
"""What recording an unmodified PyTorch DDP script costs, by ddbench and by torch.profiler.

Starts the script on two ranks as it is, under ddbench's recording object, and under torch.profiler, interleaved, and
prints ratios with their 95 % intervals (Student's t of logarithms over rounds): of the mean step time, of the time that the
fastest tenth of the steps stay below, which other programs on the machine disturb least while recording costs the same in every
step, and of the processor time of a step (all threads). Two processes started alike differ by some per cent, so the cost is
also counted: the processor time that recording adds to a step of the same script with next to nothing to compute, which makes
the same calls and runs the same operators, of a step's time.

    python3 tests/bench/program/overhead.py [rounds]
"""

import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "tests/integration/programs/ddp_mlp.py"
LIBRARY = ROOT / "build/release/lib/ddbench/ddbench_inject.so"
STEPS = 120
NOTHING_TO_COMPUTE = ["--hidden", "8", "--batch", "1", "--steps", "3000"]
STUDENT_975 = {4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 29: 2.045}
PORT = 29650


def step_ms(directory, preload=False, profile=False, size=("--hidden", "1024", "--steps", str(STEPS)), world=2):
    """Mean time, time of the fastest tenth and processor time of a step, each the mean over the ranks."""
    command = [sys.executable, str(SCRIPT), *size]
    if profile:
        command += ["--profile", str(directory / "profile")]
    ranks = []
    for rank in range(world):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1",
                           MASTER_PORT=str(PORT), OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
        if preload:
            environment |= {"LD_PRELOAD": str(LIBRARY), "DDBENCH_SPOOL": str(directory / f"rank{rank}"),
                            "DDBENCH_RUN_ID": "overhead"}
        ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    outputs = [rank.communicate()[0] for rank in ranks]
    assert all(rank.returncode == 0 for rank in ranks)
    reported = [re.search(r"([\d.]+) ms a step, ([\d.]+) ms in the fastest tenth, ([\d.]+) ms of processor", output)
            for output in outputs]
    return [statistics.mean(float(each[figure]) for each in reported) for figure in (1, 2, 3)]


def processor_us_added(directory, rounds):
    """What recording adds to the processor time of a step, by rounds."""
    def once(preload):
        return 1000 * step_ms(directory, preload, size=NOTHING_TO_COMPUTE, world=1)[2]

    return [once(True) - once(False) for _ in range(rounds)]


def reported(name, ratios):
    logs = [math.log(ratio) for ratio in ratios]
    t = STUDENT_975.get(len(logs) - 1, 2.0)
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    mean = statistics.mean(logs)
    low, middle, high = (100 * (math.exp(x) - 1) for x in (mean - half, mean, mean + half))
    print(f"{name:32} {middle:+6.2f}% of a step   95% CI {low:+.2f} to {high:+.2f}%")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    if not LIBRARY.exists():
        sys.exit(f"{LIBRARY} is missing: build the release preset first")
    plain, recorded, profiled = [], [], []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        added_us = processor_us_added(directory, 5)
        for round_ in range(rounds):
            # The order alternates: drift of the machine affects all sides equally.
            sides = [lambda: plain.append(step_ms(directory)),
                     lambda: recorded.append(step_ms(directory, preload=True)),
                     lambda: profiled.append(step_ms(directory, profile=True))]
            for side in sides if round_ % 2 == 0 else reversed(sides):
                side()
    time_ms, tenth_ms, processor_ms = map(statistics.mean, zip(*plain))
    print(f"{rounds} rounds, 2 ranks, {time_ms:.2f} ms a step as it is, {tenth_ms:.2f} ms in the fastest tenth, "
          f"{processor_ms:.2f} ms of processor")
    for name, side in ("ddbench", recorded), ("torch.profiler", profiled):
        for figure, what in enumerate(("time", "fastest tenth", "processor time")):
            reported(f"{name}, {what}", [a[figure] / b[figure] for a, b in zip(side, plain)])

    print(f"counted: {statistics.median(added_us):.0f} us a step ({min(added_us):.0f} to {max(added_us):.0f} in {len(added_us)} "
          f"rounds): {max(added_us) / (1000 * time_ms):.2%} of a step at the most")


if __name__ == "__main__":
    main()
