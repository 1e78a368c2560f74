"""ddbench is killed at one of the operations by which it changes files: before it, after it, or in the middle of a write."""

import pathlib

from kinds.operations import OPERATIONS, arguments, digest
from promises import Fault, check

KILLED = -9
ACTIONS = ("kill", "late-kill", "torn-kill")


def undisturbed(name, room, templates):
    """What the command does to files, and what its store is afterwards."""
    operation = OPERATIONS[name]
    operation.prepare(room, templates)
    operations = room.count(*arguments(operation, room), code=operation.code)
    return operations, digest(room.stores / operation.store)


def known(name, room, templates):
    def measure():
        return templates.apart(room, lambda: undisturbed(name, room, templates))
    return templates.once(f"operations of {name}", measure)


def moment(operations, generator):
    """Rare operations, such as the rename of a file, are as likely as the many writes."""
    kinds = [(operation, pathlib.Path(path).suffix) for operation, path in operations]
    kind = generator.choice(sorted(set(kinds)))
    return generator.choice([place for place, found in enumerate(kinds, 1) if found == kind])


def inject(room, generator, templates):
    name = generator.choice(list(OPERATIONS))
    operation = OPERATIONS[name]
    operations, expected = known(name, room, templates)
    operation.prepare(room, templates)
    in_rank = name in ("run with checkpoints", "continued run") and generator.random() < 0.4
    at, action = moment(operations, generator), generator.choice(ACTIONS)
    shim = dict(FAULT_WHO="launcher", FAULT_AT=str(at), FAULT_ACTION=action)
    where = f"{operations[at - 1][0]} of {operations[at - 1][1].replace(str(room.base), '')}"
    if in_rank:
        at = generator.randint(1, 8)
        where = f"rename {at} of a checkpoint in rank 0"
        shim |= dict(FAULT_WHO="rank:0", FAULT_NAMES="results.db.checkpoints", FAULT_AT=str(at))
    fault = Fault(f"{name}, {action} at operation {at} of {len(operations)} ({where})", deaths={KILLED})
    done = room(*arguments(operation, room), shim=shim)
    fault.commands.append(done)
    fault.outcome = "killed" if done.code == KILLED else f"exit {done.code}"
    if done.code == 0 and not in_rank and at <= len(operations) // 2:
        fault.problems.append("the fault did not take place")
    if operation.repeats:
        fault.problems += repeated(room, operation, expected)
    return fault


def repeated(room, operation, expected):
    """The same command once more leads to what one undisturbed command leads to."""
    again = room(*arguments(operation, room))
    is_done = again.code == 0 or (again.code == 2 and "no run in" in again.err)  # what prune selects is gone
    problems = [] if is_done else [f"again: {again}"]
    store = room.stores / operation.store
    if operation.store != "results.db":
        problems += check(room, store)
    if (found := digest(store)) != expected:
        problems.append(f"again: the store has {found}, without the fault {expected}")
    return problems
