#!/usr/bin/env python3
"""gpt2-124m and resnet50 in bfloat16 on one GPU: ddbench's reference engine against PyTorch, eager and compiled, and what watching
costs. The sides are interleaved.

    against_pytorch.py throughput DDBENCH   ratios, larger is better for ddbench; exit code 1 when a side failed
    against_pytorch.py resnet50 DDBENCH     likewise of resnet50
    against_pytorch.py overhead DDBENCH     of ddbench's probes in its own engine, and of PyTorch's eager step under ddbench and under
                                            torch.profiler; exit code 1 when the first is not known, or more than 1 %
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from one_run import last_line, mfu_text, one_run

HERE = pathlib.Path(__file__).resolve().parent
BATCH, SEQUENCE = 8, 1024
ENGINE = ["--device", "cuda", "--workload", "gpt2-124m", "--precision", "bf16", "--batch-per-gpu", BATCH, "--optimizer", "adamw",
          "--lr", "0.0003", "--warmup", 10]
IMAGES = 64
RESNET50 = ["--device", "cuda", "--workload", "resnet50", "--precision", "bf16", "--batch-per-gpu", IMAGES, "--data-workers", 8,
            "--warmup", 10]
SCRIPT = [sys.executable, HERE / "pytorch_gpt2.py", "--batch", BATCH, "--sequence", SEQUENCE]


def of_pytorch(*options, ddbench=None):
    """What the script reports of its steps, by itself or watched by ddbench."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*SCRIPT, *options, "--result", f"{folder}/result"]
        if ddbench:
            one_run(ddbench, "--device", "cuda", "--", *command)
        else:
            done = subprocess.run([*map(str, command)], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"PyTorch {' '.join(options)}: {last_line(done.stderr)}")
        return json.loads(pathlib.Path(folder, "result").read_text())


def of_resnet50(*options):
    """Likewise."""
    done = subprocess.run([sys.executable, HERE / "pytorch_resnet50.py", "--batch", str(IMAGES), *options], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"PyTorch {' '.join(options)}: {last_line(done.stderr)}")
    return json.loads(last_line(done.stdout))


def against(ddbench, what, engine, of_side, unit, per_sample):
    """`unit` of both; of_side() runs PyTorch and reports `unit`_per_s."""
    before = one_run(ddbench, *engine, "--steps", 40)
    eager = of_side("--steps", "40")
    try:
        compiled = of_side("--steps", "40", "--compile")
    except RuntimeError as error:  # it needs a C compiler: the measurements are reported nevertheless
        compiled = None
        not_compiled = f"; not compiled: {error}"
    after = one_run(ddbench, *engine, "--steps", 40)
    ours = statistics.mean(run["samples_per_s"] * per_sample for run in (before, after))
    beside = [f"{ours / side[f'{unit}_per_s']:.2f} times {name} ({side[f'{unit}_per_s']:,.0f})"
              for name, side in (("eager", eager), ("compiled", compiled)) if side]
    print(f"{what}: {ours:,.0f} {unit}/s, {mfu_text(after)}; PyTorch {eager['torch']}: {', '.join(beside)}{'' if compiled else not_compiled}")
    return 0 if compiled else 1


def throughput(ddbench):
    return against(ddbench, f"gpt2-124m bf16, batch {BATCH}", ENGINE, of_pytorch, "tokens", SEQUENCE)


def resnet50(ddbench):
    return against(ddbench, f"resnet50 bf16, batch {IMAGES}", RESNET50, of_resnet50, "images", 1)


def overhead(ddbench):
    # Every fourth step without probes, and without graphs, as some CUPTIs cannot pause with them.
    engine = one_run(ddbench, *ENGINE, "--cuda-graph", "off", "--steps", 200)
    probe_overhead = engine["probe_overhead"]
    ours, is_little = "not known", False
    if probe_overhead and engine["probe_overhead_percent"] is not None:
        ours = f"{engine['probe_overhead_percent']:+.2f}% (95% CI {probe_overhead['ci_low']:+.2f} to {probe_overhead['ci_high']:+.2f})"
        is_little = probe_overhead["ci_low"] <= 1
    steps = {"plain": [], "watched": [], "profiled": []}
    for _ in range(2):  # each process takes 15 s to start
        alone = of_pytorch("--steps", "40", "--profiler")
        steps["plain"].append(alone["step_ms"])
        steps["profiled"].append(alone["profiled_step_ms"])
        steps["watched"].append(of_pytorch("--steps", "40", ddbench=ddbench)["step_ms"])
    plain = statistics.median(steps["plain"])
    cost = {side: 100 * (statistics.median(times) / plain - 1) for side, times in steps.items()}
    spread = 100 * (max(steps["plain"]) - min(steps["plain"])) / plain
    print(f"of a gpt2-124m bf16 step: ddbench's probes in its own engine {ours}; of PyTorch's eager step of {plain:.2f} ms: ddbench "
          f"{cost['watched']:+.2f}%, torch.profiler {cost['profiled']:+.2f}%, where two plain processes differ by {spread:.2f}%")
    return 0 if is_little else 1


MODES = {"throughput": throughput, "resnet50": resnet50, "overhead": overhead}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MODES:
        sys.exit(__doc__)
    try:
        sys.exit(MODES[sys.argv[1]](sys.argv[2]))
    except RuntimeError as error:
        sys.exit(str(error))
