#!/usr/bin/env python3
"""How close a DDP step comes to what overlap allows.

A step cannot be shorter than its compute and the last bucket after it, nor than what comes before the first bucket, all
buckets one after the other, and the optimizer:

    limit = max(compute + last bucket, before the first bucket + communication + optimizer)

Compute and optimizer are those of one rank alone; a bucket's communication is its bytes at the bus bandwidth of the run's
fastest bucket, on a shaped link, which needs no core. Prints the measured step over the limit (goal: 1.10 with free cores),
and over the limit with the compute of the run itself, which cores that are not free make longer.

    tests/bench/engine/exposed_limit.py [ROUNDS]
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
DDBENCH = ROOT / "build/release/bin/ddbench"
RANKS = 2
CASES = {
    "mlp, 1 gbit": ["--workload", "mlp", "--batch-per-gpu", "512", "--bucket-mb", "1", "--link", "1gbit"],
    "mlp, 100 mbit": ["--workload", "mlp", "--batch-per-gpu", "64", "--bucket-mb", "1", "--link", "100mbit"],
    "gpt2-nano, 1 gbit": ["--workload", "gpt2-nano", "--batch-per-gpu", "16", "--bucket-mb", "1", "--link", "1gbit"],
    "gpt2-nano, 250 mbit": ["--workload", "gpt2-nano", "--batch-per-gpu", "16", "--bucket-mb", "1", "--link", "250mbit"],
}


def ddbench(*arguments):
    return subprocess.run([DDBENCH, *arguments], check=True, capture_output=True, text=True).stdout


def before_first_bucket_ms(trace):
    """From a step's begin to its first all-reduce, median over measured steps of rank 0."""
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X" and event["pid"] == 1]
    reduces = sorted(event["ts"] for event in events if event["name"] == "all_reduce")
    leads = []
    for step in events:
        if step["cat"] != "step" or step["name"].startswith("warm-up"):
            continue
        inside = [ts for ts in reduces if step["ts"] <= ts < step["ts"] + step["dur"]]
        if inside:
            leads.append((inside[0] - step["ts"]) / 1e3)
    return statistics.median(leads)


def measure(options, directory):
    """Milliseconds: the step, its limits with the compute of one rank alone and of the run, and what they consist of."""
    store = ["--db", str(directory / "results.db")]
    run = json.loads(ddbench("run", *options, "--nodes", str(RANKS), "--gpus", "1", "--steps", "24", "--json", *store))
    alone = json.loads(ddbench("show", run["efficiency"]["baseline"], "--json", *store))
    trace = directory / "trace.json"
    ddbench("report", run["run"]["id"], "--format", "perfetto", "-o", str(trace), *store)
    buckets = [row for row in run["collectives"] if row["function"] == "all_reduce"]
    fastest = max(row["busbw"] for row in buckets) * 1e6  # bytes a millisecond
    times = [2 * (RANKS - 1) / RANKS * row["bytes"] / fastest for row in buckets]
    lead = before_first_bucket_ms(json.loads(trace.read_text()))

    def limit(of):
        compute, optimizer = of["partition_ns"]["compute"] / 1e6, of["compute_ns"]["optimizer"] / 1e6
        return max(compute + times[-1], lead + sum(times) + optimizer)

    return (run["step_time_ns"]["value"] / 1e6, limit(alone), limit(run), alone["partition_ns"]["compute"] / 1e6,
            sum(times), run["exposed_communication_ns"] / 1e6)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    cores = len(os.sched_getaffinity(0))
    print(f"{rounds} rounds, {RANKS} ranks on {cores} cores" +
          ("" if cores > RANKS else ": not free, what moves bytes takes its time from compute"))
    for name, options in CASES.items():
        with tempfile.TemporaryDirectory() as directory:
            rows = [measure(options, pathlib.Path(directory)) for _ in range(rounds)]
        ratios = [step / limit for step, limit, *_ in rows]
        of_own = statistics.median(step / own for step, _, own, *_ in rows)
        step, _, _, compute, communication, exposed = (statistics.median(column) for column in zip(*rows))
        print(f"{name:20} step {step:7.2f} ms   {statistics.median(ratios):.3f} of the limit "
              f"({min(ratios):.3f} to {max(ratios):.3f}), {of_own:.3f} with its own compute   compute {compute:.2f}, communication {communication:.2f}, "
              f"exposed {exposed:.2f} ms")


if __name__ == "__main__":
    main()
