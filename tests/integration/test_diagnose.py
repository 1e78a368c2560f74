"""`ddbench diagnose`: faults that ranks inject into themselves are found in the stored run, and a healthy run has no culprit. The
campaign over many runs is in tests/faults/diagnose."""

import json

import pytest
from conftest import ROOT

RUN = ["run", "--nodes", 1, "--warmup", 5, "-O", "hidden=32", "--no-baseline", "--quiet"]


def diagnosed(bench):
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(bench.ok("diagnose", "--json").stdout)
    schema = json.loads((ROOT / "reports/schema/diagnosis.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(document)
    return document


def run(bench, inject, ranks=2, steps=80):
    bench.ok(*RUN, "--gpus", ranks, "--steps", steps, env=dict(bench.environment, DDBENCH_INJECT=inject))


def test_a_slow_operator_of_one_rank_is_named_with_its_onset(bench):
    run(bench, "paced=8ms,operator=12ms,rank=1,from=45")
    found = diagnosed(bench)
    assert found["cause"] == "slow_compute" and found["ranks"] == [1], found["verdict"]
    assert found["operator"] == "paced"
    assert abs(found["first_step"] - 45) <= 4
    assert found["explained"] >= 0.8 and found["cost_share"] >= 0.1
    assert found["evidence"] and all(e["rank"] == 1 and e["step"] >= 45 for e in found["evidence"])
    text = bench.ok("diagnose").stdout
    assert found["verdict"][:40] in bench.ok("show").stdout
    for form in ("html", "markdown"):
        written = bench.tmp / f"report.{form}"
        bench.ok("report", "last", "--format", form, "-o", written)
        assert found["verdict"].split(" (")[0] + " (node 0" in written.read_text()
    assert text.startswith("rank 1 (node 0") and "Next" in text
    assert '"injected":"paced=8ms' in json.dumps(json.loads(bench.ok("show", "--json").stdout), separators=(",", ":"))


def test_a_slow_loader_is_told_from_slow_compute(bench):
    run(bench, "paced=8ms,data=12ms,rank=0")
    found = diagnosed(bench)
    assert found["cause"] == "data_loading" and found["ranks"] == [0], found["verdict"]


def test_nothing_is_said_of_a_rank_alone_or_of_few_steps(bench):
    run(bench, "paced=1ms", ranks=1, steps=12)
    done = bench("diagnose")
    assert done.returncode == 4 and "single rank" in done.stdout
    run(bench, "paced=1ms", steps=5)
    done = bench("diagnose", "--json")
    assert done.returncode == 4 and json.loads(done.stdout)["cause"] is None
    assert bench("diagnose", "nobody").returncode == 2


def test_what_cannot_be_injected_is_refused(bench):
    done = bench(*RUN, "--gpus", 2, "--steps", 5, env=dict(bench.environment, DDBENCH_INJECT="speed=1ms"))
    assert done.returncode == 1 and "DDBENCH_INJECT" in done.stdout and "speed=1ms" in done.stdout
