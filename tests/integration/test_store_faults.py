"""Stores and disks that fail: clear words, right exit code, nothing half-written."""

import contextlib
import json
import os
import sqlite3
import subprocess

import pytest
from conftest import SMALL


@pytest.fixture
def small_disk(tmp_path):
    """A tmpfs that fills up quickly; yields a function that makes one of a given size."""
    mounted = []

    def make(size):
        path = tmp_path / f"disk{len(mounted)}"
        path.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True)
        if done.returncode != 0:
            pytest.skip("mounting a tmpfs is not allowed here")
        mounted.append(path)
        return path

    yield make
    for path in mounted:
        subprocess.run(["umount", str(path)], check=True)


def test_full_disk_under_the_spool(bench, small_disk):
    disk = small_disk("256k")
    environment = dict(bench.environment, DDBENCH_TMPDIR=str(disk))
    done = bench("run", "--nodes", 1, "--gpus", 2, "--steps", 100000, "-O", "hidden=16", "--no-baseline", "--quiet",
                 env=environment)
    assert done.returncode == 1
    (run,) = bench.rows("select * from run")
    assert run["state"] == "failed"
    assert "No space left" in run["reason"] and str(disk) in run["reason"], run["reason"]
    assert not list(disk.iterdir())


def test_read_only_store(bench, small_disk):
    disk = small_disk("8m")
    db = disk / "results.db"
    bench.ok("run", "--nodes", 1, "--no-baseline", "--db", db, *SMALL)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        done = bench("run", "--nodes", 1, "--no-baseline", "--db", db, *SMALL)
        assert done.returncode == 5, "no run began"
        assert str(db) in done.stderr and "read-only" in done.stderr.lower(), done.stderr
        assert json.loads(bench.ok("show", "--json", "--db", db).stdout)["run"]["state"] == "done"
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def test_two_runs_at_once_into_one_store(bench):
    processes = [bench.start("run", "--json", "--nodes", 1, "--gpus", 2, "--no-baseline", "--name", f"twin{i}", *SMALL)
                 for i in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert json.loads(out)["run"]["state"] == "done"
    assert bench.rows("select count(*) from run where state = 'done'")[0][0] == 2
    for run in bench.rows("select run_key from run"):
        assert bench.rows("select count(*) from step where run_key = ?", run["run_key"])[0][0] == 2 * 14


@pytest.mark.parametrize("content", [b"", b"this is no database, but longer than a header " * 40])
def test_a_file_that_is_no_store(bench, content):
    bench.db.write_bytes(content)
    done = bench("show")
    assert done.returncode == 2, done.stderr
    assert str(bench.db) in done.stderr
    assert bench.db.read_bytes() == content


def test_a_newer_store_is_refused_and_untouched(bench):
    bench.ok("run", "--nodes", 1, "--no-baseline", *SMALL)
    with contextlib.closing(sqlite3.connect(bench.db)) as connection:
        connection.execute("pragma user_version = 99")
        connection.commit()
    for command in (["show"], ["run", "--nodes", 1]):
        done = bench(*command)
        assert done.returncode == 2
        assert "99" in done.stderr and "newer" in done.stderr


def test_a_truncated_store_is_explained(bench):
    bench.ok("run", "--nodes", 1, "--no-baseline", *SMALL)
    for suffix in ("-wal", "-shm"):
        if os.path.exists(f"{bench.db}{suffix}"):
            os.remove(f"{bench.db}{suffix}")
    with open(bench.db, "r+b") as file:
        file.truncate(os.path.getsize(bench.db) // 2)
    done = bench("show")
    assert done.returncode in (1, 2)
    assert str(bench.db) in done.stderr
    assert "internal error" not in done.stderr
