"""What must hold after every fault."""

import json
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass, field

from isolation import LINKS
from room import wait_until
from spools import spans_by_run

EXIT_CODES = {0, 1, 2, 3, 4, 5, 130}
FORBIDDEN = re.compile(r"internal error|terminate called|what\(\):|Segmentation fault|Assertion|AddressSanitizer|runtime error:|std::\w+_error")
KEPT_FOLDERS = ("results.db.logs", "results.db.checkpoints")


@dataclass
class Fault:
    """What was done, what came of it, and what one kind of fault found itself."""
    what: str
    outcome: str = ""
    commands: list = field(default_factory=list)  # that were exposed to the fault
    followers: list = field(default_factory=list)  # of these: ranks whose failure rank 0 reports
    deaths: set = field(default_factory=set)  # signals by which these may die: -9 for SIGKILL
    names: list = field(default_factory=list)  # a failed command's error has one of these
    problems: list = field(default_factory=list)


def broken(room, fault):
    """The promises that do not hold, in words. Recovers the room's store on the way."""
    return [*fault.problems, *bad_ends(fault), *left_processes(room), *store_problems(room), *changed_others(room), *left_behind(room, fault)]


def bad_ends(fault):
    problems = []
    for command in fault.commands:
        if command.code not in EXIT_CODES | fault.deaths:
            problems.append(f"exit code {command.code}: {command}")
        said = command.out + command.err
        if found := FORBIDDEN.search(said):
            problems.append(f"'{found[0]}': {command}")
        if command.code in (1, 2, 5) and command not in fault.followers:
            reported = "ddbench" in command.err or re.search(r"\b(failed|INVALID)\b", command.out)  # the report of such a run states why
            if not reported and "check" not in command.arguments:
                problems.append(f"no error message: {command} {command.out[-300:]}")
            elif fault.names and not any(name in said for name in fault.names):
                problems.append(f"the error names none of {fault.names}: {command}")
    return problems


def left_processes(room):
    if wait_until(lambda: not room.own_processes(), 60, 0.02):
        return []
    left = [f"{pid} {' '.join(command[:3])}" for pid, command in room.own_processes().items()]
    room.kill_all()
    return [f"processes are left: {left}"]


def store_problems(room):
    """The store is whole; after `db recover` it has every span that was in a spool, and the final state of every run."""
    if not room.has_store():
        return [f"spools without a store: {room.spools()}"] if room.spools() else []
    problems = []
    spooled = spans_by_run(room.spools())
    problems += [f"list: {run['id']} is running" for run in listed(room, problems) if run["state"] == "running"]
    recovered = room("db", "recover")
    if recovered.code != 0:
        problems.append(f"db recover: {recovered}")
    problems += check(room, room.store)
    problems += unfinished_runs(room)
    problems += lost_spans(room, spooled)
    return problems


def listed(room, problems):
    done = room("list", "--json", "--limit", "0")
    try:
        return json.loads(done.out)
    except ValueError:
        problems.append(f"list: {done}")
        return []


def check(room, store):
    done = room("db", "check", "--json", "--db", store)
    try:
        found = json.loads(done.out)["problems"]
    except (ValueError, KeyError, TypeError):
        return [f"db check: {done} {done.out[:300]}"]
    return [f"db check of {store.name}: {problem}" for problem in found]


def unfinished_runs(room):
    problems = []
    for run in room.rows("select * from run"):
        if run["state"] == "running" or run["finished_wall_ns"] < run["started_wall_ns"]:
            problems.append(f"run {run['id']} is {run['state']}, finished at {run['finished_wall_ns']}")
        if run["state"] in ("failed", "interrupted", "preempted") and not run["reason"]:
            problems.append(f"run {run['id']} is {run['state']} without a reason")
    for row in room.rows("select id, rank, count(*) n, max(step) - min(step) + 1 m from step join run using (run_key) group by run_key, rank"):
        if row["n"] != row["m"]:
            problems.append(f"rank {row['rank']} of run {row['id']} has {row['n']} steps of {row['m']}")
    return problems


def lost_spans(room, spooled):
    """A run that was deleted, by a command of the fault, needs its spools no more."""
    stored = {(row["id"], row["rank"]): row["n"] for row in
              room.rows("select id, rank, sum(span_count) n from span_chunk join run using (run_key) group by run_key, rank")}
    runs = {row["id"] for row in room.rows("select id from run")}
    return [f"rank {rank} of run {run} spooled {count} spans, {stored.get((run, rank), 0)} are stored"
            for (run, rank), count in spooled.items() if run in runs and stored.get((run, rank), 0) != count]


def changed_others(room):
    after = room.state_of_others()
    return [f"of others: {path}: {room.before[path]} became {after[path]}" for path in sorted(room.others) if room.before[path] != after[path]]


def is_ours(room, path):
    """What ddbench documents to keep: stores with their journals, backups and folders of runs, claims of cores, a secret."""
    if path in (room.temporary / "ddbench-0", room.base / "cores", room.home / "data"):
        return True
    if path.is_relative_to(room.home / "data"):
        return path.name in ("ddbench", "launch-secret")
    if path.parent == room.stores:
        return re.fullmatch(r"[\w-]+\.db(-wal|-shm|-journal|\.v\d+\.bak|\.logs|\.checkpoints)?", path.name) is not None
    for folder in (path, *path.parents):
        if folder.parent.parent == room.stores and folder.parent.name in KEPT_FOLDERS:
            return bool(room.rows(f"select 1 from run where id = '{folder.name}'")) and not path.name.endswith(".tmp")
    return False


def left_behind(room, fault):
    problems = []
    said = " ".join(command.err for command in fault.commands)
    allowed = {room.temporary, room.home, room.stores, *room.others}
    for folder, folders, files in os.walk(room.base):
        for name in (*folders, *files):
            path = pathlib.Path(folder) / name
            if path not in allowed and not any(other in path.parents for other in room.others) and not is_ours(room, path):
                if any(f"{place} is kept" in said for place in (path, *path.parents)):
                    continue  # a note names the folder that could not be removed
                problems.append(f"left: {path}")
    claims = {"ddbench-cores"} | ({f"ddbench-cores-{os.getuid()}"} if "claims of cores" in fault.what else set())
    for name in set(os.listdir("/dev/shm")) - room.shared_memory_before - claims:
        problems.append(f"left in shared memory: {name}")
        pathlib.Path("/dev/shm", name).unlink(missing_ok=True)
    segments = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    problems += [f"left: shared memory segment {line}" for line in segments]
    problems += left_networks()
    return problems


def left_networks():
    links = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True).stdout.splitlines()
    problems = [f"left: network link {line}" for line in links if line.split()[0].split("@")[0] not in ("lo", *LINKS)]
    mounts = pathlib.Path("/proc/self/mountinfo").read_text()
    return problems + (["left: a mounted network namespace"] if " - nsfs " in mounts else [])
