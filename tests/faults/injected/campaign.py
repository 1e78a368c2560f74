#!/usr/bin/python3
"""Injects faults into the real ddbench, and checks after each one what ddbench promises (README.md)."""

import argparse
import collections
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import isolation
import kinds
from promises import broken
from room import EXECUTABLE, Room

HERE = pathlib.Path(__file__).parent


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--category", default="all", help=f"all, or some of {','.join(kinds.COUNTS)}")
    parser.add_argument("--count", type=int, help=f"faults of each category (default: {kinds.COUNTS})")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, action="append", help="repeat this fault of the seed; again for more")
    parser.add_argument("--workers", type=int, default=2, help="faults at a time")
    parser.add_argument("--verbose", action="store_true", help="print every fault")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.categories = list(kinds.COUNTS) if options.category == "all" else options.category.split(",")
    if unknown := set(options.categories) - set(kinds.COUNTS):
        parser.error(f"no category {', '.join(unknown)}")
    return options


def all_faults(options):
    return [(category, number) for category in options.categories
            for number in options.only or range(1, (options.count or kinds.COUNTS[category]) + 1)]


def one_fault(base, templates, seed, category, number):
    """What is printed about it: a dictionary."""
    generator = random.Random(f"{seed}/{category}/{number}")
    began = time.monotonic()
    room = Room(base / "room", base / "shim.so")
    result = {"category": category, "number": number, "what": "", "outcome": "skipped", "problems": []}
    try:
        fault = kinds.inject(category, room, generator, templates)
        result |= {"what": fault.what, "outcome": fault.outcome, "problems": broken(room, fault)}
    except kinds.Impossible as error:
        result["what"] = str(error)
    except Exception:
        result |= {"outcome": "campaign failed", "problems": [" <- ".join(reversed(traceback.format_exc(limit=-3).strip().splitlines()))]}
    room.kill_all()
    shutil.rmtree(room.base)
    return result | {"seconds": round(time.monotonic() - began, 2)}


def work(options):
    """In a worker: the faults whose turn it is, a line of JSON each."""
    base, faults = pathlib.Path(options.worker[0]), json.loads(options.worker[1])
    isolation.settle(base)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", base / "shim.so", HERE / "shim.c", "-ldl"], check=True)
    templates = kinds.Templates(base)
    try:
        for category, number in faults:
            print(json.dumps(one_fault(base, templates, options.seed, category, number)))
    finally:
        templates.stop()


def collect(options, number, faults, results):
    with tempfile.TemporaryDirectory(prefix="ddbench-faults-") as base:
        command = [*isolation.prefix(), sys.executable, __file__, "--seed", str(options.seed), "--worker", base, json.dumps(faults)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            for line in process.stdout:
                result = json.loads(line)
                results.append(result)
                if len(results) % 50 == 0:
                    print(f"{len(results)} faults so far", flush=True)
                if result["problems"] or options.verbose:
                    report(options, result)
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        if process.returncode != 0:
            print(f"worker {number} ended with {process.returncode}: some of its faults did not take place")


def report(options, result):
    again = f"--category {result['category']} --seed {options.seed} --only {result['number']}"
    print(f"{'PROBLEM' if result['problems'] else 'kept'} {again} ({result['seconds']} s): {result['what']}: {result['outcome']}", flush=True)
    for problem in result["problems"]:
        print(f"    {problem}", flush=True)


def print_table(categories, results):
    print(f"\n{'category':<12}{'faults':>8}{'problems':>10}{'skipped':>9}  outcomes")
    for category in categories:
        own = [result for result in results if result["category"] == category]
        outcomes = collections.Counter(result["outcome"] for result in own)
        print(f"{category:<12}{len(own):>8}{sum(bool(r['problems']) for r in own):>10}{outcomes.pop('skipped', 0):>9}  "
              + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    reasons = {(r["category"], r["what"]) for r in results if r["outcome"] == "skipped"}
    for category, reason in sorted(reasons):
        print(f"skipped in {category}: {reason}")


def main():
    options = parsed()
    if options.worker:
        work(options)
        return 0
    if why := isolation.missing():
        print(why)
        return 5
    faults = all_faults(options)
    results, began = [], time.monotonic()
    shares = [faults[worker::options.workers] for worker in range(options.workers)]
    threads = [threading.Thread(target=collect, args=(options, number, share, results)) for number, share in enumerate(shares) if share]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print_table(options.categories, results)
    problems = sum(bool(result["problems"]) for result in results)
    print(f"{len(results)} faults in {time.monotonic() - began:.0f} s, seed {options.seed}, {EXECUTABLE}: {problems} with problems")
    return 1 if problems or len(results) < len(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
