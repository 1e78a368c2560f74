"""How soon a run ends after a failure or a signal. tests/integration proves how it ends."""

import os
import signal
import time

import pytest
from attempts import up_to_three_attempts

# Silence counts from what the launcher heard last, which is up to one heartbeat older than the harm.
HEARTBEAT_S = 0.2
LONG = ["--nodes", 2, "--gpus", 2, "--steps", 100000, "--warmup", 2, "-O", "hidden=64", "--no-baseline", "--quiet"]


def seconds_to_the_end(bench, harm, *options):
    process = bench.start("run", *LONG, *options)
    bench.wait_for_step(process, 5, 4)
    harm(process)
    began = time.monotonic()
    process.communicate(timeout=60)
    return time.monotonic() - began


@up_to_three_attempts
def test_a_killed_rank_ends_the_run_within_10_seconds(bench):
    assert seconds_to_the_end(bench, lambda _: os.kill(bench.workers()[2], signal.SIGKILL)) < 10


@up_to_three_attempts
def test_a_stopped_rank_ends_the_run_after_the_timeout(bench):
    seconds = seconds_to_the_end(bench, lambda _: os.kill(bench.workers()[1], signal.SIGSTOP), "--timeout", 3)
    assert 3 - HEARTBEAT_S <= seconds < 20


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
@up_to_three_attempts
def test_a_signal_ends_the_run_within_10_seconds(bench, signal_number):
    assert seconds_to_the_end(bench, lambda process: process.send_signal(signal_number)) < 10
