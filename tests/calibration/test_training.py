"""What training reaches: no more than the machine has, and less where it waits."""

import importlib.util
import json
import sys

import pytest
from attempts import up_to_three_attempts
from conftest import ROOT, SMALL, wait_until

DDP = [sys.executable, ROOT / "tests/integration/programs/ddp_mlp.py"]
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")


@up_to_three_attempts
def test_a_run_reaches_no_more_than_the_machine_has(bench):
    result = bench.run_json("--nodes", 2, "--gpus", 2, *SMALL)
    assert 0 < result["mfu"] < 1.5, "of the GEMM rate that was measured"
    assert 0 < result["efficiency"]["value"] < 2


@needs_torch
@up_to_three_attempts
def test_a_program_reaches_no_more_than_on_one_rank(bench):
    done = bench.ok("run", "--nodes", 2, "--batch-per-gpu", 64, "--baseline", "--json", "--", *DDP, "--steps", 40)
    assert 0 < json.loads(done.stdout)["efficiency"]["value"] < 2


@needs_torch
@up_to_three_attempts
def test_a_slow_link_lowers_the_efficiency_of_a_program(bench):
    done = bench.ok("sweep", "--nodes", "1,2", "--link", "none,1gbit", "--batch-per-gpu", 64, "--quiet", "--json", "--",
                    *DDP, "--steps", 16)
    rows = json.loads(done.stdout)["rows"]
    assert min(row["efficiency"] for row in rows) < 0.9, "1 Gbit/s for 2.7 MB a step of 8 ms"


@up_to_three_attempts
def test_a_restart_lowers_the_goodput(bench):
    case = ["--gpus", 2, "--steps", 150, "--warmup", 0, "-O", "hidden=64", "--batch-per-gpu", 16, "--checkpoint-every", 10,
            "--data-delay", "4ms", "--no-baseline", "--quiet"]

    def goodput(result):
        return float(result["environment"]["facts"]["goodput"])

    whole = goodput(bench.run_json(*case))
    before = checkpoints(bench)
    process = bench.start("run", *case)
    wait_until(lambda: checkpoints(bench) - before, 60, "the first checkpoint")
    process.kill()
    process.communicate()
    killed = bench.rows("select id from run order by started_wall_ns desc limit 1")[0]["id"]
    assert goodput(bench.run_json("--resume", killed, "--quiet")) < whole < 1


def checkpoints(bench):
    return set(bench.tmp.glob("*.checkpoints/*/step-*"))
