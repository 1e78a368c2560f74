"""One run of a store is damaged: the others can still be used, and the damaged one can be removed."""

import json

import pytest
from conftest import ROOT

CURVE = ["--where", "workload=resnet50,strategy=ddp"]
FIXTURE = ROOT / "tests/fixtures/pytorch_ddp_benchmark.csv"


@pytest.fixture
def damaged(bench):
    """A store of imported runs of which the newest cannot be read; with its id."""
    bench.ok("import", "table", FIXTURE)
    (row,) = bench.rows("select id, run_key from run order by started_wall_ns desc limit 1")
    bench.rows("update run set case_json = substr(case_json, 2) where run_key = ?", row["run_key"])
    bench.damaged_id = row["id"]
    return bench


@pytest.mark.parametrize("command", [["scaling", *CURVE], ["report", "last"], ["report", "last-sweep"], ["show", "last"], ["list"],
                                     ["history"], ["compare", "--by", "link"], ["db", "prune", "--state", "failed"]])
def test_one_unreadable_run_is_left_out_with_a_note(damaged, command):
    done = damaged.ok(*command)
    notes = [line for line in done.stderr.splitlines() if damaged.damaged_id in line]
    assert len(notes) == 1, done.stderr
    assert "left out" in notes[0] and str(damaged.db) in notes[0] and "run case" in notes[0], notes[0]
    assert damaged.damaged_id not in done.stdout


def test_export_takes_the_others(damaged, tmp_path):
    runs = damaged.rows("select count(*) from run")[0][0]
    done = damaged.ok("db", "export", tmp_path / "other.db", "--json")
    assert damaged.damaged_id in done.stderr
    assert len(json.loads(done.stdout)["added"]) == runs - 1
    assert "no problems" in damaged.ok("db", "check", "--db", tmp_path / "other.db").stdout


def test_asking_for_the_unreadable_run_is_an_error_and_prune_removes_it(damaged):
    done = damaged("show", damaged.damaged_id)
    assert done.returncode == 1 and damaged.damaged_id in done.stderr and "cannot be read" in done.stderr, done.stderr
    assert damaged("db", "check").returncode == 2
    part = damaged.damaged_id[-8:]
    assert "would delete 1 run(s)" in damaged.ok("db", "prune", part).stdout
    assert "deleted 1 run(s)" in damaged.ok("db", "prune", part, "--yes").stdout
    assert "no problems" in damaged.ok("db", "check").stdout
    assert damaged.ok("scaling", *CURVE).stderr == ""


def test_prune_takes_ids_and_other_criteria_narrow_them(damaged):
    ids = [row["id"] for row in damaged.rows("select id from run order by started_wall_ns")]
    assert json.loads(damaged.ok("db", "prune", *ids[:2], "--json").stdout)["runs"] == ids[:2]
    assert json.loads(damaged.ok("db", "prune", *ids[:2], "--state", "failed", "--json").stdout)["runs"] == []
    done = damaged("db", "prune", "20")
    assert done.returncode == 2 and "fits" in done.stderr
    done = damaged("db", "prune", "nonsense", "--yes")
    assert done.returncode == 2 and "nonsense" in done.stderr
    assert len(damaged.rows("select id from run")) == len(ids)


def test_a_changed_bit_is_found_and_named(bench):
    bench.ok("import", "table", FIXTURE)
    (row,) = bench.rows("select id, run_key from run limit 1")
    flipped = "(duration_ns | 1024) - (duration_ns & 1024)"
    bench.rows(f"update step set duration_ns = {flipped} where run_key = ?", row["run_key"])
    done = bench("db", "check")
    assert done.returncode == 2
    assert f"run {row['id']}: the row of table step with step 0, rank 0 is damaged" in done.stdout, done.stdout
