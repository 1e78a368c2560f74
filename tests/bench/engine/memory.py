#!/usr/bin/env python3
"""Memory that `ddbench fit` predicts against what runs on this machine's CPUs took.

usage: memory.py DDBENCH [--quick]

Prints for each workload, strategy and setting: the tensors of the rank that has most, predicted and as the allocator gave them out (with
and without the operators' workspace), and the peak of its host memory beside the estimate that a run is refused by.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

WORKLOADS = {
    "mlp": ["--workload", "mlp", "-O", "hidden=1024,1024", "--batch-per-gpu", "128"],
    "resnet18": ["--workload", "resnet18", "-O", "image=32", "--batch-per-gpu", "16"],
    "gpt2-nano": ["--workload", "gpt2-nano", "--batch-per-gpu", "16"],
    "gpt2-nano bf16": ["--workload", "gpt2-nano", "--batch-per-gpu", "16", "--precision", "bf16"],
}
SETTINGS = {
    "ddp": [],
    "ddp, adamw, accumulate 4": ["--optimizer", "adamw", "--accumulate", "4"],
    "ddp, fp16 hook": ["-S", "hook=fp16"],
    "zero1": ["--strategy", "zero1"],
    "zero2, accumulate 4": ["--strategy", "zero2", "--accumulate", "4"],
    "zero3": ["--strategy", "zero3"],
    "zero3, accumulate 4": ["--strategy", "zero3", "--accumulate", "4"],
    "horovod": ["--strategy", "horovod"],
    "mirrored": ["--strategy", "mirrored"],
    "ps": ["--strategy", "ps"],
    "recompute": ["-O", "recompute=blocks"],
}
QUICK = ("ddp", "zero1", "recompute")


def measured(executable: str, store: pathlib.Path, options: list[str]) -> dict:
    command = [executable, "run", "--gpus", "2", "--steps", "6", "--warmup", "1", "--quiet", "--json", "--db", str(store), *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main(executable: str, quick: bool) -> None:
    print(f"{'workload':<16} {'setting':<26} {'predicted':>11} {'allocated':>11} {'ratio':>7} {'workspace':>11} {'host peak':>11}")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for workload, options in WORKLOADS.items():
            for setting, more in SETTINGS.items():
                if quick and setting not in QUICK or setting == "recompute" and workload == "mlp":
                    continue
                report = measured(executable, pathlib.Path(folder) / "memory.db", options + more)
                facts = report["environment"]["facts"]
                predicted = int(facts["memory.predicted_bytes"])
                workspace = int(facts["memory.workspace_bytes"]) + int(facts["memory.other_bytes"])
                allocated = report["memory"]["device_peak_bytes"] - workspace
                host = max(rank["peak_memory_bytes"] for rank in report["ranks"])
                worst = max(worst, abs(predicted / allocated - 1))
                print(f"{workload:<16} {setting:<26} {predicted / 1e6:8.2f} MB {allocated / 1e6:8.2f} MB {predicted / allocated:7.4f} "
                      f"{workspace / 1e6:8.2f} MB {host / 1e6:8.1f} MB", flush=True)
    print(f"largest difference: {100 * worst:.3f}%")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    main(sys.argv[1], "--quick" in sys.argv[2:])
