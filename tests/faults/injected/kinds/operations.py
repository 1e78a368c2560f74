"""Commands that change stores, each with the state that it begins with and the state in which an undisturbed one ends."""

import contextlib
import sqlite3
from dataclasses import dataclass

from kinds.templates import SHORT, TABLE


@dataclass
class Operation:
    template: str  # what is there before; empty: nothing
    arguments: list
    store: str = "results.db"  # that it changes
    code: int = 0  # with which an undisturbed one ends
    says: str = ""  # then, where that is a failure
    repeats: bool = True  # the same command again leads to the same store as one undisturbed command

    def prepare(self, room, templates):
        if self.template:
            templates.place(room, self.template)
        (room.stores / "table.csv").write_text(TABLE)
        room.others.add(room.stores / "table.csv")
        room.before = room.state_of_others()


OPERATIONS = {
    "run": Operation("", ["run", "--gpus", "2", *SHORT], repeats=False),
    # Without steps its figures are not valid: exit code 1.
    "run of a program": Operation("", ["run", "--gpus", "1", "--no-baseline", "--quiet", "--", "sh", "-c", "echo said"], code=1,
                                  says="the program made no collective", repeats=False),
    "run with checkpoints": Operation("", ["run", "--gpus", "2", "--checkpoint-every", "3", *SHORT], repeats=False),
    "continued run": Operation("stopped", ["run", "--resume", "job", "--quiet"], repeats=False),
    "merge": Operation("runs", ["db", "merge", "{stores}/other.db"]),
    "export": Operation("runs", ["db", "export", "{stores}/exported.db"], store="exported.db"),
    "prune": Operation("runs", ["db", "prune", "--where", "workload=mlp", "--yes"]),
    "prune of spans": Operation("runs", ["db", "prune", "--spans", "--where", "workload=mlp", "--yes"]),
    "migration": Operation("old", ["baseline", "set", "main", "kept"]),
    "recover": Operation("killed", ["db", "recover"]),
    "import": Operation("runs", ["import", "table", "{stores}/table.csv"]),
    "import auto": Operation("", ["import", "auto", "{stores}/table.csv"]),
}


def arguments(operation, room):
    return [word.replace("{stores}", str(room.stores)) for word in operation.arguments]


def digest(path):
    """What a store contains, without what differs each time."""
    if not path.exists():
        return None
    with contextlib.closing(sqlite3.connect(path)) as connection:
        runs = connection.execute("select run_key, name, workload, state, world_size, length(case_key) from run").fetchall()
        tables = ("rank", "step", "collective", "kernel", "step_value", "span_name", "span_chunk")
        counts = {key: tuple(connection.execute(f"select count(*) from {table} where run_key = ?", (key,)).fetchone()[0] for table in tables)
                  for key, *_ in runs}
        version = connection.execute("pragma user_version").fetchone()[0]
        baselines = connection.execute("select distinct name from baseline").fetchall()  # each command adds a version
        return version, sorted((*rest, counts[key]) for key, *rest in runs), baselines
