#!/usr/bin/env python3
"""What recording for `ddbench diagnose` costs: spans and processor time of a step, of two builds in turn.

    tests/bench/diagnose/recording_cost.py --before old/bin/ddbench --after build/release/bin/ddbench
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile


def measured(executable, steps, folder):
    """(spans a step and rank with the probes on, processor time a step of all ranks and the launcher in ms)"""
    environment = dict(os.environ, DDBENCH_DB=str(folder / "results.db"), DDBENCH_TMPDIR=str(folder))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([executable, "run", "--nodes", "2", "--gpus", "1", "--steps", str(steps), "--warmup", "5", "-O", "hidden=64",
                           "--no-baseline", "--quiet", "--json"], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    facts = json.loads(done.stdout)["environment"]["facts"]
    return float(facts["probe_cost.spans"]), 1e3 * spent / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    seen = {"before": [], "after": []}
    with tempfile.TemporaryDirectory(prefix="ddbench-cost-") as folder:
        for _ in range(options.rounds):
            for which, values in seen.items():
                place = pathlib.Path(folder) / which
                place.mkdir(exist_ok=True)
                values.append(measured(getattr(options, which), options.steps, place))
    for which, values in seen.items():
        spans, times = zip(*values)
        print(f"{which:7} {statistics.median(spans):6.1f} spans a step and rank   {statistics.median(times):7.3f} ms of processor time a step "
              f"({min(times):.3f} to {max(times):.3f}, {len(times)} runs)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
