#!/usr/bin/env python3
"""Makes the example store of `ddbench gui --demo` again: python3 gui/demo/make_demo.py build/release/bin/ddbench

Imports published.csv, one import per name and model, then records small runs on this machine, so that they are the
newest. Needs namespaces for shaped links and an otherwise idle machine. Writes gui/demo/demo.db. What names the machine
or its user is taken out at the end; without the program's path, that is all that is done, to the present store.
"""

import csv
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STEPS = ["--steps", "24", "--warmup", "4", "--workload", "mlp", "-O", "hidden=512,512"]
COMMON = ["--quiet", "--no-metadata"]
NEUTRAL = "demo"
NAMING_FACTS = ("boot_id", "kernel", "ddbench.commit", "command.", "library.")  # those that end in "." are prefixes


def curves():
    """(file name, CSV text) of each name and model, in the file's order. Comments stay in published.csv."""
    lines = [line for line in (HERE / "published.csv").read_text().splitlines(keepends=True) if not line.startswith("#")]
    header, *rows = csv.reader(lines)
    found = {}
    for line, row in zip(lines[1:], rows):
        cells = dict(zip(header, row))
        found.setdefault((cells["workload"], cells["name"]), []).append(line)
    for (workload, name), own in found.items():
        yield f"{workload}-{name}".lower().replace(" ", "-"), lines[0] + "".join(own)


def row_checksum(*values):
    """The store's checksum of a row (analyzer/store/FORMAT.md)."""
    mask = 2**64 - 1

    def mix(state, word):
        product = (state ^ (word & mask)) * 0x9E3779B97F4A7C15 & mask
        return (product << 29 | product >> 35) & mask

    state = len(values)
    for value in values:
        if value is None:
            state = mix(state, 0)
        elif isinstance(value, int):
            state = mix(mix(state, 1), value)
        elif isinstance(value, str):
            data = value.encode()
            state = mix(mix(state, 3), len(data))
            for at in range(0, len(data), 8):
                state = mix(state, int.from_bytes(data[at : at + 8], "little"))
        else:
            raise TypeError(f"no column of runs and ranks holds a {type(value).__name__}")
    return state - 2**64 if state >= 2**63 else state


def neutral_facts(text):
    facts = json.loads(text)
    for name in list(facts):
        if any(name.startswith(each) if each.endswith(".") else name == each for each in NAMING_FACTS):
            del facts[name]
    for name in {"hostname", "owner.user"} & facts.keys():
        facts[name] = NEUTRAL
    if "import.file" in facts:
        facts["import.file"] = pathlib.PurePath(facts["import.file"]).name
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def set_checksums(store, table):
    columns = sorted(row[1] for row in store.execute(f"PRAGMA table_info({table})"))
    columns = [name for name in columns if name not in ("checksum", "run_key")]
    values = ", ".join(f"{table}.{name}" for name in columns)
    if table != "run":
        values = f"(SELECT id FROM run WHERE run.run_key = {table}.run_key), {values}"
    wrong = f"checksum IS NOT row_checksum({values})"
    return store.execute(f"UPDATE {table} SET checksum = row_checksum({values}) WHERE {wrong}").rowcount


def neutralise(file):
    """Takes out what names the recording machine, its user and its folders; each changed row gets its checksum."""
    store = sqlite3.connect(file)
    store.create_function("row_checksum", -1, row_checksum, deterministic=True)
    store.create_function("neutral_facts", 1, neutral_facts, deterministic=True)
    with store:
        if set_checksums(store, "run") + set_checksums(store, "rank") > 0:
            raise SystemExit("make_demo.py computes other checksums than the store: see analyzer/store/FORMAT.md")
        store.execute(
            "UPDATE run SET facts_json = neutral_facts(facts_json), owner_pid = 0, owner_start_ticks = 0,"
            " owner_boot_id = '', owner_host = ''"
        )
        store.execute("UPDATE rank SET host = ?, pid = 0 WHERE host != 'imported'", (NEUTRAL,))
        set_checksums(store, "run")
        set_checksums(store, "rank")
    store.execute("VACUUM")  # nothing stays in free pages
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()


def main(ddbench, store):
    environment = dict(os.environ, DDBENCH_DB=str(store))
    environment.pop("DDBENCH_INJECT", None)

    def call(*words, folder=None, **more):
        subprocess.run([ddbench, *words], env=dict(environment, **more), cwd=folder, check=True, stdout=subprocess.DEVNULL)

    with tempfile.TemporaryDirectory() as folder:
        for name, text in reversed(list(curves())):
            file = pathlib.Path(folder) / f"{name}.csv"
            file.write_text(text)
            call("import", "table", file.name, folder=folder)
    call("sweep", "--workload", "mlp", "-O", "hidden=32", "--momentum", "0", "--lr", "0.02", "--lr-rule", "linear",
         "--base-batch", "32", "--nodes", "1", "--gpus", "2", "--batch-per-gpu", "32,64,128,256,512", "--target-loss", "0.4",
         "--steps", "4000", "--warmup", "0", "--name", "batch sizes", *COMMON)
    call("db", "prune", "--where", "name=batch sizes", "--spans", "--yes")
    for _ in range(6):
        call("run", "--nodes", "1", "--gpus", "2", "--name", "nightly", "--no-baseline", *STEPS, *COMMON)
    for _ in range(4):
        call("run", "--nodes", "1", "--gpus", "2", "--name", "nightly-slow-rank", "--no-baseline", *STEPS, *COMMON,
             DDBENCH_INJECT="paced=3ms,rank=1")
    call("sweep", "--nodes", "1,2,4", "--gpus", "1", "--link", "none,10gbit,1gbit", "--batch-per-gpu", "256", "--name", "three networks",
         *STEPS, *COMMON)


if __name__ == "__main__":
    target = HERE / "demo.db"
    if len(sys.argv) > 1:
        target.unlink(missing_ok=True)
        main(str(pathlib.Path(sys.argv[1]).resolve()), target)
    neutralise(target)
