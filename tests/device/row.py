#!/usr/bin/env python3
"""One run of ddbench as the text of a row of results.md; exit code 1, and the reason, when it failed, or did not do what it was
started for (whole.py).

    row.py throughput DDBENCH OPTION...              of `ddbench run`
    row.py join DDBENCH OPTION...                    10,000 all-reduces: each kernel that CUPTI saw has its event of NCCL's
                                                     profiler, and none is lost
    row.py program DDBENCH OPTION... -- COMMAND...   a program that ddbench did not write
"""

import sys

from one_run import mfu_text, one_run
from whole import wrong_with


def milliseconds(run):
    return f"step {run['partition_step_ns'] / 1e6:.3f} ms, communication {(run['communication_ns'] or 0) / 1e6:.3f} ms"


def throughput(run):
    overhead = run["probe_overhead_percent"]
    print(f"{run['samples_per_s']:.1f} samples/s, {mfu_text(run)}, {milliseconds(run)} of which "
          f"{(run['overlap_ns'] or 0) / 1e6:.3f} overlap, probes {'not known' if overhead is None else f'{overhead:.2f}%'}, "
          f"network {run['environment']['network']}, graph {run['environment']['facts'].get('training.cuda_graph')}")
    return 0


def join(run):
    facts = run["environment"]["facts"]
    lost = {name: facts[name] for name in ("nccl.events_without_kernel", "nccl.kernels_without_event", "nccl.unfinished",
                                           "nccl.unpaired", "cupti.dropped_records", "cupti.unavailable", "analysis.incomplete_collectives")
            if name in facts}
    count = sum(c["count"] for c in run["collectives"] if c["function"] == "all_reduce")
    # Both are of measured steps with probes, of whole runs: every collective of every rank has its event.
    wanted = sum(c["count"] for c in run["collectives"]) * run["run"]["world_size"]
    joined = int(facts.get("nccl.joined", 0))
    algorithms = {c["manner"] for c in run["collectives"]}
    print(f"{count} all-reduces, {joined} of {wanted} on all ranks joined, lost: {lost or 'none'}, "
          f"{run['dropped_spans']} spans dropped; {'; '.join(sorted(algorithms))}")
    return 1 if lost or run["dropped_spans"] or count < 10_000 or joined != wanted or "" in algorithms else 0


def program(run):
    print(f"{run['steps']['measured']} steps, {milliseconds(run)}, steps from "
          f"{run['environment']['facts'].get('program.steps_from')}, network {run['environment']['network']}")
    return 0


if __name__ == "__main__":
    KINDS = {"throughput": throughput, "join": join, "program": program}
    if len(sys.argv) < 3 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    try:
        measured = one_run(*sys.argv[2:], timeout_s=230)
        code = KINDS[sys.argv[1]](measured)
        wrong = wrong_with(measured, sys.argv[3:])
        if wrong:
            print("but " + "; ".join(wrong))
        sys.exit(1 if wrong else code)
    except RuntimeError as error:
        sys.exit(str(error))
