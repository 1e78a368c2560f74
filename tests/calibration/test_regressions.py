"""The gate on real runs of known differences."""

import json

from attempts import up_to_three_attempts

CASE = "--nodes 2 --gpus 1 --steps 16 --warmup 3 -O hidden=256"


def gate(bench, *arguments, expected):
    done = bench("gate", "--json", "--run", *arguments)
    assert done.returncode in expected, done.stdout + done.stderr
    return json.loads(done.stdout)


@up_to_three_attempts
def test_equal_sides_are_no_regression(bench):
    gate(bench, CASE, CASE, "--pairs", 5, "--threshold", "60%", expected=(0, 4))


@up_to_three_attempts
def test_a_slow_link_is_a_regression_that_is_explained(bench):
    verdict = gate(bench, CASE + " --link 1gbit", CASE + " --link 60mbit", "--pairs", 4, "--metric", "step_time,exposed,busbw",
                   "--repeat-on-fail", 1, expected=(3,))
    by_metric = {metric["metric"]: metric for metric in verdict["metrics"]}
    assert by_metric["step_time"]["outcome"] == "regression"
    assert by_metric["step_time"]["estimate"]["change"] > 0.5
    assert by_metric["busbw"]["outcome"] == "regression"
    assert by_metric["busbw"]["estimate"]["ratio"] < 0.5
    assert "exposed transfer" in verdict["explanation"][0]
    assert any("bucket 0 of all_reduce" in sentence for sentence in verdict["explanation"])
