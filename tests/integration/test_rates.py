"""One step time, one throughput, one efficiency: every output shows the same digits, and they are those of the ranks' clocks."""

import csv
import io
import json
import math
import re

import pytest
from conftest import SMALL, Bench


def elapsed_and_steps(bench, run_id, warmup):
    """By SQL, from the ranks' own records. All ranks share this machine's clock."""
    row = bench.rows("""select min(begin_ns) as begin, max(begin_ns + duration_ns) as end, count(distinct step) as steps
                        from step join run using (run_key) where id = ? and step >= ?""", run_id, warmup)[0]
    return row["end"] - row["begin"], row["steps"]


def in_csv(text):
    """CSV has 8 digits."""
    return pytest.approx(float(text), rel=1e-7)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("rates"))
    table = json.loads(bench.ok("sweep", "--json", "--gpus", "1,2", *SMALL).stdout)
    return bench, table


def test_all_outputs_show_the_same_digits(swept):
    bench, table = swept
    curve = json.loads(bench.ok("scaling", "--sweep", table["sweep_id"], "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(bench.ok("report", "last-sweep", "--format", "csv").stdout)))
    listed = {run["id"]: run for run in json.loads(bench.ok("list", "--json").stdout)}
    html = bench.ok("report", "last-sweep", "--format", "html").stdout
    markdown = bench.ok("report", "last-sweep", "--format", "markdown").stdout
    text = bench.ok("scaling", "--sweep", table["sweep_id"]).stdout
    assert len(table["rows"]) == len(curve["rows"]) == len(rows) == 2
    for swept_row, curve_row, csv_row in zip(table["rows"], curve["rows"], rows):
        shown = json.loads(bench.ok("show", csv_row["run_id"], "--json").stdout)
        samples = shown["samples_per_s"]
        assert samples == swept_row["samples_per_s"] == curve_row["samples_per_s"] == in_csv(csv_row["samples_per_s"])
        assert samples == listed[csv_row["run_id"]]["samples_per_s"]
        step = shown["step_time_ns"]
        assert step == swept_row["step_time_ns"] == curve_row["step_time_ns"]
        assert step["value"] == in_csv(csv_row["step_time_ns"]) == listed[csv_row["run_id"]]["step_time_ns"]["value"]
        if curve_row["is_baseline"]:
            continue
        efficiency = shown["efficiency"]["value"]
        assert efficiency == swept_row["efficiency"] == curve_row["efficiency"]["value"] == in_csv(csv_row["efficiency"])
        assert shown["efficiency"]["speedup"] == swept_row["speedup"] == curve_row["speedup"]
        assert shown["waterfall_ns"] == curve_row["waterfall_ns"]
        assert curve_row["lost_ns"] / step["value"] == pytest.approx(1 - efficiency, abs=1e-5)
        assert "3 or more" in shown["missing"]["efficiency.ci"] == swept_row["missing"]["efficiency_ci"]
        percent = f"{100 * efficiency:.1f}"
        for document in (html, markdown, text):
            assert re.search(rf"\b{re.escape(percent)} ?%", document), percent


def test_the_figures_are_those_of_the_ranks_clocks(swept):
    bench, table = swept
    for run in bench.rows("select id from run"):
        shown = json.loads(bench.ok("show", run["id"], "--json").stdout)
        elapsed_ns, steps = elapsed_and_steps(bench, run["id"], shown["steps"]["warmup"])
        assert steps == shown["steps"]["measured"]
        samples = steps * shown["run"]["global_batch"]
        assert shown["samples_per_s"] == pytest.approx(samples / elapsed_ns * 1e9, rel=0.005)
        assert sum(shown["partition_ns"].values()) == math.floor(shown["step_time_ns"]["value"] + 0.5), "half a ns is rounded up"


def test_repeats_are_averaged_once_and_have_intervals(bench):
    table = json.loads(bench.ok("sweep", "--json", "--gpus", "1,2", "--repeat", 3, *SMALL).stdout)
    curve = json.loads(bench.ok("scaling", "--sweep", table["sweep_id"], "--json").stdout)
    for swept_row, curve_row in zip(table["rows"], curve["rows"]):
        assert swept_row["repetitions"] == len(curve_row["runs"]) == 3
        for field in ("samples_per_s", "step_time_ns", "speedup", "speedup_ci"):
            assert swept_row[field] == curve_row[field]
        assert swept_row["step_time_ns"]["ci_low"] > 0
    two = curve["rows"][1]
    assert two["efficiency"]["value"] == table["rows"][1]["efficiency"]
    assert two["efficiency"]["ci_low"] == table["rows"][1]["efficiency_ci"]["low"] < two["efficiency"]["value"]
    assert two["waterfall_ci_ns"]["lost"][0] <= two["lost_ns"] <= two["waterfall_ci_ns"]["lost"][1]
