#!/usr/bin/env python3
"""What Holistic Trace Analysis computes of traces, beside the same from the spans that `ddbench import kineto`
made of them: GPU time from the first kernel's begin to the last one's end, how much of it computes, does
something else, or nothing, and how much of the communication lies beside computation. HTA is set to keep
nanoseconds and the last step (it rounds down to microseconds and leaves that out otherwise).

usage: same_as_hta.py DDBENCH TRACE...      traces of one rank each; this Python has HTA"""

import json
import os
import subprocess
import sys
import tempfile

COMPUTE = {"forward", "backward", "optimizer", "compute"}


def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([begin, end])
    return merged


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def both(a, b):
    return length(a) + length(b) - length(union(a + b))


def by_ddbench(ddbench, trace):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, DDBENCH_DB=f"{folder}/store.db")
        for arguments in (["import", "kineto", trace], ["report", "--format", "perfetto", "-o", f"{folder}/trace.json"]):
            subprocess.run([ddbench, *arguments], env=environment, check=True, capture_output=True)
        with open(f"{folder}/trace.json") as file:
            events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    kinds = {"compute": [], "communication": [], "copy": []}
    for event in events:
        kind = "compute" if event["cat"] in COMPUTE else event["cat"]
        if kind in kinds:
            begin = round(event["ts"] * 1000)
            kinds[kind].append((begin, begin + round(event["dur"] * 1000)))
    everything = [interval for of_kind in kinds.values() for interval in of_kind]
    busy, compute, communication = union(everything), union(kinds["compute"]), union(kinds["communication"])
    span = max((end for _, end in everything), default=0) - min((begin for begin, _ in everything), default=0)
    return {"kernel_time": span / 1e3, "compute_time": length(compute) / 1e3, "idle_time": (span - length(busy)) / 1e3,
            "non_compute_time": (length(busy) - length(compute)) / 1e3,
            "overlap %": 100 * both(compute, communication) / length(communication) if communication else float("nan")}


def by_hta(trace):
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    from hta.trace_analysis import TraceAnalysis
    analysis = TraceAnalysis(trace_files={0: trace}, trace_dir=".", include_last_profiler_step=True)
    row = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    found = {f"{what}_time": row[f"{what}_time(us)"] for what in ("kernel", "compute", "idle", "non_compute")}
    return {**found, "overlap %": analysis.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"]}


def main(ddbench, *traces):
    for trace in traces:
        print(trace)
        ours = by_ddbench(ddbench, trace)
        try:
            theirs = by_hta(os.path.abspath(trace))
        except Exception as error:  # HTA fails in many ways on traces without a GPU
            print(f"  HTA: {type(error).__name__}: {str(error)[:100]}")
            continue
        for what, value in ours.items():
            equal = (value != value and theirs[what] != theirs[what]) or abs(value - theirs[what]) < (0.005 if "%" in what else 0.5)
            print(f"  {what:17} ddbench {value:14.3f}   HTA {theirs[what]:14.3f}   {'' if equal else 'differs'}")


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
