#!/usr/bin/env python3
"""Losses of 50 steps on a GPU against those of the CPU device, by precision and by number of ranks; and with CUDA graphs
against without.

    training_parity.py reference DDBENCH FILE        where the CPU device is: writes its losses, exit code 1 when it lacks some
    training_parity.py compare DDBENCH FILE RESULT   where a GPU is: trains the same, exit code 1 when they differ or are not there
    training_parity.py graphs DDBENCH                where a GPU is: the same with and without graphs, exit code 1 when they differ
    training_parity.py strategies DDBENCH            where a GPU is: two ranks by each strategy against ddp, exit code 1 when they differ

$DDBENCH_DB is the store of the runs.
"""

import json
import math
import os
import pathlib
import sqlite3
import sys

from one_run import one_run
from whole import allowed_difference

STEPS = 50
# Workload and options, kept small: the CPU must do them too.
CASES = {
    "mlp": (64, []),
    "gpt2-nano": (8, ["--optimizer", "adamw", "--lr", "0.001"]),
    "resnet18": (8, ["-O", "image=32", "--lr", "0.001"]),
}
# The largest difference of a step's loss, relative: rounding grows as training goes on. No more than a part of what the loss moves
# (whole.py).
TOLERANCE = {"fp32": 2e-3, "tf32": 2e-2, "bf16": 8e-2, "fp16": 2e-2}


# Not to be compared, and why.
EXCUSED = {"resnet18 fp32, 2 ranks": "batch normalization sees a rank's samples"}

STRATEGIES = [["horovod"], ["horovod", "-S", "fusion_mb=0"], ["ps"], ["ps", "-S", "servers=2"], ["zero1"], ["zero2"], ["zero3"], ["mirrored"]]
SAME_SUMS = 1e-4  # in another order

# A dynamic scale would skip the first steps, which the reference has not.
OPTIONS = {"fp16": ["--loss-scale", "1024"]}


def losses(ddbench, device, workload, precision, ranks=1, warmup=0, more=()):
    """Mean over ranks, by step, nan where it is no number; the global batch is the same for all numbers of ranks. `more` options; and
    what the run says of CUDA graphs."""
    batch, options = CASES[workload]
    run = one_run(ddbench, "--device", device, "--workload", workload, "--precision", precision, "--steps", STEPS, "--warmup", warmup,
                  "--gpus", ranks, "--share-gpus", "--batch-per-gpu", batch // ranks, *options, *OPTIONS.get(precision, []), *more,
                  timeout_s=120 if device == "cuda" else 900)
    with sqlite3.connect(os.environ["DDBENCH_DB"]) as database:
        rows = database.execute("SELECT avg(value) FROM step_value JOIN run USING (run_key) WHERE id = ? AND step_value.name = 'loss' "
                                "GROUP BY step ORDER BY step", (run["run"]["id"],))
        return [math.nan if value is None else value for value, in rows], run["environment"]["facts"].get("training.cuda_graph")


def largest_difference(expected, found):
    """Relative."""
    differences = [abs(a - b) / max(abs(a), 0.1) for a, b in zip(expected, found, strict=True)]
    return math.nan if any(map(math.isnan, differences)) else max(differences)


def write_reference(ddbench, file):
    reference, missing = {}, []
    for workload in CASES:
        for precision in ("fp32", "bf16"):
            try:
                reference[f"{workload} {precision}"], _ = losses(ddbench, "cpu", workload, precision)
            except RuntimeError as error:
                missing.append(f"{workload} {precision}: {error}")
    pathlib.Path(file).write_text(json.dumps(reference))
    if missing:
        print("no reference of " + "; ".join(missing), file=sys.stderr)
    return 1 if missing else 0


def compared(ddbench, expected, workload, precision, ranks):
    found, _ = losses(ddbench, "cuda", workload, precision, ranks)
    return {"difference": largest_difference(expected, found), "cpu": expected, "cuda": found}


def compare(ddbench, file, result):
    reference = json.loads(pathlib.Path(file).read_text())
    report, wrong, without = {}, [], []
    for workload in CASES:
        for precision, ranks in (("fp32", 1), ("tf32", 1), ("bf16", 1), ("fp16", 1), ("fp32", 2)):
            name = f"{workload} {precision}, {ranks} rank{'s' if ranks > 1 else ''}"
            if name in EXCUSED:
                continue
            expected = reference.get(f"{workload} {precision if precision == 'bf16' else 'fp32'}")
            if not expected:  # the CPU that packed does not have the precision
                without.append(name)
                continue
            try:
                curve = compared(ddbench, expected, workload, precision, ranks)
            except (RuntimeError, ValueError) as error:
                print(f"{name}: {error}")
                wrong.append(f"{name}: {error}")
                continue
            report[name] = curve
            pathlib.Path(result).write_text(json.dumps(report))  # now: later parts may exceed the time limit
            allowed = allowed_difference(curve["cpu"], TOLERANCE[precision])
            print(f"{name}: largest relative difference {curve['difference']:.2e}, "
                  f"{'the loss does not move' if allowed is None else f'{allowed:.2e} allowed'}", flush=True)
            if allowed is None or not curve["difference"] < allowed:
                wrong.append(f"{name}: {curve['difference']:.2e}")
    print(f"{len(report)} curves, " + ("differ: " + "; ".join(wrong) if wrong else "all within tolerance")
          + (f"; not compared, without a reference: {', '.join(without)}" if without else ""))
    return 1 if wrong or not report else 0


def compare_graphs(ddbench):
    os.environ["DDBENCH_AUTOTUNE"] = "0"  # two runs may find another algorithm to be the fastest, which rounds otherwise
    wrong = []
    for workload, precision, ranks, accumulate in (("mlp", "fp32", 1, 1), ("mlp", "fp32", 2, 1), ("mlp", "fp32", 2, 4), ("mlp", "fp16", 1, 1),
                                                   ("gpt2-nano", "bf16", 1, 1), ("gpt2-nano", "bf16", 2, 1), ("resnet18", "bf16", 1, 1)):
        name = f"{workload} {precision}, {ranks} rank(s), {accumulate} micro-batch(es)"
        curves = {}
        for mode in ("off", "auto"):
            try:
                curves[mode] = losses(ddbench, "cuda", workload, precision, ranks, 5,
                                      ["--accumulate", str(accumulate), "--cuda-graph", mode])
            except RuntimeError as error:
                print(f"{name}: {error}")
                wrong.append(f"{name}, {mode}: {error}")
        if len(curves) < 2:
            continue
        plain, graph = curves["off"][0], curves["auto"][0]
        difference = largest_difference(plain, graph)
        print(f"{name}: {curves['auto'][1]}; largest relative difference {difference:.2e}")
        if not (curves["auto"][1] or "").startswith("captured"):
            wrong.append(f"{name}: {curves['auto'][1]}")
        elif not difference <= 1e-6:  # the same kernels on the same numbers, in whatever order graphs let them run
            wrong.append(f"{name}: {difference:.2e}")
    print("graphs " + ("differ: " + "; ".join(wrong) if wrong else "train the same"))
    return 1 if wrong else 0


def compare_strategies(ddbench):
    os.environ["DDBENCH_AUTOTUNE"] = "0"
    expected, _ = losses(ddbench, "cuda", "mlp", "fp32", 2)
    texts, wrong = [], []
    for strategy in STRATEGIES:
        name = " ".join(strategy)
        try:
            found, _ = losses(ddbench, "cuda", "mlp", "fp32", 2, 0, ["--strategy", *strategy])
            difference = largest_difference(expected, found)
            texts.append(f"{name} {difference:.1e}")
            wrong += [] if difference <= SAME_SUMS else [texts[-1]]
        except RuntimeError as error:
            wrong.append(f"{name}: {error}")
        print((texts + wrong)[-1], flush=True)
    print(f"largest relative difference from ddp: {', '.join(texts)}" + ("; WRONG: " + "; ".join(wrong) if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "reference":
        sys.exit(write_reference(*sys.argv[2:]))
    if len(sys.argv) == 5 and sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    if len(sys.argv) == 3 and sys.argv[1] == "graphs":
        sys.exit(compare_graphs(sys.argv[2]))
    if len(sys.argv) == 3 and sys.argv[1] == "strategies":
        sys.exit(compare_strategies(sys.argv[2]))
    sys.exit(__doc__)
