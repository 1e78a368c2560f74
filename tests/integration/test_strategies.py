"""Strategies through the real launcher: the same training. Their bytes on the wire are counted in tests/calibration."""

import json

import pytest
from conftest import SMALL

STRATEGIES = [["ddp"], ["ddp", "-S", "hook=fp16"], ["zero1"], ["zero2"], ["zero3"], ["horovod"], ["mirrored"],
              ["ps", "-S", "servers=2"]]


def mean_losses(bench, run_id):
    rows = bench.rows("select step, avg(value) from step_value join run using (run_key) "
                      "where id = ? and step_value.name = 'loss' group by step order by step", run_id)
    return [row[1] for row in rows]


def run(bench, *arguments):
    return bench.run_json("--no-baseline", "--quiet", *arguments)["run"]["id"]


def test_all_strategies_train_alike(bench):
    case = ["--global-batch", 48, "--steps", 30, "--warmup", 0, "-O", "hidden=96,64"]
    sizes = {"horovod": ["-S", "fusion_mb=0.1"], "mirrored": ["-S", "pack_mb=0.1"]}
    alone = mean_losses(bench, run(bench, *case))
    assert alone[-1] < 0.95 * alone[0]
    for strategy in STRATEGIES:
        size = sizes.get(strategy[0], ["--bucket-mb", 0.1])
        run_id = run(bench, *case, "--gpus", 2, "--strategy", *strategy, *size, "--accumulate", 2)
        tolerance = 5e-3 if "hook=fp16" in strategy else 3e-4
        assert mean_losses(bench, run_id) == pytest.approx(alone, rel=tolerance), strategy
        hashes = bench.rows("select distinct parameter_hash from rank join run using (run_key) where id = ?", run_id)
        assert len(hashes) == 1, strategy


def test_target_loss_ends_the_run(bench):
    result = bench.run_json("--gpus", 2, "--global-batch", 64, "--steps", 3000, "--lr", 0.1, "--target-loss", 1.0,
                            "-O", "hidden=64", "--no-baseline", "--quiet")
    assert result["run"]["state"] == "done"
    rows = bench.rows("select step, value from step_value where name = 'smoothed_loss' order by step")
    assert rows[-1]["value"] <= 1.0 < rows[-2]["value"]
    assert rows[-1]["step"] < 3000


def test_sharded_state_takes_less_memory(bench):
    peak = {}
    for strategy in ("ddp", "zero1"):
        result = bench.run_json("--gpus", 2, "--strategy", strategy, "--optimizer", "adamw", "--lr", 0.001,
                                "-O", "hidden=2048,2048", "--steps", 4, "--batch-per-gpu", 2, "--no-baseline", "--quiet")
        rows = bench.rows("select max(peak_memory_bytes) from rank join run using (run_key) where id = ?",
                          result["run"]["id"])
        peak[strategy] = rows[0][0]
    parameters = 4 * (784 * 2048 + 2048 + 2048 * 2048 + 2048 + 2048 * 10 + 10)
    # Two ranks: each keeps half of Adam's two moments.
    assert peak["ddp"] - peak["zero1"] == pytest.approx(parameters, rel=0.25)


MISTAKES = [(["--strategy", "fsdp"], ["fsdp", "zero2"]),
            (["--strategy", "ps", "-S", "servers=3", "--gpus", "2"], ["servers", "3", "1 to 2"]),
            (["--strategy", "ddp", "-S", "hook=fp4"], ["hook", "fp4", "bf16"]),
            (["--strategy", "zero1", "-S", "hook=fp16"], ["zero1", "hook"]),
            (["--strategy", "zero2", "--optimizer", "lamb"], ["zero2", "lamb"]),
            (["--strategy", "horovod", "-S", "cycle_ms"], ["cycle_ms", "key=value"]),
            (["--optimizer", "adam"], ["adam", "adamw"]),
            (["--lr-rule", "cubic"], ["lr-rule", "cubic"]),
            (["--lr-rule", "linear"], ["base-batch"]),
            (["--accumulate", "5"], ["accumulate", "5", "64"]),
            (["--target-loss", "-1"], ["target-loss"])]


@pytest.mark.parametrize("arguments, words", MISTAKES, ids=[" ".join(a) for a, _ in MISTAKES])
def test_mistake_is_explained(bench, arguments, words):
    done = bench("run", *arguments, *SMALL)
    assert done.returncode == 2, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert not bench.db.exists()


def test_strategies_are_listed(bench):
    listed = json.loads(bench.ok("list", "strategies", "--json").stdout)
    assert [s["name"] for s in listed] == ["ddp", "zero1", "zero2", "zero3", "horovod", "mirrored", "ps"]
    assert "hook=none" in bench.ok("list", "strategies").stdout
