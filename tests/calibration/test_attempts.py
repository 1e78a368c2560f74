"""The rule itself: what counts as a failure, and what as a busy machine."""

import contextlib
import os
import subprocess
import time

import attempts
import pytest
from machine_load import Load, LoadMeter, processors

QUIET, BUSY = Load(stolen=0, others=0.01, delayed=0.5), Load(stolen=0, others=0.5, delayed=0.5)


class LoadsInTurn:
    def __init__(self, loads):
        self.loads = iter(loads)

    def __call__(self):
        return self

    def read(self):
        return next(self.loads)


def settled(monkeypatch, loads, agrees):
    """How a figure that agrees in these attempts ends on a machine of these loads: (outcome, what was reported)."""
    monkeypatch.setattr(attempts, "LoadMeter", LoadsInTurn(loads))
    monkeypatch.setattr(attempts, "reports", [])

    def measure(number):
        assert number in agrees, f"number {number}"
    try:
        attempts.settle("figure", measure)
        outcome = "passed"
    except AssertionError:
        outcome = "failed"
    except pytest.skip.Exception as skipped:
        outcome = str(skipped)
    return outcome, attempts.reports


def test_a_failure_counts_when_all_attempts_differ_on_a_quiet_machine(monkeypatch):
    outcome, reports = settled(monkeypatch, [QUIET] * 3, agrees=[])
    assert outcome == "failed"
    assert [report.startswith(f"figure: attempt {n} of 3 (machine quiet") for n, report in enumerate(reports, 1)] == [True] * 3
    assert all("differs: number" in report for report in reports)


@pytest.mark.parametrize("loads", [[BUSY, QUIET, QUIET], [QUIET, BUSY, QUIET], [QUIET, QUIET, BUSY]])
def test_a_busy_machine_measures_nothing(monkeypatch, loads):
    outcome, reports = settled(monkeypatch, loads, agrees=[])
    assert outcome == "not measured: machine busy" and len(reports) == 3


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_first_attempt_that_agrees_is_the_last(monkeypatch, number):
    outcome, reports = settled(monkeypatch, [BUSY] * 3, agrees=[number])
    assert outcome == "passed" and len(reports) == number and reports[-1].endswith(": agrees")


def test_what_makes_a_machine_busy():
    assert Load(stolen=0.06, others=0, delayed=0).is_busy
    assert not Load(stolen=0.04, others=0.2, delayed=0.05).is_busy, "enough processors for all"
    assert not Load(stolen=0, others=0.05, delayed=1).is_busy, "the test's own processes wait for each other"
    assert Load(stolen=0, others=0.2, delayed=None).is_busy


def test_a_load_is_that_of_the_processors_that_a_test_may_use(tmp_path):
    allowed = os.sched_getaffinity(0)
    assert processors([]) == len(allowed)
    for name, limit in (("unlimited", "max 100000"), ("quarter", "25000 100000"), ("many", "100000000 100000")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cpu.max").write_text(limit)
    assert processors([tmp_path / "unlimited", tmp_path / "none", tmp_path / "many"]) == len(allowed)
    assert processors([tmp_path / "many", tmp_path / "quarter"]) == 0.25
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert processors([]) == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_two_busy_loops_a_processor_are_seen():
    with contextlib.ExitStack() as stack:
        for _ in range(2 * os.cpu_count()):
            loop = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
            stack.callback(loop.kill)
        meter = LoadMeter()
        time.sleep(2)
        load = meter.read()  # before they are waited for, and so count as the test's own
    assert load.is_busy, load
