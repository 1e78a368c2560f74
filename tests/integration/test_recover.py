"""A full disk under the store, a killed launcher: nothing that was measured is lost, and the final state gets into the store."""

import contextlib
import importlib.util
import json
import resource
import signal
import sqlite3
import subprocess
import sys

import pytest
from conftest import HANGS_S, ROOT, SMALL, pids_marked, wait_until
from ports import free_port

LONG = ["run", "--nodes", "1", "--gpus", "2", "--steps", "1000000", "-O", "hidden=16", "--no-baseline", "--quiet"]


class Disk:
    """A tmpfs with a store on it, which fills up."""

    def __init__(self, path, size):
        self.path = path
        self.db = path / "results.db"
        path.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True)
        if done.returncode != 0:
            pytest.skip("mounting a tmpfs is not allowed here")

    def grow(self, size="64m"):
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.path)], check=True)

    def rows(self, sql):
        with contextlib.closing(sqlite3.connect(self.db)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(sql).fetchall()

    def check(self, bench):
        found = json.loads(bench("db", "check", "--json", "--db", self.db).stdout)
        assert not found["problems"], found
        return found


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path / "disk", "1500k")
    yield disk
    subprocess.run(["umount", "-l", str(disk.path)], check=True)


def kept_directory(bench):
    (directory,) = [path.parent for path in bench.spools()][:1] or [None]
    assert directory is not None, "the spools are gone"
    return directory


def spooled_bytes(bench):
    return sum(bench.spool_sizes())


def test_a_full_disk_under_the_store_loses_nothing(bench, disk):
    done = bench(*LONG, "--db", disk.db)
    assert done.returncode == 1
    assert str(disk.db) in done.stderr and "full" in done.stderr, done.stderr
    directory = kept_directory(bench)
    run_id = directory.name
    assert str(directory) in done.stderr and f"ddbench db recover {run_id} --db {disk.db}" in done.stderr, done.stderr
    assert not pids_marked(bench.mark)
    assert "running" not in [run["state"] for run in json.loads(bench.ok("list", "--json", "--db", disk.db).stdout)]
    before = disk.check(bench)["spans"]

    # As long as the disk is full, nothing changes: the error is repeated, with an exit code.
    spooled = spooled_bytes(bench)
    again = bench("db", "recover", "--db", disk.db)
    assert again.returncode == 1 and "full" in again.stderr and str(directory) in again.stderr, again.stderr
    assert spooled_bytes(bench) == spooled

    disk.grow()
    recovered = bench.ok("db", "recover", run_id, "--db", disk.db, "--json")
    (run,) = json.loads(recovered.stdout)["recovered"]
    assert run["id"] == run_id and run["state"] == "failed"
    rows = disk.rows(f"select * from run where id = '{run_id}'")
    assert rows[0]["state"] == "failed" and "full" in rows[0]["reason"] and rows[0]["finished_wall_ns"] > 0
    after = disk.check(bench)
    assert after["spans"] > before and after["steps"] == run["step_rows"] > 0
    for rank in (0, 1):
        steps = [row["step"] for row in disk.rows(f"select step from step where rank = {rank} order by step")]
        losses = [row["step"] for row in disk.rows(f"select step from step_value where rank = {rank} and name = 'loss'")]
        assert steps == list(range(len(steps))), "no step is missing, none is there twice"
        assert len(losses) >= len(steps) > 0
    assert [row["outcome"] for row in disk.rows("select outcome from rank")] == ["stopped by the launcher"] * 2
    assert not list(bench.run_directories.iterdir()), "the spools are removed when everything is stored"
    assert "nothing to recover" in bench.ok("db", "recover", "--db", disk.db).stdout


def test_what_was_done_before_is_not_done_twice(bench, disk):
    """The disk is full again and again while the run is recovered."""
    assert bench(*LONG, "--db", disk.db).returncode == 1
    sizes = [f"{size}k" for size in (1600, 1800, 2100, 2500)]
    for size in sizes:
        disk.grow(size)
        bench("db", "recover", "--db", disk.db)
        disk.check(bench)
    disk.grow()
    bench("db", "recover", "--db", disk.db)
    for rank in (0, 1):
        steps = [row["step"] for row in disk.rows(f"select step from step where rank = {rank} order by step")]
        assert steps == list(range(len(steps))) and steps
    spans_of_step = disk.rows("select count(*) n from span_chunk")[0]["n"]
    assert spans_of_step > 0 and disk.check(bench)["spans"] > 0
    assert not list(bench.run_directories.iterdir())


def test_the_next_run_brings_it_in(bench, disk):
    assert bench(*LONG, "--db", disk.db).returncode == 1
    disk.grow()
    done = bench.ok("run", "--db", disk.db, "--nodes", "1", "--no-baseline", *SMALL)
    assert "recovered run" in done.stderr
    assert disk.rows("select count(*) n from step where run_key = 1")[0]["n"] > 0
    assert not list(bench.run_directories.iterdir())


def test_a_run_of_another_store_leaves_the_spools_alone(bench, disk):
    assert bench(*LONG, "--db", disk.db).returncode == 1
    spooled = spooled_bytes(bench)
    bench.ok("run", "--nodes", "1", "--no-baseline", *SMALL)
    assert spooled_bytes(bench) == spooled > 0
    disk.grow()
    bench.ok("db", "recover", "--db", disk.db)


def test_spools_of_a_run_that_was_deleted_are_removed(bench, disk):
    assert bench(*LONG, "--db", disk.db).returncode == 1
    disk.grow()
    bench.ok("db", "prune", kept_directory(bench).name, "--yes", "--db", disk.db)
    bench.ok("run", "--nodes", "1", "--no-baseline", *SMALL)
    assert not list(bench.run_directories.iterdir())


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")
def test_a_program_on_a_full_disk(bench, disk):
    steps = 300  # seconds: the disk is full before the last
    program = [sys.executable, ROOT / "tests/integration/programs/ddp_mlp.py", "--steps", steps, "--hidden", 64]
    process = bench.start("run", "--gpus", "2", "--no-baseline", "--quiet", "--db", disk.db, "--", *program)
    wait_until(lambda: len(bench.spools()) >= 2, HANGS_S, "the program runs")
    filler = disk.path / "filler"
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    _, err = process.communicate(timeout=HANGS_S)
    assert process.returncode in (1, 5) and ("full" in err or "No space left" in err), err
    run_id = kept_directory(bench).name
    filler.unlink()
    disk.grow()
    for _ in range(2):  # the second finds nothing to do
        bench.ok("db", "recover", "--db", disk.db)
        (row,) = disk.rows("select * from run")
        assert row["id"] == run_id and row["state"] == "done", row["reason"]
        assert {row["n"] for row in disk.rows("select count(*) n from step group by rank")} == {steps}
    assert disk.check(bench)["spans"] > 0
    logs = disk.path / "results.db.logs" / run_id
    assert sorted(log.name for log in logs.glob("rank*")) == ["rank0.log", "rank1.log"]


def kill_a_run(bench):
    process = bench.start(*LONG, "--data-delay", "2ms")  # which leaves the launcher processor time
    bench.wait_for_step(process, 5, 2)
    process.kill()
    process.communicate(timeout=HANGS_S)
    wait_until(lambda: not pids_marked(bench.mark), HANGS_S, "all ranks have ended")
    return kept_directory(bench).name


def test_show_recovers_the_run_that_it_shows(bench):
    run_id = kill_a_run(bench)
    assert bench.rows("select state from run")[0]["state"] == "running"
    done = bench.ok("show", "--json")
    assert "was not stored completely" in done.stderr and f"recovered run {run_id}: interrupted" in done.stderr, done.stderr
    shown = json.loads(done.stdout)
    assert shown["run"]["state"] == "interrupted"
    assert bench.rows("select state from run")[0]["state"] == "interrupted", "in the store, not only in what is shown"
    assert bench.rows("select count(*) from step")[0][0] > 0
    assert not list(bench.run_directories.iterdir())
    assert bench.ok("show", "--json").stderr == ""


def test_ranks_of_another_launcher_leave_the_spools_alone(bench):
    """Ranks that mpirun, Slurm or others start clear away what killed ranks left on their machine, and nothing else."""
    run_id = kill_a_run(bench)
    spooled = spooled_bytes(bench)
    world = dict(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", LOCAL_WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port() - 1))
    bench.ok("run", "--launcher", "env", "--db", bench.tmp / "other.db", *SMALL, env=dict(bench.environment, **world))
    assert spooled_bytes(bench) == spooled > 0
    assert f"recovered run {run_id}" in bench.ok("db", "recover").stdout


def test_show_of_a_run_that_lives_changes_nothing(bench):
    process = bench.start(*LONG, "--data-delay", "2ms")
    bench.wait_for_step(process, 5, 2)
    assert bench.ok("show").stderr == ""
    done = bench("db", "recover", "last")
    assert done.returncode == 2, "last is no id"
    run_id = bench.rows("select id from run")[0]["id"]
    done = bench("db", "recover", run_id)
    assert done.returncode == 2 and "still running" in done.stderr, done.stderr
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130


def test_a_limit_of_file_sizes_is_named(bench):
    """RLIMIT_FSIZE under the store: the spools lie below the limit, the store does not."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))
    done = bench(*LONG, preexec_fn=limit)
    assert done.returncode == 1, done.stderr
    assert "ulimit -f" in done.stderr or "File too large" in done.stderr, done.stderr
    assert "full" not in done.stderr and "SIGXFSZ" not in done.stderr and "signal 25" not in done.stderr, done.stderr
    bench.ok("db", "recover")
    assert "running" not in [row["state"] for row in bench.rows("select state from run")]
    assert not list(bench.run_directories.iterdir())
