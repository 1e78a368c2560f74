"""Lengths of spans against those that PyTorch's own profiler records in the same processes."""

import importlib.util
import json
import statistics
import sys

import pytest
from attempts import up_to_three_attempts
from conftest import ROOT

DDP = [sys.executable, ROOT / "tests/integration/programs/ddp_mlp.py"]
pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")


def both_sides(bench):
    """For each rank (our events, the profiler's events) of one run."""
    profile, trace = bench.tmp / "profile", bench.tmp / "trace.json"
    done = bench.ok("run", "--nodes", 2, "--no-baseline", "--json", "--", *DDP, "--steps", 30, "--hidden", 1024, "--profile",
                    profile)
    bench.ok("report", json.loads(done.stdout)["run"]["id"], "--format", "perfetto", "-o", trace)
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    for rank in range(2):
        theirs = json.loads((bench.tmp / f"profile.{rank}.json").read_text())
        theirs = theirs if isinstance(theirs, list) else theirs["traceEvents"]
        yield [e for e in events if e["pid"] == rank + 1], [e for e in theirs if e.get("ph") == "X"]


def median_ratio(ours, theirs):
    pairs = list(zip(*(sorted(side, key=lambda e: e["ts"]) for side in (ours, theirs))))
    assert pairs
    return statistics.median(a["dur"] / b["dur"] for a, b in pairs)


def named(events, name):
    return [e for e in events if e.get("name") == name]


@up_to_three_attempts
def test_all_reduces_and_operators_last_as_long_as_torch_profiler_says(bench):
    for ours, theirs in both_sides(bench):
        # What the profiler sees of a collective lasts some 30 us longer: it begins before Gloo is called and ends after.
        assert median_ratio(named(ours, "all_reduce"), named(theirs, "gloo:all_reduce")) == pytest.approx(1, abs=0.03)
        for operator in ("aten::linear", "aten::mm", "aten::cross_entropy_loss"):
            assert median_ratio(named(ours, operator), named(theirs, operator)) == pytest.approx(1, abs=0.1), operator
