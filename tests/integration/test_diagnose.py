"""`ddbench diagnose`: what it prints and refuses. Whether it is right is judged in tests/calibration and tests/faults/diagnose."""

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


def test_the_verdict_is_one_sentence_everywhere(bench):
    """Whatever it is on a busy machine; tests/calibration judges it."""
    run(bench, "paced=8ms,operator=12ms,rank=1,from=45")
    found = diagnosed(bench)
    sentence = found["verdict"].split(" (")[0]
    assert " ".join(bench.ok("diagnose").stdout.split()).startswith(sentence)
    assert sentence in " ".join(bench.ok("show").stdout.split())
    for form in ("html", "markdown"):
        written = bench.tmp / f"report.{form}"
        bench.ok("report", "last", "--format", form, "-o", written)
        assert sentence.casefold() in written.read_text().casefold(), "a paragraph begins with a capital letter"
    assert '"injected":"paced=8ms' in json.dumps(json.loads(bench.ok("show", "--json").stdout), separators=(",", ":"))


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
    assert done.returncode == 2 and "DDBENCH_INJECT" in done.stderr and "speed=1ms" in done.stderr
    for command in (["run", "--gpus", 2], ["sweep", "--gpus", "1,2"]):
        done = bench(*command, "--steps", 5, "--quiet", env=dict(bench.environment, DDBENCH_INJECT="paced=1ms,operator=1ms,rank=2"))
        assert done.returncode == 2 and "there is no rank 2: the last one is rank 1" in done.stderr, done.stderr
    assert not bench.db.exists()


def test_connections_between_nodes_are_counted_and_a_reference_must_be_of_the_same_case(bench):
    """That a slow link is found is judged by calibration and by the campaign."""
    run(bench, "paced=1ms", steps=20)
    bench.ok("run", "--nodes", 2, "--gpus", 1, "--warmup", 5, "--steps", 24, "-O", "hidden=64", "--no-baseline", "--quiet", "--name", "two")
    counted = bench.rows("select rank, name, max(value) from step_value where name like 'link.%.sent_bytes' group by 1, 2")
    assert {rank for rank, _, _ in counted} == {0, 1}
    assert all(sent > 100_000 for _, _, sent in counted)
    document = diagnosed(bench)
    assert document["link"] is None and document["reference"] is None
    refused = bench("diagnose", "two", "--reference", "two", "--json")
    assert refused.returncode == 0
    bench.ok("run", "--nodes", 1, "--gpus", 2, "--warmup", 5, "--steps", 20, "-O", "hidden=48", "--no-baseline", "--quiet")
    refused = bench("diagnose", "last", "--reference", "two")
    assert refused.returncode == 2 and "hidden" in refused.stderr


def test_a_link_that_cannot_be_injected_is_refused(bench):
    for inject in ("link=10mbit,node=1", "link=fast,node=0"):
        done = bench(*RUN, "--gpus", 2, "--steps", 5, env=dict(bench.environment, DDBENCH_INJECT=inject))
        assert done.returncode == 2 and "DDBENCH_INJECT" in done.stderr or "link" in done.stderr, done.stderr
