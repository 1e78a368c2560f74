"""Training loops that time themselves: ddbench reports the throughput and the shares that they measured."""

import importlib.util
import json
import sys

import pytest
from attempts import up_to_three_attempts
from conftest import ROOT

LOOPS = ROOT / "tests/integration/programs/loops"
pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")


def assert_agrees(bench, name, *arguments):
    done = bench.ok("run", "--warmup", 0, "--json", "--", sys.executable, LOOPS / f"{name}.py", *arguments)
    run = json.loads(done.stdout)
    account = json.loads(next(line for line in done.stderr.splitlines() if "ACCOUNT" in line).partition("ACCOUNT ")[2])
    assert run["steps"]["measured"] == account["steps"]
    assert run["samples_per_s"] == pytest.approx(account["samples_per_s"], rel=0.02)
    facts, step_ns = run["environment"]["facts"], run["step_time_ns"]["value"]
    for part, share in account["shares"].items():
        assert float(facts[f"program.{part}_ns"]) / step_ns == pytest.approx(share, abs=0.03), part
    assert run["partition_ns"]["data_wait"] / step_ns == pytest.approx(account["shares"]["data"], abs=0.03)
    return run


@up_to_three_attempts
def test_a_slow_loader(bench):
    run = assert_agrees(bench, "single", "--delay", "0.0005", "--samples", "1280", "--hidden", "512")
    assert run["partition_ns"]["data_wait"] > run["partition_ns"]["compute"] / 2


@up_to_three_attempts
def test_loader_workers(bench):
    assert_agrees(bench, "single", "--workers", "2", "--samples", "3200", "--batch", "64", "--hidden", "1024")


@up_to_three_attempts
def test_a_loop_that_computes(bench):
    assert_agrees(bench, "single", "--samples", "3200", "--batch", "64", "--hidden", "1024")
