#!/usr/bin/python3
"""A job whose node dies again and again, and which its scheduler starts again on another one (README.md)."""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile

CASE = ["--name", "job", "--gpus", "2", "--steps", "600", "--warmup", "2", "--checkpoint-every", "20", "--data-delay", "4ms", "-O", "hidden=16",
        "--no-baseline", "--quiet", "--json"]


class Job:
    """One job of a scheduler: a number, and how often it was started again."""

    def __init__(self, ddbench, database, number):
        self.ddbench, self.database, self.number, self.starts = ddbench, database, number, 0

    def start(self):
        """On another host each time: a host's own dead processes would be known."""
        environment = dict(os.environ, DDBENCH_DB=self.database, SLURM_JOB_ID=str(self.number))
        if self.starts:
            environment["SLURM_RESTART_COUNT"] = str(self.starts)
        self.starts += 1
        command = ["unshare", "--uts", "sh", "-c", f"hostname node{self.starts}; exec \"$@\"", "sh", self.ddbench, "run", "--launcher", "local",
                   "--continue", *CASE]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def killed_run(process, least, most):
    """Kills the node, ddbench and ranks, at some moment. What it printed when it ended before."""
    try:
        out, error = process.communicate(timeout=random.uniform(least, most))
        return process.returncode, out, error
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", ""


def parameters(ddbench, database, run_id):
    import sqlite3
    rows = sqlite3.connect(database).execute("select distinct parameter_hash from rank join run using (run_key) where id = ?", (run_id,)).fetchall()
    return {row[0] for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    ddbench = os.environ["DDBENCH_EXECUTABLE"]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ddbench-requeue-"))
    os.environ["DDBENCH_TMPDIR"] = str(folder)
    database = str(folder / "results.db")
    out, error = Job(ddbench, database, 1).start().communicate()
    expected = parameters(ddbench, database, json.loads(out)["run"]["id"])
    assert len(expected) == 1, error
    kills, jobs, problems, number, resumed = 0, 0, [], 100, 0
    while kills < options.kills and not problems:
        job, jobs, number = Job(ddbench, database, number), jobs + 1, number + 1
        for _ in range(50):
            status, out, error = killed_run(job.start(), 0.05, 4)
            if status is None:
                kills += 1
                continue
            if status != 0:
                problems.append(f"job {job.number}, start {job.starts}: exit {status}: {error}")
                break
            run = json.loads(out)["run"]["id"]
            resumed += job.starts > 1
            if parameters(ddbench, database, run) != expected:
                problems.append(f"job {job.number}: {run} ended with other parameters")
            break
        else:
            problems.append(f"job {job.number} did not end in {job.starts} starts")
    listed = json.loads(subprocess.run([ddbench, "list", "--json", "--limit", "0", "--db", database], capture_output=True, text=True).stdout)
    states = [run["state"] for run in listed]
    if "running" in states:
        problems.append(f"{states.count('running')} runs are running for ever")
    check = subprocess.run([ddbench, "db", "check", "--db", database], capture_output=True, text=True)
    if check.returncode != 0:
        problems.append(check.stdout + check.stderr)
    print(f"{kills} kills of {jobs} jobs; {resumed} ended well after a kill; runs: "
          + ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states))) + f"; {len(problems)} problems")
    for problem in problems:
        print(" ", problem)
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
