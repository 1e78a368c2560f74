#!/usr/bin/env python3
"""How fast, and in how much memory, `ddbench import kineto` reads a trace, over the plain Python computation of the same
figures (tests/support/trace_reference.py), and over Holistic Trace Analysis where this Python has it. Processes of their own,
interleaved; medians of what they took, start included. "HTA, imported" leaves out what Python takes to start and to import HTA:
its time begins behind that. ddbench's time always has its start, its store, and steps, phases and waits for peers, which HTA does
not compute.

usage: against_python.py DDBENCH TRACE [REPETITIONS]      a trace of one rank, .json or .json.gz"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "support"
REFERENCE = f"import sys; sys.path.insert(0, {str(SUPPORT)!r}); import trace_reference; trace_reference.breakdown(sys.argv[1])"
HTA = """import sys, time
from hta.trace_analysis import TraceAnalysis
begin = time.monotonic()
trace = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=".")
trace.get_temporal_breakdown(visualize=False)
trace.get_comm_comp_overlap(visualize=False)
print("analysed in", time.monotonic() - begin)"""


def run(command, environment):
    """Seconds and peak MB of a process, and the seconds that it says it took behind its imports."""
    with tempfile.TemporaryFile("w+") as reported:
        begin = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=reported, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        if status != 0:
            raise RuntimeError(f"{command[:3]} failed")
        reported.seek(0)
        own = [float(line.split()[-1]) for line in reported if line.startswith("analysed in ")]
    return seconds, usage.ru_maxrss / 1024, own[0] if own else seconds


def main(ddbench, trace, repetitions=5):
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "store.db"
        environment = dict(os.environ, DDBENCH_DB=str(store))
        commands = {"ddbench": [ddbench, "import", "kineto", trace],
                    "Python reference": [sys.executable, "-c", REFERENCE, trace]}
        if subprocess.run([sys.executable, "-c", "import hta.trace_analysis"], capture_output=True).returncode == 0:
            commands["HTA"] = [sys.executable, "-c", HTA, trace]
        taken = {name: [] for name in commands}
        for _ in range(int(repetitions)):
            for name, command in commands.items():
                for file in store.parent.glob("store.db*"):
                    file.unlink()
                taken[name].append(run(command, environment))
        medians = {name: [statistics.median(values) for values in zip(*runs)] for name, runs in taken.items()}
    own_s, own_mb, _ = medians["ddbench"]
    print(f"{trace}: {os.path.getsize(trace) / 1e6:.2f} MB, {repetitions} repetitions")
    if "HTA" in medians:
        medians["HTA, imported"] = [medians["HTA"][2], medians["HTA"][1], 0]
    for name, (seconds, megabytes, _) in medians.items():
        print(f"  {name:17} {seconds * 1e3:8.1f} ms {megabytes:8.1f} MB   {seconds / own_s:6.1f} times the time, "
              f"{megabytes / own_mb:5.1f} times the memory of ddbench")


if len(sys.argv) < 3 or shutil.which(sys.argv[1]) is None:
    sys.exit(__doc__)
main(*sys.argv[1:])
