"""What a trace of PyTorch's profiler says of its steps, computed as plainly as possible: every stretch between two
boundaries of any event is looked at by itself. Shares no code, and no method, with analyzer/import/kineto."""

import bisect
import collections
import decimal
import gzip
import json
import re

COPIES = {"aten::" + name for name in ("copy_", "_to_copy", "to", "clone", "contiguous", "_foreach_copy_")}


def load(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    return trace if isinstance(trace, dict) else {"traceEvents": trace}


def complete_events(trace):
    """(category, name, begin, end in ns, thread, args), of the CPU and the GPU."""
    for event in trace["traceEvents"]:
        if event.get("ph") != "X" or event.get("cat", "").lower() == "python_function":
            continue
        begin, length = (int(decimal.Decimal(event[key]) * 1000) for key in ("ts", "dur"))
        yield event.get("cat", "").lower(), event["name"], begin, begin + length, event["tid"], event.get("args", {})


def outermost(events, is_one):
    """Of each thread those that lie in no other such."""
    threads = collections.defaultdict(list)
    for event in events:
        if is_one(event):
            threads[event[4]].append(event)
    for of_thread in threads.values():
        reached = None
        for event in sorted(of_thread, key=lambda e: (e[2], -e[3])):
            if reached is None or event[2] >= reached:
                yield event
                reached = event[3]


class Cover:
    """Whether a point lies in any of some half-open intervals."""

    def __init__(self, intervals):
        self.merged = []
        for begin, end in sorted(i for i in intervals if i[1] > i[0]):
            if self.merged and begin <= self.merged[-1][1]:
                self.merged[-1][1] = max(end, self.merged[-1][1])
            else:
                self.merged.append([begin, end])
        self.begins = [i[0] for i in self.merged]

    def __contains__(self, point):
        at = bisect.bisect_right(self.begins, point) - 1
        return at >= 0 and point < self.merged[at][1]


def intervals_of(trace):
    """Lists of (begin, end) by what they are, and the steps by number."""
    events = list(complete_events(trace))
    steps = {}
    for category, name, begin, end, thread, _ in events:
        mark = re.fullmatch(r"ProfilerStep#(\d+)", name)
        if mark and category in ("", "cpu_op", "user_annotation"):
            steps.setdefault(int(mark[1]), (begin, end, thread))
    found = collections.defaultdict(list)
    on_cpu = [e for e in events if e[0] in ("", "cpu_op", "operator")]
    runtime = [e for e in events if e[0].endswith(("_runtime", "_driver")) or e[0] == "runtime"]
    for category, name, begin, end, _, args in events:
        if category == "kernel":
            is_nccl = re.match(r"(_Z\d+)?nccl", name, re.IGNORECASE) or "Collective name" in args
            found["communication" if is_nccl else "compute"].append((begin, end))
        elif category in ("gpu_memcpy", "gpu_memset", "memcpy", "memset"):
            found["copy"].append((begin, end))
        elif re.match(r"(gloo|mpi|ucc):", name):
            found["communication"].append((begin, end))
        elif name.startswith("enumerate(DataLoader)"):
            found["data_wait"].append((begin, end))
    if not any(e[0] == "kernel" for e in events):
        for _, name, begin, end, _, _ in outermost(on_cpu, lambda e: e[1].startswith("aten::")):
            found["copy" if name in COPIES else "compute"].append((begin, end))
    threads = {thread for _, _, thread in steps.values()}
    threads |= {e[4] for e in on_cpu if e[1].startswith("autograd::engine::evaluate_function")}
    marks = re.compile(r"ProfilerStep#|Optimizer\.|enumerate\(DataLoader\)|gloo:|mpi:|ucc:|nccl:")
    forward = re.compile(r".*Parallel\.forward$|^forward$|^## forward ##$")
    for thread in threads:
        waits = Cover([(e[2], e[3]) for e in runtime if e[4] == thread and e[1].endswith("Synchronize")])
        calls = [e for e in on_cpu if e[4] == thread and not marks.match(e[1]) and not forward.match(e[1])]
        calls += [e for e in runtime if e[4] == thread and not e[1].endswith("Synchronize")]
        busy = Cover([(e[2], e[3]) for e in calls])
        points = sorted({p for cover in (busy, waits) for i in cover.merged for p in i})
        found["host"] += [(a, b) for a, b in zip(points, points[1:]) if a in busy and a not in waits]
    return found, {number: (begin, end) for number, (begin, end, _) in steps.items()}


def breakdown(path):
    """By number of the step: nanoseconds of its parts, by their order of priority, of communication and of overlap."""
    found, steps = intervals_of(load(path))
    covers = {what: Cover(intervals) for what, intervals in found.items()}
    points = sorted({p for cover in covers.values() for i in cover.merged for p in i})
    order = ("compute", "communication", "copy", "data_wait", "host")
    result = {}
    for number, (begin, end) in steps.items():
        parts = collections.Counter({"duration": end - begin})
        inside = points[bisect.bisect_right(points, begin):bisect.bisect_left(points, end)]
        edges = [begin, *inside, end]
        for a, b in zip(edges, edges[1:]):
            here = [what for what in order if what in covers and a in covers[what]]
            parts[{"communication": "exposed"}.get(here[0], here[0]) if here else "idle"] += b - a
            if "communication" in here:
                parts["communication"] += b - a
                if "compute" in here:
                    parts["overlap"] += b - a
        result[number] = parts
    return result
