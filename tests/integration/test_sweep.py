"""Sweeps: a matrix under one id, a table at the end, resumed where they stopped."""

import json
import signal

import jsonschema
from conftest import ROOT, SMALL, wait_until

SCHEMA = json.loads((ROOT / "reports/schema/scaling.schema.json").read_text())


def test_matrix_and_table(bench):
    done = bench.ok("sweep", "--json", "--nodes", "1,2", "--gpus", "1,2", *SMALL)
    table = json.loads(done.stdout)
    jsonschema.validate(table, SCHEMA)
    assert [row["world_size"] for row in table["rows"]] == [1, 2, 2, 4]
    assert table["rows"][0]["efficiency"] == 1
    assert all(row["efficiency"] > 0 for row in table["rows"])
    assert len(bench.rows("select distinct sweep_id from run")) == 1
    assert len(bench.rows("select 1 from run")) == 4
    picture = bench.tmp / "speedup.svg"
    bench.ok("scaling", "--svg", picture)
    assert picture.read_text().startswith("<svg") and "Speedup over GPUs" in picture.read_text()


def test_strong_sweep_and_text(bench):
    text = bench.ok("sweep", "--nodes", "1,2", "--global-batch", 64, *SMALL).stdout
    assert "Strong scaling" in text and "efficiency" in text
    assert sorted(r[0] for r in bench.rows("select batch_per_gpu from run")) == [32, 64]


def test_any_field_is_varied_and_named(bench):
    arguments = ["sweep", "--gpus", "1,2", "--strategy", "ddp,zero1", "--accumulate", "1,2", *SMALL]
    table = json.loads(bench.ok(*arguments, "--json").stdout)
    jsonschema.validate(table, SCHEMA)
    assert [row["world_size"] for row in table["rows"]] == [1] * 4 + [2] * 4
    variants = [f"accumulate={n} strategy={s}" for s in ("ddp", "zero1") for n in (1, 2)]
    assert [row["variant"] for row in table["rows"]] == variants * 2
    # Each row is stated against the same case on one GPU.
    assert [row["efficiency"] for row in table["rows"][:4]] == [1] * 4
    text = bench.ok(*arguments).stdout
    for number, variant in enumerate(variants, 1):
        assert f"case {number}: {variant}" in text


def test_a_sweep_refuses_what_no_run_can_be(bench):
    for option, value in (("--strategy", "ddp,nonsense"), ("--optimizer", "sgd,"), ("--lr", "0.1,fast"), ("--accumulate", "3"),
                          ("--lr-rule", "cubic"), ("--global-batch", "64,65"), ("--link", "1gbit,slow")):
        done = bench("sweep", "--nodes", "2", option, value)
        assert done.returncode == 2 and done.stdout == "", (option, value, done.stderr)
        assert not bench.db.exists()


def test_a_sweep_that_was_cut_short_is_resumed(bench):
    arguments = ["sweep", "--nodes", "1,2", "--gpus", "1,2", "--steps", 40, "--warmup", 2, "-O", "hidden=256,256",
                 "--repeat", 2, "--json"]
    process = bench.start(*arguments)
    wait_until(lambda: bench.db.exists() and len(finished(bench)) >= 2, 60, "two runs of the sweep are done")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    before = {row["id"] for row in finished(bench)}
    assert 2 <= len(before) < 8
    resumed = bench.ok(*arguments)
    assert "resuming" in resumed.stderr
    assert len(finished(bench)) == 8
    assert before <= {row["id"] for row in finished(bench)}
    assert len(bench.rows("select distinct sweep_id from run")) == 1
    rows = json.loads(resumed.stdout)["rows"]
    assert [row["repetitions"] for row in rows] == [2, 2, 2, 2]


def finished(bench):
    try:
        return bench.rows("select id from run where state = 'done'")
    except Exception:  # the store is being created
        return []
