#!/usr/bin/env python3
"""Losses of 100 steps of ddbench's engine and of PyTorch, both on the GPU, from the same first parameters over the same batches. In
bfloat16 each side rounds where its users' would: PyTorch under autocast. Compared is the loss after the steps, mean of the last 10:
exit code 1 when both differ by more than 1 %, or when nothing was learnt, which would show little. Of bfloat16 it also prints how
far PyTorch's own losses in float32 are: rounding grows from step to step, and no two implementations round alike.

    pytorch_parity.py TRAINING_TRACE     tests/support/training_trace.cpp
"""

import functools
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]  # in a pack, and in the sources
import torch
from pytorch_models import bert, gpt2, losses_of_torch, mlp, resnet, trace_of

STEPS, LAST, MOMENTUM, ALLOWED, LEARNT = 100, 10, 0.9, 0.01, 0.97
# Model, precision, batch, learning rate and options. Untrained residual networks are chaotic: at 0.01 PyTorch's own float32 and float64
# part within 10 steps.
CASES = {
    "mlp": (mlp, "fp32", 64, 0.05, []),
    "resnet18": (resnet, "fp32", 32, 0.0003, ["image=32", "width=16"]),
    "bert-base": (bert, "fp32", 8, 0.1, ["layers=2", "hidden=64", "heads=4", "sequence=32", "vocabulary=50"]),
    "resnet50": (resnet, "bf16", 64, 0.0001, ["image=32"]),
    "gpt2-124m": (functools.partial(gpt2, heads=12), "bf16", 8, 0.01, []),
}


def last(losses):
    return statistics.mean(losses[-LAST:])


def main(program):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wrong = []
    for workload, (model, precision, batch, lr, options) in CASES.items():
        name = f"{workload} {precision}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                trace = trace_of(program, pathlib.Path(folder), device, precision, workload, batch, STEPS, lr, MOMENTUM, options)
                theirs = losses_of_torch(model, trace, lr, MOMENTUM, device, precision)
                wide = losses_of_torch(model, trace, lr, MOMENTUM, device) if precision != "fp32" else theirs
            except (subprocess.CalledProcessError, RuntimeError) as error:
                wrong.append(f"{name}: {str(error).splitlines()[-1]}")
                print(wrong[-1], flush=True)
                continue
        difference = abs(last(trace.losses) / last(theirs) - 1)
        own = abs(last(wide) / last(theirs) - 1)
        text = f"{name} {100 * difference:.2f}% (loss {theirs[0]:.3f} to {last(theirs):.3f}, ours to {last(trace.losses):.3f}"
        text += f"; PyTorch's own in float32 {100 * own:.2f}%)" if precision != "fp32" else ")"
        print(text, flush=True)
        if not difference <= ALLOWED:
            wrong.append(text)
        elif not min(theirs) < LEARNT * theirs[0]:
            wrong.append(f"{text}: nothing was learnt")
    print(f"{len(CASES)} trainings of {STEPS} steps: " + ("WRONG: " + "; ".join(wrong) if wrong else f"losses after them within {100 * ALLOWED:.0f}%"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
