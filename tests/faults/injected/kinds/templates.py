"""What many faults need and one worker makes once: stores with runs, counts of operations, a Slurm."""

import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "integration"))

from room import Room, wait_until

TINY = ["-O", "hidden=16", "--batch-per-gpu", "8", "--no-baseline", "--quiet"]
SHORT = ["--steps", "10", "--warmup", "2", *TINY]
LONG = ["--steps", "1000000", "--warmup", "2", "--data-delay", "2ms", *TINY]
TABLE = "workload,gpus,nodes,throughput\n" + "".join(f"bert,{gpus},1,{100 * gpus}\n" for gpus in (1, 2, 4, 8))


class Impossible(Exception):
    """This machine cannot play this fault."""


class Templates:
    def __init__(self, base):
        self.base = base
        self.folder = base / "templates"
        self.folder.mkdir()
        self.counts = {}
        self.values = {}
        self.stops = []

    def apart(self, room, do, keep_as=None):
        """Does something in a room that is empty, at the room's own path: a store has absolute paths of its checkpoints."""
        waiting = self.base / f"waiting{len(list(self.base.glob('waiting*')))}"
        os.rename(room.base, waiting)
        try:
            Room(room.base, room.shim)
            result = do()
            room.kill_all()
            if keep_as:
                shutil.copytree(room.base, keep_as, symlinks=True)
            return result
        finally:
            shutil.rmtree(room.base)
            os.rename(waiting, room.base)

    def place(self, room, name):
        """Copies what `make_<name>` left in a room: stores, temporary data, home."""
        if not (self.folder / name).exists():
            self.apart(room, lambda: globals()[f"make_{name}"](room), self.folder / name)
        shutil.rmtree(room.base)
        shutil.copytree(self.folder / name, room.base, symlinks=True)
        room.before = room.state_of_others()

    def once(self, key, make):
        if key not in self.values:
            self.values[key] = make()
        return self.values[key]

    def stop(self):
        for stop in self.stops:
            stop()


def make_runs(room):
    """Three runs, one with checkpoints, one failed, one of a program with its output; tables."""
    room.ok("run", "--gpus", "2", "--name", "kept", *SHORT)
    room.ok("run", "--gpus", "1", "--name", "saved", "--checkpoint-every", "4", *SHORT)
    room("run", "--gpus", "1", "--name", "failing", "--no-baseline", "--quiet", "--", "sh", "-c", "echo before the end; exit 3")
    room.ok("db", "merge", make_other(room))


def make_other(room):
    """A second store of four runs."""
    table = room.stores / "table.csv"
    table.write_text(TABLE)
    other = room.stores / "other.db"
    room.ok("import", "table", table, "--db", other)
    room.ok("run", "--gpus", "1", "--name", "elsewhere", "--db", other, *SHORT)
    table.unlink()
    return other


def make_killed(room):
    """A store with a run whose launcher was killed, and one that was well."""
    room.ok("run", "--gpus", "1", "--name", "well", *SHORT)
    command = room.start("run", "--gpus", "2", "--name", "killed", *LONG)
    if not wait_until(lambda: len(room.spools()) == 2 and all(path.stat().st_size > 20_000 for path in room.spools()), 120):
        raise AssertionError("no spools")
    command.process.send_signal(signal.SIGKILL)
    command.finish()
    wait_until(lambda: not room.own_processes(), 60)


def make_stopped(room):
    """A store with a run that can be continued from its checkpoint."""
    command = room.start("run", "--gpus", "2", "--name", "job", "--checkpoint-every", "5", "--steps", "60", "--warmup", "2", "--data-delay", "20ms", *TINY)
    checkpoints = room.stores / "results.db.checkpoints"
    if not wait_until(lambda: len(list(checkpoints.glob("*/step-*"))) >= 2, 120):
        raise AssertionError("no checkpoint")
    command.process.send_signal(signal.SIGTERM)
    command.finish()


def make_old(room):
    """A store of schema version 10."""
    make_runs(room)
    with contextlib.closing(sqlite3.connect(room.store)) as connection, connection:
        connection.execute("update run set case_key = case_json")
        connection.row_factory = sqlite3.Row
        for row in connection.execute("select * from run").fetchall():
            connection.execute("update run set checksum = ? where run_key = ?", (row_checksum(row), row["run_key"]))
        for table in ("collected_run", "collected_source"):  # of version 12
            connection.execute(f"drop table {table}")
        connection.execute("pragma user_version = 10")


def row_checksum(row):
    """Of a row of the table run, as analyzer/store/FORMAT.md defines it."""
    def mixed(state, word):
        product = ((state ^ word) * 0x9E3779B97F4A7C15) % 2**64
        return (product << 29 | product >> 35) % 2**64
    values = [row[name] for name in sorted(row.keys()) if name not in ("run_key", "checksum")]
    state = len(values)
    for value in values:
        kind = {type(None): 0, int: 1, float: 2, str: 3, bytes: 4}[type(value)]
        state = mixed(state, kind)
        if kind == 1:
            state = mixed(state, value % 2**64)
        elif kind == 2:
            state = mixed(state, struct.unpack("<Q", struct.pack("<d", value + 0.0))[0])
        elif kind > 2:
            data = value.encode() if kind == 3 else value
            state = mixed(state, len(data))
            for (word,) in struct.iter_unpack("<Q", data.ljust(-(-len(data) // 8) * 8, b"\0")):
                state = mixed(state, word)
    return state - 2**64 if state >= 2**63 else state
