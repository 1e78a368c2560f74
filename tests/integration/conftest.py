"""Drives the real ddbench. Every test also proves that nothing is left behind: processes, namespaces, files."""

import contextlib
import glob
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time
import uuid

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXECUTABLE = os.environ.get("DDBENCH_EXECUTABLE", str(ROOT / "build/release/bin/ddbench"))
HANGS_S = 600  # for waits that end by themselves: only a test that hangs reaches it, on however busy a machine
# Inherited by all processes that these tests start, so that others of this machine are not mistaken for them.
os.environ["DDBENCH_TEST_OWNER"] = uuid.uuid4().hex
OWNER_ENTRY = b"DDBENCH_TEST_OWNER=" + os.environ["DDBENCH_TEST_OWNER"].encode()
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell starts background jobs like this, and children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
HAS_BFLOAT16 = "avx512bw" in pathlib.Path("/proc/cpuinfo").read_text()  # as oneDNN decides
SMALL = ["--steps", "12", "--warmup", "2", "-O", "hidden=64", "--quiet"]


def environ_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def pids_marked(mark):
    """Processes that a test started, whatever became of their parents: they inherit the mark."""
    entry = f"DDBENCH_TEST_MARK={mark}".encode()
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and entry in environ_of(p)]


def net_namespaces():
    """Of this process and of those that these tests have started: containers, services and other tests have theirs."""
    found = {os.stat("/proc/self/ns/net").st_ino}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if OWNER_ENTRY not in environ_of(pid):
            continue
        try:
            found.add(os.stat(f"/proc/{pid}/ns/net").st_ino)
        except OSError:
            pass
    return found


def wait_until(condition, timeout_s, what):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError(f"not within {timeout_s} s: {what}")


class Bench:
    """The executable with a store and a temporary directory of its own."""

    def __init__(self, tmp_path):
        self.tmp = tmp_path
        self.run_directories = tmp_path / "runs"
        self.run_directories.mkdir()
        self.mark = uuid.uuid4().hex
        own = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
        self.environment = dict(own, DDBENCH_TMPDIR=str(self.run_directories), DDBENCH_TEST_MARK=self.mark,
                                XDG_DATA_HOME=str(tmp_path / "data"))
        self.use_store("results.db")

    def use_store(self, name):
        self.db = self.tmp / name
        self.environment["DDBENCH_DB"] = str(self.db)
        self.environment["DDBENCH_CORE_CLAIMS"] = str(self.tmp / "cores")  # tests that run at the same time share cores
        self.environment["DDBENCH_METADATA_URL"] = "http://127.0.0.1:9"  # whatever machine this is: nobody answers there

    def start(self, *arguments, **options):
        options.setdefault("env", self.environment)
        return subprocess.Popen([EXECUTABLE, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def __call__(self, *arguments, timeout=HANGS_S, **options):
        process = self.start(*arguments, **options)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"still running after {timeout} s\n{out}\n{err}")
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def ok(self, *arguments, **options):
        done = self(*arguments, **options)
        assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
        return done

    def run_json(self, *arguments, **options):
        return json.loads(self.ok("run", "--json", *arguments, **options).stdout)

    def rows(self, sql, *parameters):
        """What the statement gives; what it changes is kept."""
        with contextlib.closing(sqlite3.connect(self.db)) as connection, connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(sql, parameters).fetchall()

    def spools(self):
        """Of the runs that are going on. Folders of theirs come and go meanwhile, at which pathlib's glob would fail."""
        return [pathlib.Path(p) for p in glob.glob(f"{self.run_directories}/**/rank*.spool", recursive=True)]

    def spool_sizes(self):
        """Of these, in bytes. One that goes away meanwhile has none."""
        sizes = []
        for spool in self.spools():
            with contextlib.suppress(OSError):
                sizes.append(spool.stat().st_size)
        return sizes

    def workers(self):
        """{rank: pid} of the ranks that are running."""
        ranks = {}
        for pid in pids_marked(self.mark):
            variables = dict(v.split(b"=", 1) for v in environ_of(pid) if b"=" in v)
            try:
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"worker" in command and b"RANK" in variables:
                ranks[int(variables[b"RANK"])] = pid
        return ranks

    def wait_for_step(self, process, step, world_size, timeout_s=HANGS_S):
        """Until every rank of the run that is going on has recorded `step`, seen through the store."""
        def reached():
            assert process.poll() is None, f"ended too early: {process.communicate()}"
            try:
                row = self.rows("select count(distinct rank) from step_value where step >= ? and run_key = "
                                "(select run_key from run where state = 'running')", step)
            except sqlite3.OperationalError:
                return False
            return row[0][0] == world_size
        wait_until(reached, timeout_s, f"step {step} on all ranks")


@pytest.fixture
def bench(tmp_path):
    namespaces_before = net_namespaces()
    bench = Bench(tmp_path)
    yield bench
    # A SIGKILLed launcher takes its ranks with it, but the kernel needs a moment.
    try:
        wait_until(lambda: not pids_marked(bench.mark), 180, "every process of the test has ended")
    finally:
        for pid in pids_marked(bench.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    wait_until(lambda: not (net_namespaces() - namespaces_before), 60, "no network namespace is left")
    assert not list(bench.run_directories.iterdir()), "a run directory is left"


def skips(terminalreporter):
    """A line for each test that was skipped, with its reason."""
    return [f"{report.nodeid[report.nodeid.index('test_'):]}: skipped: {report.longrepr[2].removeprefix('Skipped: ')}"
            for report in terminalreporter.stats.get("skipped", [])]


def summarize(terminalreporter, lines):
    """Prints what else than success a reader must know, also into the file that `./quickstart test` prints at its end."""
    for line in lines:
        terminalreporter.write_line(line)
    if "DDBENCH_TEST_SUMMARY" in os.environ:
        with open(os.environ["DDBENCH_TEST_SUMMARY"], "a", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)


def pytest_terminal_summary(terminalreporter):
    summarize(terminalreporter, skips(terminalreporter))
