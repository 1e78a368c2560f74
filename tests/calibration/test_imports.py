"""A run's trace from PyTorch's profiler, imported, against ddbench's own recording of the same run."""

import importlib.util
import json
import sys

import pytest
from attempts import up_to_three_attempts
from conftest import ROOT

PROGRAM = [sys.executable, ROOT / "tests/integration/programs/profiled.py"]
STEPS = 20
pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")


def totals(bench, run, first):
    """Nanoseconds of all profiled steps but the last, of both ranks: the profiler may stop before Gloo reported
    its end."""
    rows = bench.rows("select step.* from step join run using (run_key) where id = ? and step >= ? and step < ?", run, first,
                      first + STEPS - 1)
    assert len(rows) == 2 * (STEPS - 1)
    compute = ("forward_ns", "backward_ns", "optimizer_ns", "other_compute_ns")
    return {"step time": sum(row["duration_ns"] for row in rows), "communication": sum(row["communication_ns"] for row in rows),
            "compute": sum(row[part] for row in rows for part in compute),
            "backward": sum(row["backward_ns"] for row in rows)}


@up_to_three_attempts
def test_an_imported_trace_agrees_with_the_recording_of_the_same_run(bench):
    folder = bench.tmp / "traces"
    folder.mkdir(exist_ok=True)
    done = bench.ok("run", "--gpus", 2, "--warmup", 2, "--no-baseline", "--json", "--", *PROGRAM, folder, STEPS, 1024, 256)
    recorded = totals(bench, json.loads(done.stdout)["run"]["id"], 2)
    imported = totals(bench, json.loads(bench.ok("import", "kineto", "--json", folder).stdout)["run"], 0)
    for what, ns in recorded.items():
        assert imported[what] == pytest.approx(ns, rel=0.02), what
