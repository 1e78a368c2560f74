#!/usr/bin/python3
"""Runs of two machines into one store on a file system without shared memory, and kills (README.md)."""

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
import time

HERE = pathlib.Path(__file__).parent
SMALL = ["--nodes", "1", "--gpus", "1", "--no-baseline", "--quiet", "-O", "hidden=16", "--warmup", "1"]


def mounted(folder, points):
    servers = [subprocess.Popen(["/usr/bin/python3", HERE / "incoherent_fs.py", folder, point]) for point in points]
    deadline = time.monotonic() + 10
    while not all(os.path.ismount(point) for point in points):
        if time.monotonic() > deadline or any(server.poll() is not None for server in servers):
            sys.exit("no FUSE here: it needs /dev/fuse, the right to mount, fusermount, and Debian's python3-fusepy")
        time.sleep(0.05)
    return servers


def round_of_runs(ddbench, databases, number, writers, kills):
    """Some runs at once, over both mounts; some of them are killed. Their names, by whether they ended well."""
    started = {}
    for index in range(writers):
        name = f"r{number}w{index}"
        command = [ddbench, "run", "--name", name, "--db", databases[index % 2], "--steps", str(random.choice([10, 40, 200])), *SMALL]
        started[name] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    victims = random.sample(sorted(started), kills)
    for name in victims:
        time.sleep(random.uniform(0, 0.5))
        started[name].send_signal(signal.SIGKILL)
    ended = {}
    for name, process in started.items():
        _, error = process.communicate()
        ended[name] = process.returncode
        if process.returncode not in (0, -signal.SIGKILL):
            print(f"{name}: exit {process.returncode}: {error.strip()}")
    return ended


def judge(ddbench, database, ended):
    """What is wrong with the store, in words."""
    problems = []
    check = subprocess.run([ddbench, "db", "check", "--json", "--db", database], capture_output=True, text=True)
    if check.returncode != 0:
        problems.append(f"db check: exit {check.returncode}: {check.stdout}{check.stderr}")
    listed = subprocess.run([ddbench, "list", "--json", "--limit", "0", "--db", database], capture_output=True, text=True)
    try:
        states = {run["name"]: run["state"] for run in json.loads(listed.stdout)}
    except (ValueError, KeyError, TypeError) as error:
        return [*problems, f"list: {listed.stdout[:200]}{listed.stderr}{error}"]
    for name, status in ended.items():
        if status == 0 and states.get(name) != "done":
            problems.append(f"{name} ended well and is {states.get(name, 'not there')}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--writers", type=int, default=4, help="runs at once, half of them on either mount")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    ddbench = os.environ["DDBENCH_EXECUTABLE"]
    base = pathlib.Path(tempfile.mkdtemp(prefix="ddbench-store-faults-"))
    points = [base / "a", base / "b"]
    for folder in [base / "real", *points]:
        folder.mkdir()
    servers = mounted(base / "real", points)
    databases = [str(point / "results.db") for point in points]
    ended, problems, killed, number = {}, [], 0, 0
    try:
        while killed < options.kills and not problems:
            latest = round_of_runs(ddbench, databases, number, options.writers, random.choice([1, 2]))
            number += 1
            ended.update(latest)
            killed += sum(status == -signal.SIGKILL for status in latest.values())
            problems += [f"{name}: exit {status}" for name, status in latest.items() if status not in (0, -signal.SIGKILL)]
            problems += judge(ddbench, databases[number % 2], ended)
        print(subprocess.run([ddbench, "db", "check", "--db", databases[0]], capture_output=True, text=True).stdout, end="")
    finally:
        for point in points:
            subprocess.run(["fusermount", "-u", point], check=False)
        for server in servers:
            server.wait(timeout=10)
        shutil.rmtree(base, ignore_errors=True)
    well = sum(status == 0 for status in ended.values())
    print(f"{len(ended)} runs, {killed} killed, {well} ended well; {len(problems)} problems")
    for problem in problems:
        print(" ", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
