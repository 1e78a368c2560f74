"""The world of one fault: a store, temporary data and a home of its own, and files of others between them that nothing may touch."""

import contextlib
import hashlib
import os
import pathlib
import signal
import sqlite3
import stat
import subprocess
import time

EXECUTABLE = os.path.abspath(os.environ.get("DDBENCH_EXECUTABLE", "build/release/bin/ddbench"))
TIMEOUT_S = 240  # of a command; far more than any needs on a busy machine


def processes():
    """{pid: command} of this process namespace, without zombies and kernel threads."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            state = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[0]
            command = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            if state not in "ZX" and command[0]:
                found[int(entry)] = [word.decode(errors="replace") for word in command[:-1]]
    return found


def variables(pid):
    try:
        return dict(v.split(b"=", 1) for v in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if b"=" in v)
    except OSError:
        return {}


def wait_until(condition, timeout_s, every_s=0.005):
    """What the condition gives, once it is true; False when that takes too long."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(every_s)
    return False


class Command:
    """One ddbench that was started."""

    def __init__(self, process, arguments):
        self.process, self.arguments = process, arguments
        self.out = self.err = ""
        self.code = None  # exit code, negative: died by this signal

    def finish(self, timeout_s=TIMEOUT_S):
        try:
            self.out, self.err = self.process.communicate(timeout=timeout_s)
            self.code = self.process.returncode
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.out, self.err = self.process.communicate()
            self.code = "hung"
        return self

    def __str__(self):
        return f"`{' '.join(self.arguments)}` ended with {self.code}: {self.err.strip()[-600:]}"


class Room:
    """At the same path for every fault of a worker: stores of an earlier fault with absolute paths in them can be used again."""

    def __init__(self, base, shim):
        self.base, self.shim = pathlib.Path(base), shim
        self.temporary, self.home, self.stores = (self.base / name for name in ("temporary", "home", "stores"))
        for folder in (self.temporary, self.home, self.stores):
            folder.mkdir(parents=True)
        self.store = self.stores / "results.db"
        self.others = set()
        self.place_files_of_others()
        self.before = self.state_of_others()
        self.pids_before = set(processes())
        self.shared_memory_before = set(os.listdir("/dev/shm"))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "SLURM_", "DDBENCH_", "FAULT_"))}
        self.environment.update(DDBENCH_TMPDIR=str(self.temporary), TMPDIR=str(self.temporary), HOME=str(self.home),
                                XDG_DATA_HOME=str(self.home / "data"), DDBENCH_DB=str(self.store),
                                DDBENCH_CORE_CLAIMS=str(self.base / "cores"), DDBENCH_METADATA_URL="http://127.0.0.1:9")

    # Files of others

    def place_files_of_others(self):
        """Under names that look like ours, beside and below the folders in which ddbench removes and renames."""
        thesis = self.home / "thesis"
        for folder in (thesis, self.temporary / "ddbench-results", self.temporary / "ddbench-0-old", self.stores / "results.db.checkpoints.old",
                       self.stores / "results.db.logs.old", self.stores / "20261121T001905-3f9a1c2b"):
            folder.mkdir()
            for name in ("rank0.spool", "results.db", "state-0.safetensors", ".ddbench"):
                self.place(folder / name, f"of somebody else: {folder}/{name}")
            self.others.add(folder)
        self.place(self.stores / "results.db.bak", "an own copy")
        self.place(self.temporary / "rank0.spool", "no spool")
        for folder in (self.temporary, self.stores):
            (folder / "link").symlink_to(thesis)
            self.others.add(folder / "link")

    def place(self, path, text):
        path.write_text(text)
        self.others.add(path)

    def state_of_others(self):
        state = {}
        for path in self.others:
            try:
                found = os.lstat(path)
            except OSError as error:
                state[path] = str(error)
                continue
            content = ""
            if stat.S_ISREG(found.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(found.st_mode):
                content = os.readlink(path)
            elif stat.S_ISDIR(found.st_mode):
                content = sorted(os.listdir(path))
            state[path] = (found.st_mode, found.st_uid, found.st_gid, found.st_size if content else 0, content)
        return state

    def add_others(self, *paths):
        """Further files that nothing may change from here on."""
        self.others.update(paths)
        self.before = self.state_of_others()

    # Commands

    def start(self, *arguments, prefix=(), shim=None, executable=EXECUTABLE, **options):
        """`shim`: variables of shim.c. `prefix`: a command that starts it."""
        environment = dict(options.pop("env", self.environment))
        if shim:
            environment.update(LD_PRELOAD=str(self.shim), FAULT_BELOW=str(self.base), **shim)
        words = [str(word) for word in (*prefix, executable, *arguments)]
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.home,
                                   errors="replace", **options)
        return Command(process, [str(word) for word in arguments])

    def __call__(self, *arguments, timeout_s=TIMEOUT_S, **options):
        return self.start(*arguments, **options).finish(timeout_s)

    def ok(self, *arguments, **options):
        done = self(*arguments, **options)
        if done.code != 0:
            raise AssertionError(f"preparation: {done}")
        return done

    def count(self, *arguments, who="launcher", names="", code=0, **options):
        """The operations on files of a command that no fault disturbs: (operation, path) each."""
        log = self.base / "operations"
        done = self(*arguments, shim=dict(FAULT_WHO=who, FAULT_ACTION="0", FAULT_NAMES=names, FAULT_LOG=str(log)), **options)
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        if done.code != code:
            raise AssertionError(f"preparation: {done}")
        return [tuple(line.split(" ", 1)) for line in lines]

    # What a fault looks at

    def rows(self, sql, store=None):
        with contextlib.closing(sqlite3.connect(f"file:{store or self.store}?mode=rw", uri=True, timeout=60)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(sql).fetchall()

    def has_store(self):
        """A store that was killed while it was made is an empty file: no run has been stored in it."""
        return self.store.is_file() and bool(self.rows("select 1 from sqlite_schema where name = 'run'"))

    def own_processes(self):
        return {pid: command for pid, command in processes().items() if pid not in self.pids_before}

    def ranks(self):
        """{rank: pid} of the processes that train."""
        found = {}
        for pid, command in self.own_processes().items():
            if len(command) > 1 and os.path.basename(command[0]) == "ddbench" and command[1] == "worker":
                own = variables(pid)
                rank = own.get(b"RANK") or own.get(b"OMPI_COMM_WORLD_RANK") or own.get(b"SLURM_PROCID")
                if rank is not None:
                    found[int(rank)] = pid
        return found

    def spools(self):
        return sorted(path for path in self.temporary.glob("ddbench-[0-9]*/*/rank*.spool") if path.parent.parent not in self.others)

    def kill_all(self):
        for pid in self.own_processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.own_processes(), 20)
