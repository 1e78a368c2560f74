"""What `ddbench predict` and `advise` say of a recorded run: how near to the run, and to a link's arithmetic."""

import json

import pytest
from attempts import up_to_three_attempts


def recorded(bench):
    bench.ok("run", "--workload", "mlp", "--nodes", "1", "--gpus", "2", "--bucket-mb", "1", "--steps", "24",
             "--no-baseline", "--quiet", "--name", "profile")


def predicted(bench, *arguments):
    return json.loads(bench.ok("predict", "profile", *arguments, "--json").stdout)


@up_to_three_attempts
def test_a_replay_of_the_run_itself_takes_as_long(bench):
    recorded(bench)
    assert predicted(bench)["replay_over_recorded"] == pytest.approx(1, abs=0.2)


@up_to_three_attempts
def test_a_slow_link_takes_what_its_bytes_take(bench):
    recorded(bench)

    def rate(*arguments):
        (prediction,) = predicted(bench, "--nodes", "2", "--gpus", "1", *arguments)["predictions"]
        return prediction["samples_per_s"]["value"]

    slow, fast = (rate("--link", link) for link in ("10mbit,50us", "100mbit,50us"))
    assert fast == pytest.approx(10 * slow, rel=0.15)  # 2.7 MB a step: 2.3 s and 0.23 s
    assert rate("--link", "10mbit,50us", "-S", "hook=fp16") == pytest.approx(2 * slow, rel=0.05)


@up_to_three_attempts
def test_show_and_reports_say_what_to_change_first(bench):
    recorded(bench)
    advice = json.loads(bench.ok("advise", "profile", "--json").stdout)["advice"]
    assert advice, "twice the batch gains on this model"
    for text in (bench.ok("show", "profile").stdout, bench.ok("report", "profile", "--format", "markdown").stdout,
                 bench.ok("report", "profile", "--format", "html").stdout):
        assert "What to change first" in text and advice[0]["change"] in text
