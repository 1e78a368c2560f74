"""`ddbench batch`: training to a target loss by batch, from stored runs of a known law, and from training itself."""

import math

import pytest
from test_analysis import checked, refused, write

FEWEST_STEPS, CRITICAL = 200, 512
SPREAD = (0.98, 1.0, 1.02)


def steps_at(batch, factor=1.0):
    return round(FEWEST_STEPS * (1 + CRITICAL / batch) * factor)


@pytest.fixture
def trained(bench, tmp_path):
    """Batches on one GPU and on several, three seeds each, whose smoothed losses come down to 0.25 after so many steps."""
    cases = [(gpus, per_gpu, seed) for gpus, per_gpu in [(1, 32), (1, 128), (1, 512), (1, 2048), (2, 512), (4, 512)]
             for seed in (1, 2, 3)]
    rows = "".join(f"{gpus},{per_gpu},{seed},0.25,p4d.24xlarge,10\n" for gpus, per_gpu, seed in cases)
    bench.ok("import", "table", write(tmp_path / "t.csv", "gpus,batch_per_gpu,seed,target_loss,sku,step_time_ms\n" + rows))
    for run in bench.rows("select run_key, world_size * batch_per_gpu as batch, json_extract(case_json, '$.seed') as seed from run"):
        # The smoothed loss is a mean over 2,048 samples: it is half of that window behind.
        delay = (math.ceil(2048 / run["batch"]) - 1) / 2
        last = round(steps_at(run["batch"], SPREAD[run["seed"] - 1]) + delay) - 1
        for step, loss in ((0, 2.3), (last - 1, 0.2501), (last, 0.25), (last + 1, 0.4)):
            bench.rows("insert into step_value (run_key, rank, name, step, value) values (?, 0, 'smoothed_loss', ?, ?)", run["run_key"], step, loss)
    return bench


def test_the_critical_batch_is_found(trained):
    analysis = checked(trained.ok("batch", "--where", "workload=unnamed", "--json"), "batch")
    (curve,) = analysis["curves"]
    assert analysis["target_loss"] == 0.25
    assert [(row["world_size"], row["global_batch"]) for row in curve["rows"]] == [
        (1, 32), (1, 128), (1, 512), (1, 2048), (2, 1024), (4, 2048)]
    assert curve["rows"][0]["run_steps"] == [pytest.approx(steps_at(32, factor), abs=0.5) for factor in SPREAD]
    assert curve["rows"][0]["time_s"] == pytest.approx(steps_at(32) * 0.01, rel=0.01)
    critical = curve["critical_batch"]["batch"]
    assert critical["ci_low"] < CRITICAL < critical["ci_high"]
    assert critical["value"] == pytest.approx(CRITICAL, rel=0.1)
    assert {m["name"]: m["value"] for m in (curve["critical_batch"]["fewest_steps"],)} == {
        "fewest steps": pytest.approx(FEWEST_STEPS, rel=0.05)}
    # 512 -> 1024 on twice the GPUs: 2/1.5 - 1 = 0.33 of a GPU's worth, below half.
    assert curve["rows"][4]["return_of_added"] == pytest.approx(1 / 3, abs=0.01)
    assert curve["pays_up_to"] is None and "half of their share" in curve["missing"]["pays_up_to"]


def test_costs_come_from_the_catalogue_or_the_user(trained):
    rows = checked(trained.ok("batch", "--where", "workload=unnamed", "--price", "p4d.24xlarge=36", "--json"), "batch")["curves"][0]["rows"]
    assert rows[0]["usd"] == pytest.approx(36 / 3600 * rows[0]["time_s"])


def test_the_text_says_what_was_found(trained):
    text = trained.ok("batch", "--where", "workload=unnamed").stdout
    for part in ("Training to a loss of 0.25", "B_crit", "S_min", "more GPUs:"):
        assert part in text


def test_the_newest_sweep_over_batches_is_found_and_named(bench, tmp_path):
    for name, target in (("batches", 0.25), ("sizes", 0)):
        rows = "".join(f"{gpus},64,{target},10,{name}\n" for gpus in (1, 2))
        bench.ok("import", "table", write(tmp_path / f"{name}.csv", "gpus,batch_per_gpu,target_loss,step_time_ms,name\n" + rows))
    (sweep,) = bench.rows("select distinct sweep_id from run where name = 'batches'")
    # Without losses there is nothing to analyse, but the chosen runs are those with a target.
    for run in bench.rows("select run_key from run where name = 'batches'"):
        for step, loss in ((0, 2.3), (99, 0.25)):
            bench.rows("insert into step_value (run_key, rank, name, step, value) values (?, 0, 'smoothed_loss', ?, ?)", run["run_key"], step, loss)
    found = bench.ok("batch").stdout
    assert "Training to a loss of 0.25" in found
    assert f"sweep {sweep['sweep_id'].removeprefix('sweep-')}" in found
    assert sweep["sweep_id"].removeprefix("sweep-") not in bench.ok("batch", "--where", "name=batches").stdout


def test_missed_targets_and_few_batches_have_words(trained):
    trained.rows("delete from step_value where value <= 0.25 and run_key in (select run_key from run where batch_per_gpu > 32)")
    curve = checked(trained.ok("batch", "--where", "workload=unnamed", "--json"), "batch")["curves"][0]
    assert [row["missed"] for row in curve["rows"]] == [0, 3, 3, 3, 3, 3]
    assert curve["critical_batch"] is None and "3 or more" in curve["missing"]["critical_batch"]
    assert curve["rows"][1]["missing"]["steps"] == "no run reached the target"


@pytest.mark.parametrize("arguments,parts", [
    (["--where", "workload=gpt"], ["no run", "workload=gpt"]),
    (["--sweep", "nowhere"], ["nowhere"]),
    (["--price", "p4d=cheap"], ["p4d=cheap"]),
    (["--skus", "/nowhere/skus.toml"], ["/nowhere/skus.toml"]),
])
def test_impossible_questions(trained, arguments, parts):
    refused(trained("batch", *arguments), *parts)


def test_runs_that_cannot_be_compared(trained):
    trained.rows("update run set case_json = json_set(case_json, '$.target_loss', 0.5) where batch_per_gpu = 32")
    refused(trained("batch", "--where", "workload=unnamed"), "0.25, 0.5", "--where target_loss")
    trained.rows("update run set case_json = json_set(case_json, '$.target_loss', 0)")
    refused(trained("batch", "--where", "workload=unnamed"), "--target-loss")


LEARNABLE = ["-O", "hidden=32", "--momentum", "0", "--target-loss", "0.2", "--warmup", "0", "--quiet", "--json"]


def batch_of_twice_the_fewest_steps(best):
    """Where the best number of steps, by batch, crosses twice the smallest: the definition, without a law."""
    wanted = 2 * min(best.values())
    batches = sorted(best)
    for smaller, larger in zip(batches, batches[1:]):
        if best[smaller] >= wanted >= best[larger]:
            share = math.log(best[smaller] / wanted) / math.log(best[smaller] / best[larger])
            return smaller * (larger / smaller) ** share
    raise AssertionError(f"{best} does not cross {wanted}")


def test_a_batch_sweep_finds_what_an_exhaustive_search_finds(bench):
    bench.ok("sweep", "--global-batch", "32,128,512,2048", "--lr", "0.2", "--lr-rule", "linear", "--base-batch", "128",
             "--seed", "1,2", "--steps", "2000", "--name", "sweep", *LEARNABLE)
    (curve,) = checked(bench.ok("batch", "--where", "name=sweep", "--json"), "batch")["curves"]
    assert [row["missed"] for row in curve["rows"]] == [0, 0, 0, 0]
    found = curve["critical_batch"]["batch"]
    assert found["ci_low"] < found["value"] < found["ci_high"]

    done = bench("sweep", "--global-batch", "128,256,512,1024,2048,8192", "--lr", "0.2,0.4,0.8,1.6,3.2", "--steps", "250", "--name",
                 "search", *LEARNABLE)
    assert done.returncode in (0, 1), done.stderr  # the largest rates diverge
    (search,) = checked(bench.ok("batch", "--where", "name=search", "--json"), "batch")["curves"]
    searched = batch_of_twice_the_fewest_steps({row["global_batch"]: row["steps"] for row in search["rows"]})
    assert searched / 2 < found["value"] < searched * 2

    bench.ok("sweep", "--gpus", "2", "--global-batch", "1024", "--lr", "0.05", "--steps", "1000", "--name", "noise", *LEARNABLE)
    (noise,) = checked(bench.ok("batch", "--where", "name=noise", "--json"), "batch")["curves"]
    scale = noise["rows"][0]["noise_scale"]
    assert searched / 10 < scale["ci_low"] < scale["samples"] < scale["ci_high"] < searched * 10
