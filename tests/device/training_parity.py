#!/usr/bin/env python3
"""Losses of 50 steps on a GPU against those of the CPU device, by precision and by number of ranks.

    training_parity.py reference DDBENCH FILE        where the CPU device is: writes its losses
    training_parity.py compare DDBENCH FILE RESULT   where a GPU is: trains the same, exit code 1 when they differ
"""

import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

STEPS = 50
# Workload and options, kept small: the CPU must do them too.
CASES = {
    "mlp": (64, []),
    "gpt2-nano": (8, ["--optimizer", "adamw", "--lr", "0.001"]),
    "resnet18": (8, ["-O", "image=32", "--lr", "0.001"]),
}
# The largest difference of a step's loss, relative: rounding grows as training goes on.
TOLERANCE = {"fp32": 2e-3, "tf32": 2e-2, "bf16": 8e-2, "fp16": 2e-2}


# A dynamic scale would skip the first steps, which the reference has not.
OPTIONS = {"fp16": ["--loss-scale", "1024"]}


def losses(ddbench, device, workload, precision, ranks=1):
    """Mean over ranks, by step; the global batch is the same for all numbers of ranks."""
    batch, options = CASES[workload]
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "results.db"
        command = [ddbench, "run", "--device", device, "--workload", workload, "--precision", precision, "--steps",
                   str(STEPS), "--warmup", "0", "--no-baseline", "--quiet", "--db", str(store), "--gpus", str(ranks), "--share-gpus",
                   "--batch-per-gpu", str(batch // ranks), *options, *OPTIONS.get(precision, [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {(done.stderr + done.stdout).strip()[:500]}")
        with sqlite3.connect(store) as database:
            rows = database.execute("SELECT avg(value) FROM step_value WHERE name = 'loss' GROUP BY step ORDER BY step")
            return [value for value, in rows]


def write_reference(ddbench, file):
    reference = {}
    for workload in CASES:
        for precision in ("fp32", "bf16"):
            try:
                reference[f"{workload} {precision}"] = losses(ddbench, "cpu", workload, precision)
            except RuntimeError as error:
                print(f"no reference of {workload} in {precision}: {error}")
    pathlib.Path(file).write_text(json.dumps(reference))


def compare(ddbench, file, result):
    reference = json.loads(pathlib.Path(file).read_text())
    report, wrong = {}, []
    for workload in CASES:
        for precision, ranks in (("fp32", 1), ("tf32", 1), ("bf16", 1), ("fp16", 1), ("fp32", 2)):
            name = f"{precision}, {ranks} rank{'s' if ranks > 1 else ''}"
            expected = reference.get(f"{workload} {precision if precision == 'bf16' else 'fp32'}")
            if expected is None or (ranks > 1 and workload == "resnet18"):  # batch normalization sees a rank's samples
                continue
            try:
                found = losses(ddbench, "cuda", workload, precision, ranks)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{workload} {name}: {error}")
                wrong.append(f"{workload} {name}: failed")
                continue
            difference = max(abs(a - b) / max(abs(a), 0.1) for a, b in zip(expected, found, strict=True))
            report[f"{workload} {name}"] = {"difference": difference, "cpu": expected, "cuda": found}
            print(f"{workload} {name}: largest relative difference {difference:.2e}")
            if not difference < TOLERANCE[precision]:
                wrong.append(f"{workload} {name}: {difference:.2e}")
    pathlib.Path(result).write_text(json.dumps(report))
    print(f"{len(report)} curves, " + ("differ: " + "; ".join(wrong) if wrong else "all within tolerance"))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "reference":
        sys.exit(write_reference(*sys.argv[2:]))
    if len(sys.argv) == 5 and sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    sys.exit(__doc__)
