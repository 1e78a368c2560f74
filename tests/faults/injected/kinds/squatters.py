"""A second user of the machine sits on ports, names, directories and files that ddbench is about to use, or comes to its ports."""

import os
import pathlib
import shutil
import socket
import stat
import subprocess

from kinds.templates import SHORT, TABLE, TINY, Impossible
from kinds.worlds import LIMITS, free_port
from promises import Fault

NOBODY = 65534
PYTHON = "/usr/bin/python3"  # that every user can execute
FORMS = ("folder", "open folder", "file", "open file", "link to a file", "link to a folder", "dangling link", "fifo", "socket")

# SQLite and a migration replace what has these names: who may make files beside a store is trusted with it. Where links lead is not
# touched.
OWN_NAMES = ("results.db-wal", "results.db-shm", "results.db-journal", "results.db.v10.bak")

LISTENER = """
import socket, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
while True:
    connection, _ = server.accept()
    if sys.argv[2] == "garbage": connection.sendall(b"\\xff" * 5000)
    if sys.argv[2] == "closes": connection.close()
    if sys.argv[2] == "echoes": connection.sendall(connection.recv(4096))
    if sys.argv[2] == "silent": kept = globals().setdefault("kept", []); kept.append(connection)
"""
CALLER = """
import os, socket, sys, time
kept, until = [], time.monotonic() + 60
print("calls", flush=True)
while time.monotonic() < until:
    try:
        connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5)
        if sys.argv[2] == "garbage": connection.sendall(os.urandom(3000))
        if sys.argv[2] == "closes": connection.close()
        if sys.argv[2] == "echoes": connection.sendall(connection.recv(4096))
        kept = [*kept[-300:], connection]
    except OSError:
        pass
    time.sleep(0.01)
"""


def squatter(script, *arguments):
    if not os.path.exists(PYTHON):
        raise Impossible(f"there is no {PYTHON}")
    process = subprocess.Popen([PYTHON, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, text=True, user=NOBODY, group=NOBODY,
                               extra_groups=[])
    process.stdout.readline()
    return process


def squat(path, form, room):
    """Puts something of the second user's there."""
    thesis = room.home / "thesis"
    if form.endswith("folder") and not form.startswith("link"):
        path.mkdir(parents=True)
        (path / "own").write_text("of the second user")
    elif form.endswith("file") and not form.startswith("link"):
        path.write_text("of the second user")
    elif form.startswith("link") or form == "dangling link":
        path.symlink_to({"link to a file": thesis / "results.db", "link to a folder": thesis}.get(form, room.home / "not there"))
    elif form == "fifo":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    for found in (path, *(path.glob("*") if path.is_dir() and not path.is_symlink() else ())):
        os.lchown(found, NOBODY, NOBODY)
        if not found.is_symlink():
            found.chmod(0o777 if "open" in form else 0o755 if stat.S_ISDIR(found.stat().st_mode) else 0o644)
        is_claims = path.name == "ddbench-cores" and form == "open file"  # that all users may write: whoever made it
        if path.name not in OWN_NAMES and not is_claims:
            room.others.add(found)
    room.before = room.state_of_others()


def names(room):
    """{what is squatted on: (path, the command that is about to use it)}."""
    run = ["run", "--gpus", "1", *SHORT]
    saving = ["run", "--gpus", "1", "--checkpoint-every", "3", *SHORT]
    program = ["run", "--gpus", "1", "--no-baseline", "--quiet", "--", "sh", "-c", "echo said"]
    stores = room.stores
    return {
        "temporary data": (room.temporary / "ddbench-0", run),
        "temporary data of an import": (room.temporary / "ddbench-0", ["import", "table", stores / "table.csv"]),
        "claims of cores": (pathlib.Path("/dev/shm/ddbench-cores"), run),
        "the store": (stores / "results.db", run),
        "the store's WAL": (stores / "results.db-wal", run),
        "the store's shared memory": (stores / "results.db-shm", run),
        "the store's journal": (stores / "results.db-journal", run),
        "checkpoints": (stores / "results.db.checkpoints", saving),
        "logs": (stores / "results.db.logs", program),
        "a backup": (stores / "results.db.v10.bak", ["baseline", "set", "main", "kept"]),
        "an exported store": (stores / "exported.db", ["db", "export", stores / "exported.db"]),
        "data of the home": (room.home / "data" / "ddbench", ["run", "--launcher", "env", *SHORT]),
        "a metrics file": (stores / "run.prom", [*run, "--metrics-file", stores / "run.prom"]),
        "a report": (stores / "report.html", ["report", "kept", "--format", "html", "-o", stores / "report.html"]),
    }


def on_a_name(room, generator, templates):
    what, form = generator.choice(list(names(room))), generator.choice(FORMS)
    if what == "data of the home" and form == "link to a folder":
        raise Impossible("a link to a folder in the user's home, where nobody else can place one, is the user's own order")
    if what in ("a backup", "an exported store", "a report", "the store's journal"):
        templates.place(room, "old" if what == "a backup" else "runs")
    path, command = names(room)[what]
    (room.stores / "table.csv").write_text(TABLE)
    room.others.add(room.stores / "table.csv")
    for folder in (room.temporary, room.stores):
        folder.chmod(0o1777)
    path.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(room.environment)
    if what == "claims of cores":
        path.unlink(missing_ok=True)
        del environment["DDBENCH_CORE_CLAIMS"]
    if what == "data of the home":
        environment |= dict(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", LOCAL_WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    squat(path, form, room)
    is_new_file = what in ("a metrics file", "a report", "an exported store") and form in ("open file", "file", "link to a file", "dangling link")
    fault = Fault(f"a {form} of the second user's at the place of {what}", names=[str(path), path.name])
    if is_new_file:  # root wrote where the user said: the user's own order
        room.others -= {path, room.home / "thesis" / "results.db"} if form != "dangling link" else {path}
        room.before = room.state_of_others()
    fault.commands.append(room(*command, env=environment, timeout_s=90))
    put_away(room, path, what, fault)
    return fault


def put_away(room, path, what, fault):
    """Looks whether what the second user has placed is as it was, and takes it away: what follows is the user's own."""
    after = room.state_of_others()
    fault.problems += [f"of others: {place}: {room.before[place]} became {after[place]}" for place in sorted(room.others) if room.before[place] != after[place]]
    room.others = {place for place in room.others if place != path and path not in place.parents}
    if os.path.lexists(path) and (path not in (room.store,) or os.lstat(path).st_uid == NOBODY):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    (room.home / "not there").unlink(missing_ok=True)
    room.before = room.state_of_others()


def on_a_port(room, generator, templates):
    """The second user listens where rank 0 is about to."""
    manner, port = generator.choice(["silent", "garbage", "closes", "echoes"]), free_port()
    by_mpirun = shutil.which("mpirun") and generator.random() < 0.3
    listener = squatter(LISTENER, port, manner)
    room.pids_before.add(listener.pid)
    fault = Fault(f"the second user listens on the port of {'mpirun' if by_mpirun else 'rank 0'} first ({manner})", names=[str(port)])
    try:
        if by_mpirun:
            fault.commands = [room.start("run", "--gpus", "2", "--launcher", "mpirun", "--interface", "lo", "--port", port, *SHORT, *LIMITS,
                                         "--launcher-args", "--allow-run-as-root --oversubscribe")]
        else:
            fault.commands = world(room, port, generator, SHORT)
        for command in fault.commands:
            command.finish(90)
        if fault.commands[0].code != 5:
            fault.problems.append(f"the port was taken: {fault.commands[0]}")
    finally:
        listener.kill()
        listener.communicate()
    return fault


def world(room, port, generator, arguments):
    common = dict(WORLD_SIZE="2", LOCAL_WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port - 1))
    if generator.random() < 0.5:
        common["DDBENCH_TOKEN"] = "a secret of 24 characters"
    return [room.start("run", "--launcher", "env", *arguments, *LIMITS, env=dict(room.environment, **common, RANK=str(rank), LOCAL_RANK=str(rank)))
            for rank in (0, 1)]


def to_a_port(room, generator, templates):
    """The second user connects to the port of the launcher, again and again: the run goes on."""
    manner, port = generator.choice(["silent", "garbage", "closes", "echoes"]), free_port()
    caller = squatter(CALLER, port, manner)
    room.pids_before.add(caller.pid)
    fault = Fault(f"the second user connects to the port of rank 0 ({manner})")
    try:
        fault.commands = world(room, port, generator, ["--steps", "100", "--warmup", "2", "--data-delay", "2ms", *TINY])
        for command in fault.commands:
            command.finish()
        if any(command.code != 0 for command in fault.commands):
            fault.problems += [f"a stranger ended the run: {command}" for command in fault.commands if command.code]
    finally:
        caller.kill()
        caller.communicate()
    return fault


def inject(room, generator, templates):
    if os.geteuid() != 0 or pathlib.Path("/proc/self/uid_map").read_text().split()[2] == "1":
        raise Impossible("there is no second user: that needs root")
    room.base.chmod(0o755)
    fault = generator.choice([on_a_name] * 6 + [on_a_port] * 2 + [to_a_port] * 2)(room, generator, templates)
    fault.outcome = ", ".join(sorted({f"exit {command.code}" for command in fault.commands}))
    return fault
