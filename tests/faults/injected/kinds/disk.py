"""The disk is full, or fails, at the n-th write: once, or from then on; under the launcher, or under a rank's spool."""

import errno

from kinds.launcher import known, repeated
from kinds.operations import OPERATIONS, arguments
from promises import Fault

ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EDQUOT": errno.EDQUOT}
WORDS = ["full", "No space left", "Input/output error", "quota", "disk I/O error", "database or disk"]


def place_of_fault(room, generator, name, operations):
    """Variables of the shim, and words for people."""
    if name.startswith("run") and name != "run of a program" and generator.random() < 0.3:
        rank, at = generator.randint(0, 1), generator.randint(1, 12)
        return dict(FAULT_WHO=f"rank:{rank}", FAULT_AT=str(at)), f"operation {at} of rank {rank}"
    if generator.random() < 0.25:  # where a disk is full nearly always: a new file, a longer file
        at = generator.choice([n for n, (operation, _) in enumerate(operations, 1) if operation in ("open", "mkdir")] or [1])
    else:
        at = generator.randint(1, len(operations))
    operation, path = operations[at - 1]
    return dict(FAULT_WHO="launcher", FAULT_AT=str(at)), f"operation {at} of {len(operations)} ({operation} of {path.replace(str(room.base), '')})"


def inject(room, generator, templates):
    name = generator.choice(list(OPERATIONS))
    operation = OPERATIONS[name]
    operations, expected = known(name, room, templates)
    operation.prepare(room, templates)
    error, lasting = generator.choice(list(ERRORS)), generator.random() < 0.6
    shim, where = place_of_fault(room, generator, name, operations)
    fault = Fault(f"{name}, {error} {'from' if lasting else 'at'} {where}", names=[*WORDS, str(room.base)])
    done = room(*arguments(operation, room), shim=dict(shim, FAULT_ACTION=str(ERRORS[error]), FAULT_LASTING=str(int(lasting))))
    fault.commands.append(done)
    if operation.says and done.code == operation.code and operation.says in done.out and logged(room):
        fault.names = []  # it ended as if nothing had happened
    fault.outcome = f"exit {done.code}"
    if operation.repeats:
        fault.problems += repeated(room, operation, expected)
    elif done.code == operation.code == 0:
        fault.problems += incomplete(room)
    return fault


def logged(room):
    """Whether the log has what the program said."""
    return any("said" in path.read_text() for path in (room.stores / "results.db.logs").rglob("*") if path.is_file())


def incomplete(room):
    """A run that ended with 0 is done, with all its steps and all its spans."""
    run = room.rows("select * from run order by started_wall_ns desc limit 1")[0]
    if run["state"] != "done":
        return [f"exit 0, and the run is {run['state']}: {run['reason']}"]
    if run["workload"] == "program":
        return []
    counts = [row["n"] for row in room.rows(f"select count(*) n from step where run_key = {run['run_key']} group by rank")]
    if len(counts) != run["world_size"] or len(set(counts)) != 1:
        return [f"exit 0, and the ranks have {counts} steps"]
    return []
