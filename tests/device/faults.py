#!/usr/bin/env python3
"""Ranks that are killed or hang, and runs that are interrupted, while CUDA graphs with all-reduces are in flight: the run ends in time
with the right exit code and names the rank, no process of it is left, the GPU's memory is free again and the next run works. Exit code 1
where that is not so.

    faults.py DDBENCH
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import uuid

RUN = ["run", "--device", "cuda", "--gpus", "2", "--share-gpus", "-O", "hidden=512,512", "--no-baseline", "--quiet", "--json"]
ENDLESS = ["--steps", "10000000", "--timeout", "8"]
START_S, END_S, LEFT_S, NOISE_MIB = 60, 60, 30, 64


def environment_of(pid):
    try:
        return dict(entry.split(b"=", 1) for entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if b"=" in entry)
    except OSError:
        return {}


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processes(mark):
    """{pid: rank, or None} of the processes that inherited the mark."""
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        variables = environment_of(pid)
        if variables.get(b"DDBENCH_FAULTS_MARK") == mark.encode() and is_alive(pid):
            found[pid] = int(variables[b"RANK"]) if b"RANK" in variables else None
    return found


def wait_for(condition, seconds):
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if result := condition():
            return result
        time.sleep(0.1)
    return None


def gpu_mib():
    asked = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True)
    used = asked.stdout.split()
    return int(used[0]) if used and used[0].isdigit() else 0


class Case:
    def __init__(self, ddbench, folder):
        self.mark, self.folder, self.metrics = uuid.uuid4().hex, folder, folder / "metrics"
        self.environment = dict(os.environ, DDBENCH_FAULTS_MARK=self.mark, DDBENCH_DB=str(folder / "results.db"))
        self.memory = gpu_mib()
        self.process = subprocess.Popen([ddbench, *RUN, *ENDLESS, "--metrics-file", self.metrics], env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def steps(self):
        if not self.metrics.exists():
            return 0
        values = [float(line.split()[-1]) for line in self.metrics.read_text().splitlines() if line.startswith("ddbench_live_steps{")]
        return max(values, default=0)

    def rank(self, number):
        """The process of a rank; its helpers, if any, have the rank's variables too and are younger."""
        return min(pid for pid, rank in processes(self.mark).items() if rank == number)

    def run(self, fault, code, words):
        """What is wrong."""
        try:
            if not wait_for(lambda: self.steps() > 50 or self.process.poll() is not None, START_S) or self.process.poll() is not None:
                return [f"no steps: {self.process.communicate(timeout=1)[1][-300:] if self.process.poll() is not None else 'none in time'}"]
            begin = time.monotonic()
            fault(self)
            try:
                output, errors = self.process.communicate(timeout=END_S)
            except subprocess.TimeoutExpired:
                return [f"not ended {END_S} s after the fault"]
            self.took = time.monotonic() - begin
            wrong = []
            if self.process.returncode != code:
                wrong.append(f"exit code {self.process.returncode}, not {code}")
            reported = json.loads(output)["run"]["reason"] if output.startswith("{") else ""
            missing = [word for word in words if word.lower() not in (errors + reported).lower()]
            if missing:
                wrong.append(f"nothing of {missing} in: {(reported or errors)[-300:]}")
            if not wait_for(lambda: not processes(self.mark), LEFT_S):
                wrong.append(f"processes left: {processes(self.mark)}")
            if not wait_for(lambda: gpu_mib() <= self.memory + NOISE_MIB, LEFT_S):
                wrong.append(f"GPU memory: {gpu_mib()} MiB used, {self.memory} before")
            return wrong
        finally:
            self.end()

    def end(self):
        """Nothing of it is left that the next one could meet."""
        for pid in processes(self.mark):
            with contextlib.suppress(ProcessLookupError):  # those of a killed launcher end by themselves
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        wait_for(lambda: not processes(self.mark) and gpu_mib() <= self.memory + NOISE_MIB, LEFT_S)


def signal_of_rank(number):
    return lambda case: os.kill(case.rank(1), number)


def signal_of_run(number):
    return lambda case: case.process.send_signal(number)


CASES = {
    "a rank is killed": (signal_of_rank(signal.SIGKILL), 1, ["rank 1", "SIGKILL"]),
    "a rank aborts": (signal_of_rank(signal.SIGABRT), 1, ["rank 1", "SIGABRT"]),
    "a rank hangs": (signal_of_rank(signal.SIGSTOP), 1, ["rank 1"]),
    "the run is interrupted": (signal_of_run(signal.SIGINT), 130, []),
    "the run is terminated": (signal_of_run(signal.SIGTERM), 130, []),
    "ddbench itself is killed": (signal_of_run(signal.SIGKILL), -signal.SIGKILL, []),
}


def main(ddbench):
    failed, took = [], []
    for name, (fault, code, words) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            case = Case(ddbench, pathlib.Path(folder))
            wrong = case.run(fault, code, words)
        took.append(f"{name}: {getattr(case, 'took', 0):.1f} s")
        print(took[-1], *wrong, flush=True)
        failed += [f"{name}: {text}" for text in wrong]
    with tempfile.TemporaryDirectory() as folder:
        after = subprocess.run([ddbench, *RUN, "--steps", "20"], capture_output=True, text=True, timeout=120,
                               env=dict(os.environ, DDBENCH_DB=f"{folder}/results.db"))
    if after.returncode:
        failed.append(f"the run after them: exit code {after.returncode}: {after.stderr[-300:]}")
    print(f"{len(CASES)} faults and a run after them: " + ("WRONG: " + "; ".join(failed) if failed else ", ".join(took)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
