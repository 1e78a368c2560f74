#!/usr/bin/env python3
"""Injects random faults into runs of the real ddbench and counts how often `ddbench diagnose` finds cause, victim and onset, and how
often it accuses somebody in a healthy run. README.md says how to run it and what it has shown.

    DDBENCH_EXECUTABLE=build/release/bin/ddbench tests/faults/diagnose/campaign.py --runs 200 --healthy 100
"""

import argparse
import collections
import json
import os
import pathlib
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

WARMUP = 5
PACE_MS = {2: 5, 3: 7, 4: 8, 6: 12, 8: 16}  # of a step, by ranks: on two cores the rest of a step grows with them
CAUSES = {"operator": "slow_compute", "data": "data_loading", "host": "host_gaps", "moving": "moving_imbalance",
          "pauses": "pauses", "busy": "contention", "link": "slow_link", "everywhere": "slow_operator"}
WITH_ONSET = ("operator", "data", "host", "everywhere")
ONSET_TOLERANCE = 0.05


# Before all other threads of the core: among equals Linux lets those first that slept, as a rank does in collectives.
BUSY_LOOP = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while True:
    until = time.monotonic() + float(sys.argv[2]) / 1e3
    while time.monotonic() < until:
        pass
    time.sleep(float(sys.argv[3]) / 1e3)
"""


class Campaign:
    def __init__(self, executable, folder):
        self.executable = executable
        self.environment = dict(os.environ, DDBENCH_DB=str(folder / "results.db"), DDBENCH_TMPDIR=str(folder))

    def run(self, fault):
        """Runs the case with its fault; what diagnose says of it, and the share of the processors that other processes had meanwhile."""
        environment = dict(self.environment)
        if fault["inject"]:
            environment["DDBENCH_INJECT"] = fault["inject"]
        nodes = fault.get("nodes", 1)
        command = [self.executable, "run", "--nodes", nodes, "--gpus", fault["ranks"] // nodes, "--steps", fault["steps"], "--warmup", WARMUP,
                   "-O", f"hidden={fault['hidden']}", "--batch-per-gpu", fault.get("batch", 64), "--no-baseline", "--quiet",
                   "--timeout", 30]
        if fault.get("rate"):
            command += ["--link", fault["rate"]]
        began, busy, own = time.monotonic(), busy_seconds(), children_seconds()
        process = subprocess.Popen([*map(str, command)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        disturbance = {"pauses": pause_now_and_then, "busy": keep_core_busy}.get(fault["kind"])
        ended = threading.Event()
        thread = threading.Thread(target=disturbance, args=(process.pid, fault, ended)) if disturbance else None
        if thread:
            thread.start()
        _, said = process.communicate(timeout=300)
        ended.set()
        if thread:
            thread.join()
        if process.returncode != 0:
            raise SystemExit(f"{command} ended with {process.returncode}: {said.decode()}")
        used = busy_seconds() - busy - (children_seconds() - own)
        others = max(0, used) / (time.monotonic() - began) / os.cpu_count()
        done = subprocess.run([self.executable, "diagnose", "--json"], env=self.environment, capture_output=True, check=True)
        return json.loads(done.stdout), others


def busy_seconds():
    """That all processors have worked."""
    user, nice, system, _, _, irq, softirq, *_ = map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """Of those that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rank_process(launcher, rank):
    """The process of a rank, once it is there."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if b"worker" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                continue
            status = pathlib.Path(f"/proc/{pid}/stat").read_text()
            variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        parent = int(status[status.rindex(")"):].split()[2])
        if f"RANK={rank}".encode() in variables and (parent == launcher or is_below(parent, launcher)):
            return int(pid)
    return None


def is_below(pid, ancestor):
    while pid > 1:
        try:
            status = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        pid = int(status[status.rindex(")"):].split()[2])
        if pid == ancestor:
            return True
    return False


def pause_now_and_then(launcher, fault, ended):
    """SIGSTOP and SIGCONT to one rank at regular times."""
    victim = None
    while victim is None and not ended.wait(0.02):
        victim = rank_process(launcher, fault["victim"])
    while not ended.wait(fault["period_s"]):
        try:
            os.kill(victim, signal.SIGSTOP)
            time.sleep(fault["pause_s"])
            os.kill(victim, signal.SIGCONT)
        except ProcessLookupError:
            return


def keep_core_busy(launcher, fault, ended):
    """Loops on the core to which the rank is pinned, which it has for itself: the others go to another one."""
    cores = sorted(os.sched_getaffinity(0))
    core = cores[fault["victim"] % len(cores)]
    busy = subprocess.Popen([sys.executable, "-S", "-c", BUSY_LOOP, str(core), str(fault["busy_ms"]), str(fault["free_ms"])])
    others = set(range(fault["ranks"])) - {fault["victim"]} if fault["ranks"] > len(cores) else set()
    while not ended.wait(0.02) and others:
        for rank in list(others):
            process = rank_process(launcher, rank)
            if process and is_pinned(process, len(cores)) and move(process, cores[(fault["victim"] + 1) % len(cores)]):
                others.discard(rank)
    ended.wait()
    busy.kill()
    busy.wait()


def is_pinned(process, cores):
    """ddbench has pinned it, and does so once."""
    try:
        return len(os.sched_getaffinity(process)) < cores
    except ProcessLookupError:
        return False


def move(process, core):
    """All threads; False when the process is gone."""
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            os.sched_setaffinity(int(thread), {core})
        return True
    except (ProcessLookupError, FileNotFoundError):
        return False


def draw_fault(rng, kinds, ranks):
    kind = rng.choice(kinds)
    n = rng.choice(ranks)
    steps = rng.randrange(120, 181)
    fault = {"kind": kind, "ranks": n, "victim": rng.randrange(n), "steps": steps, "hidden": 32, "onset": WARMUP}
    if kind == "everywhere" or kind in WITH_ONSET and rng.random() < 0.6:
        fault["onset"] = WARMUP + rng.randrange(steps // 4, 3 * steps // 5)
    pace = PACE_MS[n]
    extra = round(pace * rng.uniform(0.6, 1.2))
    if kind == "pauses":
        fault.update(steps=max(300, 4000 // pace), period_s=rng.uniform(0.25, 0.4), pause_s=rng.uniform(0.12, 0.2))
        fault["inject"] = f"paced={pace}ms"
    elif kind == "busy":
        fault.update(hidden=128, inject=f"paced={pace}ms", busy_ms=pace * rng.uniform(1.2, 1.8), free_ms=pace * 0.3)
    elif kind == "moving":
        fault["inject"] = f"paced={pace}ms,moving={extra}ms"
    elif kind == "link":
        nodes = rng.choice([3, 4])
        rate = rng.choice([200, 400])
        slow = round(rate * rng.uniform(0.3, 0.5))
        fault.update(nodes=nodes, ranks=nodes * rng.choice([1, 2]), victim=rng.randrange(nodes), steps=100, hidden=192, rate=f"{rate}mbit")
        fault["inject"] = f"paced={PACE_MS[fault['ranks']]}ms,link={slow}mbit,node={fault['victim']}"
    elif kind == "everywhere":
        fault["inject"] = f"paced={pace}ms,everywhere={extra}ms,from={fault['onset']}"
    elif kind == "healthy":
        fault["inject"] = f"paced={pace}ms"
        if rng.random() < 0.3:
            fault.update(nodes=n, hidden=128)
            if rng.random() < 0.5:
                fault.update(rate=f"{rng.choice([100, 200, 400])}mbit")
    else:
        fault["inject"] = f"paced={pace}ms,{kind}={extra}ms,rank={fault['victim']},from={fault['onset']}"
    return fault


def judged(fault, found):
    """Whether cause, victim and onset are right; the onset only where one was drawn and the victim is right."""
    cause = found["cause"] == CAUSES[fault["kind"]]
    if fault["kind"] == "link":
        victim = cause and found["nodes"] == [fault["victim"]]
    elif fault["kind"] == "everywhere":
        victim = cause and found["operator"] == "paced"
    else:
        victim = cause and found["ranks"] == ([] if fault["kind"] == "moving" else [fault["victim"]])
    onset = None
    if victim and fault["kind"] in WITH_ONSET:
        onset = abs(found["first_step"] - fault["onset"]) / fault["steps"]
    return cause, victim, onset


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="runs with a fault")
    parser.add_argument("--healthy", type=int, default=100, help="runs without one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", default="2,3,4,6,8")
    parser.add_argument("--kinds", default="operator,data,host,moving,pauses,link,everywhere",
                        help="of these and busy, which needs the right to real-time priority")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long (0: never)")
    parser.add_argument("--keep", help="an existing folder in which the runs stay, to look at them with ddbench")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    ranks = [int(n) for n in options.ranks.split(",")]
    kinds = options.kinds.split(",")
    plan = [draw_fault(rng, kinds, ranks) for _ in range(options.runs)]
    plan += [draw_fault(rng, ["healthy"], ranks) for _ in range(options.healthy)]
    rng.shuffle(plan)
    executable = os.environ.get("DDBENCH_EXECUTABLE", "build/release/bin/ddbench")
    counts = collections.defaultdict(collections.Counter)
    onsets = []
    neighbours = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ddbench-campaign-") as folder:
        campaign = Campaign(executable, pathlib.Path(options.keep or folder))
        for fault in plan:
            if options.seconds and time.monotonic() - began > options.seconds:
                break
            found, others = campaign.run(fault)
            neighbours.append(others)
            count = counts[fault["kind"]]
            count["runs"] += 1
            if fault["kind"] == "healthy":
                count["accused"] += found["accused"]
                count["jitter"] += found["cause"] == "jitter"
                wrong = found["accused"]
            else:
                cause, victim, onset = judged(fault, found)
                count["cause"] += cause
                count["victim"] += victim
                if onset is not None:
                    onsets.append(onset)
                wrong = not victim or (onset or 0) > ONSET_TOLERANCE
            if wrong:
                print(f"wrong: {fault['kind']} on {fault['ranks']} ranks, victim {fault['victim']}, {fault['inject']}: "
                      f"{found['verdict']} (run {found['run']}; other processes had {100 * others:.0f}% of the processors)", flush=True)
    report(counts, onsets)
    if neighbours:
        print(f"other processes had {100 * statistics.median(neighbours):.0f}% of the processors (median of the runs; {100 * max(neighbours):.0f}% at most)")
    return 0


def report(counts, onsets):
    print(f"{'fault':10} {'runs':>5} {'cause':>6} {'cause and victim':>17}")
    faults = collections.Counter()
    for kind in CAUSES:
        if counts[kind]["runs"]:
            faults.update(counts[kind])
            print(f"{kind:10} {counts[kind]['runs']:5} {counts[kind]['cause']:6} {counts[kind]['victim']:17}")
    if faults["runs"]:
        print(f"all faults: victim and cause right in {faults['victim']} of {faults['runs']} "
              f"({100 * faults['victim'] / faults['runs']:.1f}%; goal 95%)")
    if onsets:
        near = sum(onset <= ONSET_TOLERANCE for onset in onsets)
        print(f"onset within 5% of the steps in {near} of {len(onsets)}; median error {100 * sorted(onsets)[len(onsets) // 2]:.1f}%")
    healthy = counts["healthy"]
    if healthy["runs"]:
        print(f"healthy: somebody accused in {healthy['accused']} of {healthy['runs']} (goal 1%), jitter in {healthy['jitter']}")


if __name__ == "__main__":
    sys.exit(main())
