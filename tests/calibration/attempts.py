"""The one rule by which a figure that differs from the truth fails."""

import functools
import os
import subprocess

import pytest
from machine_load import LoadMeter

ATTEMPTS = 3
NOT_MEASURED = "not measured: machine busy"
reports = []  # a line for each attempt, in the order of the attempts; conftest.py prints them


def attempt(number, name, measure):
    """(failure or None, load) of one attempt, which is reported."""
    meter = LoadMeter()
    failure = None
    try:
        measure()
    except (AssertionError, subprocess.TimeoutExpired) as error:
        failure = error
    load = meter.read()
    outcome = "agrees" if failure is None else "differs: " + " ".join(str(failure).split())[:120]
    reports.append(f"{name}: attempt {number} of {ATTEMPTS} ({load}): {outcome}")
    return failure, load


def settle(name, measure):
    """Passes with the first attempt that agrees. Where all differ, fails if the machine was quiet each time."""
    tried = []
    for number in range(1, ATTEMPTS + 1):
        failure, load = attempt(number, name, lambda: measure(number))
        if failure is None:
            return
        tried.append((failure, load))
    if any(load.is_busy for _, load in tried):
        pytest.skip(NOT_MEASURED)
    raise tried[-1][0]


def up_to_three_attempts(test):
    """Decorates a test of a figure. Each attempt has a store of its own."""
    @functools.wraps(test)
    def attempts(**arguments):
        def measure(number):
            arguments["bench"].use_store(f"attempt{number}.db")
            test(**arguments)
        node_id = os.environ["PYTEST_CURRENT_TEST"].rsplit(" ", 1)[0]
        settle(node_id[node_id.index("test_"):], measure)
    return attempts
