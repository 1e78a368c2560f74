"""Runs that end by themselves: when the step time is known well enough, or the time is up. Which of the two comes first is
up to the machine; that all ranks end with the same step, and that the report says why, is not."""

import contextlib
import json
import os
import shutil
import signal
import time

import pytest
from conftest import HANGS_S, wait_until

AUTO = ["-O", "hidden=64", "--no-baseline", "--quiet"]
ENDLESS = [*AUTO, "--data-delay", "5ms", "--margin", "0.000001", "--max-time", "100000"]
MPI = ["--launcher", "mpirun", "--launcher-args", "--allow-run-as-root --oversubscribe"]


def last_steps(bench, run_id):
    """Of each rank."""
    return [row[0] for row in bench.rows("select max(step) from step join run using (run_key) where id = ? group by rank", run_id)]


def ended(bench, *arguments, ranks):
    reported = bench.run_json(*arguments)
    run_id = reported["run"]["id"]
    steps, end = reported["steps"], reported["steps"]["end"]
    lasts = last_steps(bench, run_id)
    assert len(lasts) == ranks and len(set(lasts)) == 1, "all ranks end with the same step"
    assert steps["asked_for"] == "auto" and steps["measured"] == lasts[0] + 1 - steps["warmup"]
    assert reported["environment"]["facts"]["steps.done"] == str(lasts[0] + 1)
    assert end["by"] == reported["environment"]["facts"]["steps.ended_by"]
    time_ns = reported["step_time_ns"]
    if end["half_width"] is not None:
        assert end["half_width"] == pytest.approx((time_ns["ci_high"] - time_ns["ci_low"]) / 2 / time_ns["value"])
    return reported


@pytest.mark.parametrize("ranks", [[1, 1], [1, 4], [2, 1]], ids=lambda ranks: f"{ranks[0]}x{ranks[1]}")
def test_the_report_says_why_the_run_ended(bench, ranks):
    reported = ended(bench, "--nodes", ranks[0], "--gpus", ranks[1], "--max-time", 3, *AUTO, ranks=ranks[0] * ranks[1])
    end = reported["steps"]["end"]
    assert end["margin"] == 0.01 and end["max_time_s"] == 3
    if end["by"] == "margin":
        assert reported["steps"]["measured"] >= 60
    shown = " ".join(bench.ok("show", "last").stdout.split())
    known = "half-width " if end["half_width"] is not None else f"no interval: {reported['missing']['steps.end.half_width']}"
    why = f"after {reported['steps']['measured']:,} steps: {known}"
    assert why in shown and "(goal 1%)" in shown
    assert ("stopped at --max-time" in shown) == (end["by"] == "max-time")
    page = bench.tmp / "report.html"
    bench.ok("report", "last", "--format", "html", "-o", page)
    assert why in page.read_text()


def test_a_margin_that_no_run_reaches_ends_it_at_the_time(bench):
    reported = ended(bench, "--gpus", 2, "--margin", "0.0001", "--max-time", 2, *AUTO, ranks=2)
    assert reported["steps"]["end"]["by"] == "max-time"


def test_steps_that_are_longer_than_the_time(bench):
    reported = ended(bench, "--gpus", 2, "--data-delay", "3s", "--warmup", 1, "--max-time", 1, *AUTO, ranks=2)
    assert reported["steps"]["end"]["by"] == "max-time"
    assert reported["steps"]["measured"] == 1, "no step is begun after the time"
    assert reported["steps"]["end"]["half_width"] is None and "steps.end.half_width" in reported["missing"]


def test_a_rank_that_stands_still_for_a_while_ends_with_the_others(bench):
    process = bench.start("run", "--json", "--gpus", 3, "--margin", "0.0001", "--max-time", 6, *AUTO)
    slow = wait_until(lambda: len(ranks := bench.workers()) == 3 and ranks, HANGS_S, "three ranks")[1]
    for _ in range(6):
        with contextlib.suppress(ProcessLookupError):  # the run may have ended
            os.kill(slow, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(slow, signal.SIGCONT)
            time.sleep(0.2)
    out, err = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0, err
    assert len(set(last_steps(bench, json.loads(out)["run"]["id"]))) == 1


@pytest.mark.skipif(not shutil.which("mpirun"), reason="openmpi-bin is not installed")
@pytest.mark.parametrize("backend", ["gloo", "mpi"])
def test_ranks_elsewhere_agree_too(bench, backend):
    reported = ended(bench, *MPI, "--backend", backend, "--gpus", 2, "--max-time", 2, *AUTO, ranks=2)
    assert reported["steps"]["end"]["by"] in ("margin", "max-time")


def test_a_number_of_steps_is_that_number(bench):
    reported = bench.run_json("--gpus", 2, "--steps", 7, "--warmup", 2, *AUTO)
    assert reported["steps"]["asked_for"] == reported["steps"]["measured"] == 7 and reported["steps"]["end"] is None
    assert "stopped" not in bench.ok("show", "last").stdout


def newest(bench):
    return bench.rows("select id, state, reason from run order by run_key desc limit 1")[0]


def training(bench, *arguments):
    process = bench.start("run", "--gpus", 2, *arguments)
    bench.wait_for_step(process, 20, 2)
    return process


def test_an_interrupt_and_a_killed_rank_end_it_as_any_run(bench):
    process = training(bench, *ENDLESS)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130 and newest(bench)["state"] == "interrupted"
    process = training(bench, *ENDLESS)
    os.kill(bench.workers()[1], signal.SIGKILL)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 1 and newest(bench)["state"] == "failed" and "rank 1" in newest(bench)["reason"]
    reported = json.loads(bench.ok("show", "last", "--json").stdout)
    assert reported["steps"]["end"] is None and "steps.end" in reported["missing"]


def test_a_preempted_run_continues_and_then_ends_by_itself(bench):
    job = [*AUTO, "--checkpoint-every", 1000, "--name", "job", "--continue", "--data-delay", "5ms", "--margin", "0.0001",
           "--max-time", 20, "--json"]
    process = training(bench, *job)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130 and newest(bench)["state"] == "preempted"
    assert "with a checkpoint of it" in newest(bench)["reason"]
    reported = bench.run_json("--gpus", 2, *job[:-1])
    assert "resumed.from" in reported["environment"]["facts"] and reported["steps"]["end"]["by"] == "max-time"
    assert len(set(last_steps(bench, reported["run"]["id"]))) == 1


def test_repeats_until_they_agree(bench):
    done = bench.ok("run", "--repeat", "auto", "--margin", 50, "--steps", 20, "--gpus", 2, "-O", "hidden=64", "--no-baseline")
    runs = bench.rows("select count(*) from run where state = 'done'")[0][0]
    assert 5 <= runs <= 10
    assert f"{runs} runs" in done.stderr and "half-width between runs" in done.stderr and "(goal 50%)" in done.stderr


def test_a_sweep_that_repeats_until_it_is_known_is_complete_then(bench):
    sweep = ["sweep", "--gpus", "1,2", "--repeat", "auto", "--margin", 50, "--steps", 20, "-O", "hidden=64"]
    first = bench.ok(*sweep)
    runs = bench.rows("select count(*) from run where state = 'done'")[0][0]
    assert 10 <= runs <= 20 and first.stderr.count("half-width between runs") == 2
    second = bench.ok(*sweep)
    assert "resuming" not in second.stderr, "the first one was complete"


@pytest.mark.parametrize("arguments, words", [
    (["--steps", "some"], ["--steps", "some", "auto"]),
    (["--steps", "0"], ["--steps", "0"]),
    (["--steps", "10", "--margin", "2"], ["--margin", "--steps auto"]),
    (["--steps", "10", "--max-time", "2"], ["--max-time", "--steps auto"]),
    (["--margin", "0"], ["--margin", "above 0"]),
    (["--margin", "101"], ["--margin", "100"]),
    (["--max-time", "0"], ["max-time", "above 0"]),
    (["--repeat", "often"], ["--repeat", "often", "auto"]),
    (["--steps", "auto", "--target-loss", "0.1"], ["--steps auto", "--target-loss"]),
    (["--steps", "auto", "--", "true"], ["--steps auto", "program"]),
])
def test_what_makes_no_sense_is_refused(bench, arguments, words):
    done = bench("run", *arguments)
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr
