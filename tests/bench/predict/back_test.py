#!/usr/bin/env python3
"""How accurately `ddbench scaling --predict` predicts the largest size of published curves from the smaller ones.

For each curve of a collection all sizes but the largest are imported and the largest is predicted. Peers that need no
program: each GPU keeps the rate of the largest size that is left; the line in (k-1)/k through the last two sizes (k:
nodes, or GPUs where the table has no nodes); the mean of both. Prints the median and 90th percentile (nearest rank) of
the relative error of the throughput, and how many 95% intervals hold the truth.

    tests/bench/predict/back_test.py [DDBENCH [COLLECTION.csv ...]]

A collection has columns model, setting, framework (together one curve), gpus, and throughput or step_time_s; nodes where
they are known. Sizes that cannot be predicted are counted: a curve whose largest size is the first on several nodes.
"""
import collections
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PUBLISHED = ROOT / "tests/fixtures/published"


def curves(path):
    """Rows (nodes or None, GPUs, samples/s up to a factor) of each curve, by GPUs; curves of three sizes or more."""
    found = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            gpus = int(row["gpus"])
            rate = float(row["throughput"]) if row.get("throughput") else gpus / float(row["step_time_s"])
            key = (row["model"], row["setting"], row["framework"])
            found[key].append((int(row["nodes"]) if row.get("nodes") else None, gpus, rate))
    return {key: sorted(rows, key=lambda row: row[1]) for key, rows in found.items() if len(rows) > 2}


def ring(row):
    members = row[0] if row[0] else row[1]
    return (members - 1) / members


def peers(known, asked):
    """Seconds of a GPU for a sample."""
    before, last = [gpus / rate for _, gpus, rate in known[-2:]]
    between = ring(known[-1]) - ring(known[-2])
    line = last + (last - before) / between * (ring(asked) - ring(known[-1])) if between else last
    return {"keeps its rate": last, "line in (k-1)/k": line, "mean of both": (last + line) / 2}


def predicted(ddbench, known, asked, directory):
    """(samples/s, low, high), or None where the prediction is refused."""
    table, store = directory / "t.csv", directory / "t.db"
    store.unlink(missing_ok=True)
    with_nodes = known[0][0] is not None
    table.write_text(("nodes,gpus,throughput\n" if with_nodes else "gpus,throughput\n") +
                     "".join((f"{n}," if with_nodes else "") + f"{g},{r!r}\n" for n, g, r in known))
    subprocess.run([ddbench, "import", "table", table, "--db", store], check=True, capture_output=True)
    size = f"{asked[0]}x{asked[1] // asked[0]}" if with_nodes else str(asked[1])
    done = subprocess.run([ddbench, "scaling", "--predict", size, "--json", "--db", store],
                          capture_output=True, text=True, check=False)
    if done.returncode == 2 and "--predict" in done.stderr:
        return None
    (prediction,) = json.loads(done.stdout)["predictions"]
    return prediction["samples_per_s"], prediction["ci_low"], prediction["ci_high"]


def percentile(errors, share):
    return sorted(errors)[max(0, math.ceil(share * len(errors)) - 1)]


def back_test(ddbench, path, directory):
    errors, covered, refused = collections.defaultdict(list), 0, 0
    for rows in curves(path).values():
        *known, asked = rows
        found = predicted(ddbench, known, asked, directory)
        if found is None:
            refused += 1
            continue
        rate, low, high = found
        covered += low <= asked[2] <= high
        errors["ddbench"].append(abs(rate / asked[2] - 1))
        for name, seconds in peers(known, asked).items():
            errors[name].append(abs(asked[1] / seconds / asked[2] - 1))
    count = len(errors["ddbench"])
    print(f"{path.stem}: {count} curves, {refused} refused, {covered} of {count} intervals hold the truth")
    for name, values in errors.items():
        print(f"  {name:16}  median {100 * statistics.median(values):5.2f}%   90th percentile "
              f"{100 * percentile(values, 0.9):5.2f}%   worst {100 * max(values):5.2f}%")


def main():
    ddbench = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release/bin/ddbench"
    paths = [pathlib.Path(path) for path in sys.argv[2:]] or sorted(PUBLISHED.glob("*.csv"))
    with tempfile.TemporaryDirectory() as directory:
        for path in paths:
            back_test(ddbench.resolve(), path, pathlib.Path(directory))


if __name__ == "__main__":
    main()
