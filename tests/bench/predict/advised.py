#!/usr/bin/env python3
"""What `ddbench advise` and `predict` say of single changes, against runs with these changes on this machine.

    tests/bench/predict/advised.py [DDBENCH] [--parts buckets,stragglers,changes] [--cases mlp:1gbit,...] [--rounds 3] [--fastest]
                                  [--only hook=fp16,...] [--db FILE]

Two nodes of one rank over a shaped link. All runs of a case take turns, round after round, so that what else the machine
does hits all of them; a figure is the median over rounds. Start it on a quiet machine: the load is printed. On one that is
not, --fastest takes the fastest round of each kind, and the recording of that: other load makes nothing faster.

buckets     Runs with buckets of 1 MiB and with one that holds all are recorded; each names the best size. All sizes are measured.
            Loss: throughput of the best measured size over that of the named one, minus 1. Goal: 3%.
stragglers  Rank 1 takes 30% longer for its own work (DDBENCH_INJECT). `predict --without stragglers` of that run against
            the run without it; the same for a loader that is slow on one rank and `--without data-wait`. Goal: 5%.
changes     Half the bytes (hook=fp16), twice the batch, four micro-batches of the same step, and of a step with four times
            the batch, zero1 and mirrored: each predicted from the unchanged run, and measured.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASES = "mlp:100mbit,mlp:1gbit,gpt2-nano:100mbit,gpt2-nano:1gbit,resnet18:1gbit"
BATCH = {"mlp": 256, "resnet18": 8, "gpt2-nano": 8}
STEPS = {"mlp": "40", "resnet18": "12", "gpt2-nano": "24"}
SIZES = {"mlp": ["0.5", "1", "2", "5"], "resnet18": ["0.5", "1", "2", "5", "10", "25", "50"],
         "gpt2-nano": ["0.5", "1", "2", "5"]}  # the last holds all gradients
MICRO = ["--operations", "all_reduce,reduce_scatter,all_gather,broadcast", "-b", "1K", "-e", "16M", "-f", "4"]
PACE_MS = 60


class Bench:
    def __init__(self, program, store, fastest, only):
        self.program, self.store, self.fastest, self.only, self.micro_runs = program, store, fastest, only, {}

    def __call__(self, *arguments, inject=""):
        environment = dict(os.environ, DDBENCH_INJECT=inject) if inject else os.environ
        done = subprocess.run([self.program, *arguments, "--json", "--db", self.store], capture_output=True, text=True,
                              check=False, env=environment)
        if done.returncode:
            raise SystemExit(f"ddbench {' '.join(map(str, arguments))}: {done.stderr}")
        return json.loads(done.stdout)

    def micro(self, link):
        if link not in self.micro_runs:
            self.micro_runs[link] = self("micro", "--nodes", "2", "--gpus", "1", "--link", link, *MICRO)["run"]
        return self.micro_runs[link]

    def run(self, workload, link, *arguments, batch=1, bucket="1", inject=""):
        report = self("run", "--workload", workload, "--nodes", "2", "--gpus", "1", "--link", link, "--bucket-mb", bucket,
                      "--batch-per-gpu", str(BATCH[workload] * batch), "--steps", STEPS[workload], "--no-baseline", *arguments,
                      inject=inject)
        return report["run"]["id"], report["samples_per_s"]


def in_turn(bench, workload, link, kinds, rounds):
    """The runs of each kind, and the median of their rates; or the fastest run and its rate."""
    runs, rates = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(rounds):
        for kind, options in kinds.items():
            run, rate = bench.run(workload, link, *options.get("arguments", []),
                                  **{key: value for key, value in options.items() if key != "arguments"})
            runs[kind].append(run)
            rates[kind].append(rate)
    if bench.fastest:
        return ({kind: [runs[kind][rates[kind].index(max(rates[kind]))]] for kind in kinds},
                {kind: max(values) for kind, values in rates.items()})
    return runs, {kind: statistics.median(values) for kind, values in rates.items()}


def buckets(bench, workload, link, rounds):
    sizes = SIZES[workload]
    runs, rates = in_turn(bench, workload, link, {size: {"bucket": size} for size in sizes}, rounds)
    best = max(rates, key=rates.get)
    print(f"  measured: {', '.join(f'{size} MiB {rate:.1f}' for size, rate in rates.items())} samples/s; best {best} MiB")
    losses = []
    for recorded in ("1", sizes[-1]):
        for run in runs[recorded]:
            report = bench("advise", run, "--network", bench.micro(link))
            named = min(report["buckets"], key=lambda tried: tried["step_time_ns"])["bytes"] / (1 << 20)
            # Sizes beyond the last one that was measured hold all gradients too.
            measured = f"{named:g}" if f"{named:g}" in rates else sizes[-1]
            losses.append(rates[best] / rates[measured] - 1)
            said = ", ".join(f"{tried['bytes'] / (1 << 20):g} MiB {tried['step_time_ns'] / 1e6:.1f} ms" for tried in report["buckets"])
            print(f"  recorded with {recorded} MiB, named {named:g} MiB: loss {100 * losses[-1]:.1f}%   ({said})", flush=True)
    return losses


def compared(bench, workload, link, what, source, arguments, measured):
    """Prediction of the newest run of `source` against a measured rate: error, and whether the interval holds it."""
    (predicted,) = bench("predict", source, *arguments)["predictions"]
    said = predicted["samples_per_s"]
    error = said["value"] / measured - 1
    print(f"  {what:34} predicted {said['value']:8.1f} ({said['ci_low']:.1f} to {said['ci_high']:.1f})  measured {measured:8.1f}  "
          f"{100 * error:+5.1f}%", flush=True)
    return error, said["ci_low"] <= measured <= said["ci_high"]


def stragglers(bench, workload, link, rounds):
    longer = round(0.3 * PACE_MS)
    kinds = {"even": {"inject": f"paced={PACE_MS}ms"},
             "straggler": {"inject": f"paced={PACE_MS}ms,operator={longer}ms,rank=1"},
             "loader": {"inject": f"paced={PACE_MS}ms,data={longer}ms,rank=1"}}
    runs, rates = in_turn(bench, workload, link, kinds, rounds)
    print(f"  measured: {', '.join(f'{kind} {rate:.1f}' for kind, rate in rates.items())} samples/s")
    results = []
    for kind, without in (("straggler", "stragglers"), ("loader", "data-wait")):
        for run in runs[kind]:
            results.append(compared(bench, workload, link, f"--without {without}", run, ["--without", without], rates["even"]))
    return results


def changes(bench, workload, link, rounds):
    batch = BATCH[workload]
    asked = {"hook=fp16": (["-S", "hook=fp16"], {"arguments": ["-S", "hook=fp16"]}),
             "twice the batch": (["--batch-per-gpu", str(2 * batch)], {"batch": 2}),
             "4 micro-batches": (["--accumulate", "4"], {"arguments": ["--accumulate", "4"]}),
             "4 micro-batches, 4 times the batch": (["--accumulate", "4", "--batch-per-gpu", str(4 * batch)],
                                                   {"arguments": ["--accumulate", "4"], "batch": 4}),
             "zero1": (["--strategy", "zero1"], {"arguments": ["--strategy", "zero1"]}),
             "mirrored": (["--strategy", "mirrored"], {"arguments": ["--strategy", "mirrored"]})}
    asked = {what: how for what, how in asked.items() if not bench.only or what in bench.only}
    kinds = {"unchanged": {}, **{what: measured for what, (_, measured) in asked.items()}}
    runs, rates = in_turn(bench, workload, link, kinds, rounds)
    print(f"  measured unchanged: {rates['unchanged']:.1f} samples/s")
    network = ["--network", bench.micro(link)]
    results = []
    for what, (arguments, _) in asked.items():
        other = network if what in ("hook=fp16", "zero1", "mirrored") else []  # the others' collectives are the recorded ones
        results.append(compared(bench, workload, link, what, runs["unchanged"][-1], [*arguments, *other], rates[what]))
    return results


def summary(part, results):
    if part == "buckets":
        print(f"buckets: the named size loses {100 * max(results):.1f}% at worst, {100 * statistics.median(results):.1f}% in the "
              f"median, against the best measured size")
        return
    errors = [abs(error) for error, _ in results]
    print(f"{part}: median |error| {100 * statistics.median(errors):.1f}%, worst {100 * max(errors):.1f}%, "
          f"{sum(held for _, held in results)} of {len(results)} intervals hold the measurement")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ddbench", nargs="?", default=ROOT / "build/release/bin/ddbench", type=pathlib.Path)
    parser.add_argument("--parts", default="buckets,stragglers,changes")
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fastest", action="store_true", help="of the rounds, instead of their median")
    parser.add_argument("--only", help="of the changes, by name")
    parser.add_argument("--db", help="keep the runs in this store")
    options = parser.parse_args()
    measure = {"buckets": buckets, "stragglers": stragglers, "changes": changes}
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(options.ddbench.resolve(), options.db or pathlib.Path(directory) / "advised.db", options.fastest,
                      options.only.split(",") if options.only else [])
        for part in options.parts.split(","):
            results = []
            for case in options.cases.split(","):
                workload, link = case.split(":")
                print(f"{part}, {workload} over {link} (load {os.getloadavg()[0]:.1f})", flush=True)
                results += measure[part](bench, workload, link, options.rounds)
            summary(part, results)


if __name__ == "__main__":
    main()
