"""A closed terminal, a lost ssh connection and Ctrl-\\: the run ends in order, with its final state in the store."""

import fcntl
import os
import signal
import subprocess
import termios

import pytest
from conftest import EXECUTABLE, HANGS_S, pids_marked, wait_until

# Waiting for data leaves the launcher processor time: beside ranks at full speed it may get 1% of a core.
LONG = ["run", "--nodes", "1", "--gpus", "2", "--steps", "1000000", "-O", "hidden=16", "--data-delay", "2ms", "--no-baseline"]


def the_run(bench):
    return bench.rows("select * from run order by started_wall_ns desc limit 1")[0]


def stored_steps(bench):
    return bench.rows("select count(*) from step where run_key = ?", the_run(bench)["run_key"])[0][0]


@pytest.fixture
def terminal():
    """A pseudo terminal; `start` makes it the controlling terminal of a command, `close` is what a lost connection does."""
    class Terminal:
        def __init__(self):
            self.ours, self.theirs = os.openpty()

        def start(self, bench, arguments):
            process = subprocess.Popen([EXECUTABLE, *arguments], stdin=self.theirs, stdout=self.theirs, stderr=self.theirs,
                                       env=bench.environment, start_new_session=True,
                                       preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            os.close(self.theirs)
            return process

        def close(self):
            if self.ours >= 0:
                os.close(self.ours)
            self.ours = -1

    terminal = Terminal()
    yield terminal
    terminal.close()


def test_a_closed_terminal_ends_the_run_in_order(bench, terminal):
    process = terminal.start(bench, LONG)
    bench.wait_for_step(process, 5, 2)
    terminal.close()
    assert process.wait(timeout=HANGS_S) == 130
    run = the_run(bench)
    assert run["state"] == "interrupted", run["reason"]
    assert "SIGHUP" in run["reason"] and "terminal was closed" in run["reason"], run["reason"]
    assert stored_steps(bench) > 0
    wait_until(lambda: not pids_marked(bench.mark), HANGS_S, "all ranks have ended")
    assert not list(bench.run_directories.iterdir())


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize("whom", ["launcher", "everybody"])
def test_a_signal_ends_the_run_in_order(bench, number, whom):
    process = bench.start(*LONG, "--quiet")
    bench.wait_for_step(process, 5, 2)
    for pid in [process.pid] if whom == "launcher" else pids_marked(bench.mark):
        os.kill(pid, number)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    run = the_run(bench)
    assert run["state"] == "interrupted" and number.name in run["reason"], run["reason"]
    assert stored_steps(bench) > 0
    assert [row["outcome"] for row in bench.rows("select outcome from rank")] == ["stopped by the launcher"] * 2


def test_a_shell_that_signals_the_closed_terminal_twice(bench):
    process = bench.start(*LONG, "--quiet")
    bench.wait_for_step(process, 5, 2)
    for _ in range(3):
        process.send_signal(signal.SIGHUP)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130 and the_run(bench)["state"] == "interrupted"


def test_nohup_is_respected(bench):
    process = bench.start("run", "--nodes", "1", "--gpus", "2", "--no-baseline", "--quiet", "--steps", "1500", "-O",
                          "hidden=16", "--data-delay", "5ms", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    bench.wait_for_step(process, 5, 2)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0, err
    assert the_run(bench)["state"] == "done"


def test_a_sweep_stops_with_its_run(bench):
    process = bench.start("sweep", "--nodes", "1", "--gpus", "1,2", "--steps", "1000000", "-O", "hidden=16",
                          "--data-delay", "2ms", "--quiet")
    wait_until(lambda: bench.db.exists() and any(size > 4000 for size in bench.spool_sizes()), HANGS_S, "some steps of a run of the sweep")
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    assert [run["state"] for run in bench.rows("select state from run")] == ["interrupted"]
