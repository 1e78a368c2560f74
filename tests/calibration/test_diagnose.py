"""`ddbench diagnose` against faults that ranks inject into themselves. The campaign over many runs is in tests/faults/diagnose."""

import json

import pytest
from attempts import up_to_three_attempts


def diagnosed(bench, inject, ranks=2):
    bench.ok("run", "--nodes", 1, "--gpus", ranks, "--steps", 80, "--warmup", 5, "-O", "hidden=32", "--no-baseline", "--quiet",
             env=dict(bench.environment, DDBENCH_INJECT=inject))
    return json.loads(bench.ok("diagnose", "--json").stdout)


@up_to_three_attempts
def test_a_slow_operator_of_one_rank_is_named_with_its_onset(bench):
    found = diagnosed(bench, "paced=8ms,operator=12ms,rank=1,from=45")
    assert found["cause"] == "slow_compute" and found["ranks"] == [1], found["verdict"]
    assert found["operator"] == "paced"
    assert abs(found["first_step"] - 45) <= 4
    assert found["explained"] >= 0.8 and found["cost_share"] >= 0.1
    assert found["evidence"] and all(e["rank"] == 1 and e["step"] >= 45 for e in found["evidence"])
    text = bench.ok("diagnose").stdout
    assert text.startswith("rank 1 (node 0") and "Next" in text


@pytest.mark.parametrize("inject, cause, victims", [
    ("paced=8ms,data=12ms,rank=2", "data_loading", [2]),
    ("paced=10ms,moving=15ms", "moving_imbalance", []),
])
@up_to_three_attempts
def test_other_causes_are_distinguished(bench, inject, cause, victims):
    found = diagnosed(bench, inject, ranks=3 if victims else 2)
    assert found["cause"] == cause and found["ranks"] == victims, found["verdict"]


@up_to_three_attempts
def test_a_slow_link_of_one_node_is_named(bench):
    bench.ok("run", "--nodes", 3, "--gpus", 1, "--steps", 80, "--warmup", 5, "-O", "hidden=192", "--no-baseline", "--quiet", "--link", "400mbit",
             env=dict(bench.environment, DDBENCH_INJECT="paced=5ms,link=120mbit,node=2"))
    found = json.loads(bench.ok("diagnose", "--json").stdout)
    assert found["cause"] == "slow_link" and found["nodes"] == [2], found["verdict"]
    # The shaped rate itself. The others have 400 mbit and a bucket that fills while they wait for node 2: they may be faster.
    link = found["link"]
    assert link["gb_per_s"] == pytest.approx(120e6 / 8 / 1e9, rel=0.1)
    assert link["others_gb_per_s"] >= 0.9 * 400e6 / 8 / 1e9
    assert link["ratio"] == pytest.approx(link["gb_per_s"] / link["others_gb_per_s"]) and link["ratio"] <= 0.42


@up_to_three_attempts
def test_an_operator_that_is_slow_everywhere_is_named_with_its_onset(bench):
    found = diagnosed(bench, "paced=8ms,everywhere=6ms,from=45")
    assert found["cause"] == "slow_operator" and found["operator"] == "paced", found["verdict"]
    assert abs(found["first_step"] - 45) <= 4
    healthy = json.loads(bench.ok("show", "--json").stdout)["run"]["id"]
    diagnosed(bench, "paced=16ms")
    found = json.loads(bench.ok("diagnose", "--reference", healthy, "--json").stdout)
    assert found["cause"] == "slow_operator" and found["reference"] == healthy, found["verdict"]


@up_to_three_attempts
def test_nobody_is_accused_in_a_healthy_run(bench):
    found = diagnosed(bench, "paced=10ms")
    assert not found["accused"], found["verdict"]
