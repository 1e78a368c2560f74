"""Several commands change one store at once: runs, imports of one file, merges, prune, exports; some of them are killed."""

import signal
import time

from kinds.templates import SHORT, TABLE
from promises import Fault

PLANS = ("runs", "imports", "merges", "prunes", "migrations", "mixed")


def planned(plan, room, generator):
    """Commands that begin at the same time."""
    run = ["run", "--gpus", "1", *SHORT]
    imported = ["import", "table", room.stores / "table.csv"]
    merge = ["db", "merge", room.stores / "other.db"]
    prune = ["db", "prune", "--where", "workload=mlp", "--yes"]
    spans = ["db", "prune", "--spans", "--where", "workload=mlp", "--yes"]
    export = ["db", "export", room.stores / "exported.db"]
    baseline = ["baseline", "set", "main", "kept"]
    everything = [run, imported, merge, prune, spans, export, baseline, ["list"], ["db", "check"], ["db", "recover"]]
    return {
        "runs": [run] * 4,
        "imports": [imported] * 5,
        "merges": [merge] * 3 + [run, spans],
        "prunes": [prune, prune, run, imported],
        "migrations": [baseline, ["list"], merge, imported, ["db", "check"]],
        "mixed": generator.choices(everything, k=6),
    }[plan]


def inject(room, generator, templates):
    plan = generator.choice(PLANS)
    templates.place(room, "old" if plan == "migrations" else "runs")
    table = room.stores / "table.csv"
    table.write_text(TABLE.replace("bert", "imported"))
    room.add_others(table)
    commands = planned(plan, room, generator)
    kills = generator.choice([0, 0, 1, 2])
    delays = sorted((generator.uniform(0, 1.5), number) for number in generator.sample(range(len(commands)), kills))
    fault = Fault(f"{plan}: {len(commands)} commands at once ({', '.join(' '.join(map(str, c[:2])) for c in commands)}), killed: "
                  f"{', '.join(f'command {number} after {delay:.2f} s' for delay, number in delays) or 'none'}", deaths={-signal.SIGKILL})
    names = [f"writer{number}" if command[0] == "run" else "" for number, command in enumerate(commands)]
    began = time.monotonic()
    fault.commands = [room.start(*command, *(["--name", name] if name else [])) for command, name in zip(commands, names)]
    for delay, number in delays:
        time.sleep(max(0, began + delay - time.monotonic()))
        fault.commands[number].process.kill()
    for command in fault.commands:
        command.finish()
    codes = [command.code for command in fault.commands]
    fault.outcome = "all well" if set(codes) == {0} else "some killed" if set(codes) <= {0, -9} else f"exit {sorted(set(codes) - {0, -9})}"
    fault.problems += wrong_ends(fault, commands)
    fault.problems += wrong_store(room, fault, names, any(command[:2] == ["db", "prune"] for command in commands))
    return fault


def wrong_ends(fault, commands):
    """No command may fail because another one works on the store."""
    return [f"beside others: {done}" for done, command in zip(fault.commands, commands)
            if done.code not in (0, -signal.SIGKILL) and not (done.code == 2 and is_refused_in_turn(done, command, commands))]


def is_refused_in_turn(done, command, commands):
    """Whether the same commands, one after the other in some order, end so, too: what was deleted first can neither be deleted nor be a
    baseline, and a run whose spans were deleted is not the one that is merged again."""
    kinds = [tuple(map(str, each[:3])) for each in commands]
    deletions = kinds.count(("db", "prune", "--where"))
    if command[0] == "baseline":
        return deletions > 0
    if command[:2] == ["db", "prune"]:
        return deletions > (0 if "--spans" in command else 1) and " matches " in done.err
    return command[:2] == ["db", "merge"] and ("db", "prune", "--spans") in kinds and "(differs in: span_chunk)" in done.err


def wrong_store(room, fault, names, pruned):
    problems = []
    states = {run["name"]: run["state"] for run in room.rows("select name, state from run where name != ''")}
    for done, name in zip(fault.commands, names):
        if name and done.code == 0 and not pruned and states.get(name) != "done":
            problems.append(f"{name} ended well and is {states.get(name, 'not there')}")
    copies = room.rows("select count(*) n from run where workload = 'imported'")[0]["n"]
    if copies not in (0, 4):
        problems.append(f"4 rows of a table were imported, and {copies} runs are there")
    elsewhere = room.rows("select count(*) n from run where name = 'elsewhere'")[0]["n"]
    if elsewhere > 1:
        problems.append(f"a merged run is there {elsewhere} times")
    return problems
