"""Ranks that die, hang or are interrupted: the run ends, says who and why, and keeps what it measured. How soon is measured
in tests/calibration."""

import contextlib
import json
import os
import signal
import sqlite3
import threading
import time

import pytest
from conftest import wait_until

# Ranks wait for data: however late the launcher acts on a busy machine, the steps have not ended.
LONG = ["--nodes", 2, "--gpus", 2, "--steps", 100000, "--warmup", 2, "-O", "hidden=64", "--data-delay", "5ms", "--no-baseline",
        "--quiet"]


def stored_run(bench):
    (row,) = bench.rows("select * from run")
    return row


def test_a_killed_rank_ends_the_run_and_is_named(bench):
    process = bench.start("run", *LONG)
    bench.wait_for_step(process, 20, 4)
    victim = bench.workers()[2]
    os.kill(victim, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == 1
    run = stored_run(bench)
    assert run["state"] == "failed"
    for words in ("rank 2", "node 1", "signal 9"):
        assert words in run["reason"], run["reason"]
    # Steps before the death remain readable, partition and all.
    steps = bench.rows("select count(distinct step) from step where rank = 2")[0][0]
    assert steps > 20
    shown = json.loads(bench.ok("show", "--json").stdout)
    assert shown["run"]["state"] == "failed" and shown["step_time_ns"]["value"] > 0
    assert "rank 2" in bench.ok("show").stdout


def test_every_rank_can_be_the_one_that_dies(bench):
    for victim_rank in (0, 3):
        process = bench.start("run", *LONG)
        bench.wait_for_step(process, 5, 4)
        os.kill(bench.workers()[victim_rank], signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == 1
        assert any(f"rank {victim_rank}" in row["reason"] for row in bench.rows("select reason from run"))


def test_sigusr1_says_where_each_rank_is_and_the_run_goes_on(bench):
    process = bench.start("run", "--timeout", 60, *LONG)
    bench.wait_for_step(process, 5, 4)
    said = []

    def listen():
        for line in process.stderr:
            said.append(line)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    victim = bench.workers()[1]
    os.kill(victim, signal.SIGSTOP)

    def verdict():
        """Asked until the launcher has missed the rank: how soon that is depends on the machine."""
        process.send_signal(signal.SIGUSR1)
        time.sleep(1)
        return next((i for i, line in enumerate(said) if line.startswith("rank 1 (node 0") and len(said) >= i + 5), None) is not None

    wait_until(verdict, 50, "rank 1 is named")
    os.kill(victim, signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    listener.join()
    assert process.returncode == 130
    at = next(i for i, line in enumerate(said) if line.startswith("rank 1 (node 0"))
    assert "has not answered" in said[at] and "of group 0 (all ranks)" in said[at], said[at]
    assert [line.split(" (")[0].strip() for line in said[at + 1:at + 5]] == ["rank 0", "rank 1", "rank 2", "rank 3"]


def test_a_stopped_rank_is_reported_while_the_run_goes_on_and_named_by_the_watchdog(bench):
    metrics = bench.tmp / "run.prom"
    process = bench.start("run", "--timeout", 4, "--metrics-file", metrics, *[argument for argument in LONG if argument != "--quiet"])
    bench.wait_for_step(process, 5, 4)
    os.kill(bench.workers()[3], signal.SIGSTOP)
    _, reported = process.communicate(timeout=90)
    assert process.returncode == 1
    hangs = [line for line in reported.splitlines() if "hang: " in line]
    assert all("hang: rank 3 (node 1" in hang and "all_reduce #" in hang and "of group 0 (all ranks)" in hang for hang in hangs), reported
    run = stored_run(bench)
    assert "rank 3" in run["reason"] and "all_reduce #" in run["reason"] and "of group 0 (all ranks)" in run["reason"], run["reason"]
    assert run["reason"] in " ".join(bench("diagnose").stdout.split())
    notes = " ".join(value for key, value in json.loads(run["facts_json"]).items() if key.startswith("note."))
    assert "when it hung, rank 3: in " in notes and "before: all_reduce #" in notes, notes
    assert 'state="failed"' in metrics.read_text()


def test_metrics_are_whole_and_what_cannot_be_written_is_refused(bench):
    metrics = bench.tmp / "run.prom"
    process = bench.start("run", "--metrics-file", metrics, *LONG)
    bench.wait_for_step(process, 5, 4)
    wait_until(lambda: metrics.exists() and "ddbench_live_steps_per_second" in metrics.read_text(), 60, "the rate is known")
    text = metrics.read_text()
    assert "ddbench_live_communication_ratio{" in text and 'verdict="' in text
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert "ddbench_run_info{" in metrics.read_text() and list(bench.tmp.glob(".ddbench-*")) == []
    refused = bench("run", "--metrics-file", bench.tmp / "missing" / "run.prom", *LONG)
    assert refused.returncode == 2 and "--metrics-file" in refused.stderr


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stores_what_was_measured(bench, signal_number):
    process = bench.start("run", *LONG)
    bench.wait_for_step(process, 5, 4)
    process.send_signal(signal_number)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert stored_run(bench)["state"] == ("interrupted" if signal_number == signal.SIGINT else "preempted")
    assert bench.rows("select count(*) from step")[0][0] > 0


def test_ranks_are_watched_over_while_the_store_is_locked(bench):
    process = bench.start("run", *[argument for argument in LONG if argument != "--quiet"])
    bench.wait_for_step(process, 5, 4)
    with contextlib.closing(sqlite3.connect(bench.db, timeout=60, isolation_level=None)) as other:
        other.execute("begin immediate")
        time.sleep(4)  # every two seconds spans are moved into the store: that waits now
        process.send_signal(signal.SIGINT)
        wait_until(lambda: not bench.workers(), 60, "all ranks have ended")
        time.sleep(2)
        assert process.poll() is None
        other.execute("rollback")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "waiting for the store" in said
    assert stored_run(bench)["state"] == "interrupted"
    assert bench.rows("select count(*) from step")[0][0] > 0


def test_an_interrupt_during_the_start_leaves_nothing(bench):
    for delay_s in (0.0, 0.05, 0.2, 0.5):
        process = bench.start("run", *LONG)
        time.sleep(delay_s)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode in (130, -signal.SIGINT)
    assert all(row["state"] != "running" for row in json.loads(bench.ok("list", "--json").stdout or "[]")) \
        if bench.db.exists() else True


def test_a_module_that_cannot_be_opened_says_what_to_install(bench):
    (bench.tmp / "ddbench_device_cpu.so").write_bytes(b"no shared object")
    environment = dict(bench.environment, DDBENCH_MODULE_DIR=str(bench.tmp))
    done = bench("run", "--nodes", 1, "--gpus", 2, "--no-baseline", "--quiet", env=environment)
    assert done.returncode == 5, done.stderr
    assert "ddbench_device_cpu.so" in done.stderr and "libdnnl" in done.stderr
    assert not bench.db.exists()
