"""A launcher killed with SIGKILL: its ranks and namespaces go with it, the next command puts its run in order."""

import json
import os
import signal

from conftest import SMALL, net_namespaces, pids_marked, wait_until

# Waiting for data most of the time: Linux 6.18 gives what shares a core with ranks at full speed 1% of it.
LONG = ["--nodes", 3, "--gpus", 1, "--steps", 100000, "-O", "hidden=64", "--data-delay", "5ms", "--no-baseline", "--quiet"]


def test_the_next_run_finds_and_closes_it(bench):
    before = net_namespaces()
    process = bench.start("run", *LONG)
    bench.wait_for_step(process, 10, 3)
    stopped = bench.workers()[1]
    os.kill(stopped, signal.SIGSTOP)  # not even a stopped rank may stay
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not pids_marked(bench.mark), 60, "all ranks have ended")
    wait_until(lambda: not (net_namespaces() - before), 60, "all namespaces are gone")

    # A reader shows it as what it is, before anybody has cleaned up.
    assert json.loads(bench.ok("list", "--json").stdout)[0]["state"] == "interrupted"
    assert list(bench.run_directories.iterdir()), "the spools of the killed run are still there"

    bench.ok("run", "--nodes", 1, "--no-baseline", *SMALL)
    assert not list(bench.run_directories.iterdir())
    old = bench.rows("select * from run order by started_wall_ns")[0]
    assert old["state"] == "interrupted" and str(process.pid) in old["reason"]
    assert bench.rows("select count(*) from step where run_key = ?", old["run_key"])[0][0] > 0


def test_directories_of_living_runs_are_left_alone(bench):
    process = bench.start("run", *LONG)
    bench.wait_for_step(process, 2, 3)
    bench.ok("run", "--nodes", 1, "--no-baseline", *SMALL)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
