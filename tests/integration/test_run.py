"""The main job: run, show, list."""

import json
import math
import os
import pathlib
import re

import jsonschema
import pytest
from conftest import HAS_BFLOAT16, ROOT, SMALL

SCHEMA = json.loads((ROOT / "reports/schema/run.schema.json").read_text())


@pytest.fixture
def result(bench):
    return bench.run_json("--nodes", 2, "--gpus", 2, "--name", "first", *SMALL)


def test_json_follows_its_schema_and_adds_up(bench, result):
    jsonschema.validate(result, SCHEMA)
    assert result["run"]["state"] == "done"
    assert result["run"]["world_size"] == 4
    assert result["run"]["nodes"] == 2 and result["run"]["gpus_per_node"] == 2
    assert result["loss"]["last"] < result["loss"]["first"]
    partition = result["partition_ns"]
    assert partition["compute"] > 0
    assert partition["exposed_transfer"] + partition["exposed_peer_wait"] == result["exposed_communication_ns"]
    within = result["communication_ns"] - result["overlap_ns"] - result["exposed_communication_ns"]
    assert 0 <= within <= result["cpu_wait_ns"] == partition["cpu_wait"], "run-queue delay of threads that communicate"
    assert result["dropped_spans"] == 0
    assert 0 < result["mfu"] == result["hfu"], "mlp computes nothing again"
    facts = result["environment"]["facts"]
    peak = 1e12 * float(facts["device.gemm_peak_tflops"])
    devices = min(4, int(facts["cpu.cores"]))  # ranks that share a core have no more of it
    assert result["mfu"] == pytest.approx(result["samples_per_s"] * float(facts["workload.flops_per_sample"]) / (devices * peak))
    assert math.isclose(result["samples_per_s"], 4 * 64 / result["step_time_ns"]["value"] * 1e9, rel_tol=1e-6)


def test_stored_partitions_sum_to_the_step_to_the_nanosecond(bench, result):
    columns = [row["name"] for row in bench.rows("pragma table_info(step)")]
    parts = [name for name in columns if name in (
        "forward_ns", "backward_ns", "optimizer_ns", "other_compute_ns", "cpu_wait_ns", "exposed_transfer_ns",
        "exposed_peer_wait_ns", "copy_ns", "data_wait_ns", "host_ns", "idle_ns")]
    assert len(parts) == 11, columns
    rows = bench.rows("select step.* from step join run using (run_key) where probes_on = 1 and id = ?", result["run"]["id"])
    assert len(rows) >= 4 * 8
    assert all(sum(row[part] for part in parts) == row["duration_ns"] for row in rows)


def test_waterfall_sums_to_the_lost_step_time(result):
    efficiency = result["efficiency"]
    assert efficiency["value"] > 0
    assert sum(result["waterfall_ns"].values()) == efficiency["lost_ns"]
    assert efficiency["lost_ns"] / result["step_time_ns"]["value"] == pytest.approx(1 - efficiency["value"], abs=1e-5)
    assert sum(result["partition_ns"].values()) == math.floor(result["step_time_ns"]["value"] + 0.5)


def test_collectives_are_the_gradient_buckets(result):
    # 784-64-10: 50,890 parameters fit into the first bucket.
    buckets = [c for c in result["collectives"] if c["function"] == "all_reduce"]
    assert [c["bytes"] for c in buckets] == [50890 * 4]
    assert buckets[0]["algbw"] > 0
    assert math.isclose(buckets[0]["busbw"], buckets[0]["algbw"] * 2 * 3 / 4, rel_tol=1e-9)


def test_provenance_says_what_this_machine_is(result):
    provenance = result["run"]["provenance"]
    assert "measured" in provenance
    assert "emulated-network" in provenance


def test_a_comparable_baseline_is_measured_once(bench, result):
    again = bench.run_json("--nodes", 2, "--gpus", 2, *SMALL)
    assert again["efficiency"]["baseline"] == result["efficiency"]["baseline"]
    other = bench.run_json("--nodes", 2, "--gpus", 1, "--batch-per-gpu", 8, *SMALL)
    assert other["efficiency"]["baseline"] != result["efficiency"]["baseline"]
    none = bench.run_json("--nodes", 1, "--gpus", 2, "--batch-per-gpu", 9, "--no-baseline", *SMALL)
    assert none["efficiency"]["value"] is None
    assert len(bench.rows("select 1 from run where is_baseline = 1")) == 2


def test_show_and_list_find_the_run(bench, result):
    shown = json.loads(bench.ok("show", "last", "--json").stdout)
    assert shown == result
    assert json.loads(bench.ok("show", "first", "--json").stdout) == result
    assert json.loads(bench.ok("show", result["run"]["id"][-8:], "--json").stdout) == result
    text = bench.ok("show").stdout
    assert "efficiency" in text and "all_reduce" in text
    assert "first" in bench.ok("list").stdout
    assert [r["name"] for r in json.loads(bench.ok("list", "--json", "--name", "first").stdout)] == ["first"]


def test_strong_scaling_keeps_the_global_batch(bench):
    result = bench.run_json("--nodes", 2, "--gpus", 1, "--global-batch", 96, *SMALL)
    assert result["run"]["batch_per_gpu"] == 48
    baseline = json.loads(bench.ok("show", result["efficiency"]["baseline"], "--json").stdout)
    assert baseline["run"]["batch_per_gpu"] == 96


def test_repetitions_share_a_table(bench):
    done = bench.ok("run", "--nodes", 1, "--gpus", 2, "--repeat", 3, "--no-baseline", *SMALL)
    assert len(bench.rows("select 1 from run where repetition in (0, 1, 2) and sweep_id like 'repeat-%'")) == 3
    assert "3" in done.stdout


def test_progress_goes_to_stderr_and_the_json_stays_clean(bench):
    done = bench.ok("run", "--nodes", 1, "--gpus", 4, "--no-baseline", "--steps", 8, "--json")
    json.loads(done.stdout)
    last = [line for line in done.stderr.splitlines() if re.search(r"step (\d+)/\1 ", line)]
    assert len(last) == 1, "four ranks end, and the last step is reported once"


def test_workloads_and_their_layers_are_listed_for_programs(bench):
    listed = {w["name"]: w for w in json.loads(bench.ok("list", "workloads", "--json").stdout)}
    assert listed["gpt2-124m"]["parameters"] == 124_439_808
    assert listed["resnet50"]["gradient_bytes"] == 4 * 25_557_032
    for workload in listed.values():
        layers = workload["layers"]
        assert workload["flops_per_sample"] == sum(l["forward_flops"] + l["backward_flops"] for l in layers)
        again = sum(l["recomputed_flops"] for l in layers)
        assert workload["hardware_flops_per_sample"] == workload["flops_per_sample"] + again
    text = bench.ok("list", "workloads").stdout
    assert all(name in text for name in listed)


def test_what_gpus_used_and_what_held_them_down_is_reported(bench):
    """Two GPUs of a driver's library for tests (tests/support/nvml_on_host): no kernel of this run's runs on them."""
    bench.environment["LD_LIBRARY_PATH"] = os.environ["DDBENCH_NVML_ON_HOST"]
    result = bench.run_json("--nodes", 1, "--gpus", 2, *SMALL)
    facts = result["environment"]["facts"]
    reported = {name.removeprefix("counted.gpu.0."): value for name, value in facts.items() if name.startswith("counted.gpu.0.")}
    assert (reported["power_w"], reported["sm_clock_mhz"], reported["utilisation"], reported["throttled"]) == ("300", "1200", "0.8", "power cap")
    assert reported["ecc_uncorrected"] == "0", "those of before the run are not its own"
    assert "counted.gpu.1.ecc_corrected" not in facts, "the second one does not report it"
    energy_j, a_sample_j = (float(facts[f"counted.gpu.{name}"]) for name in ("energy_j", "energy_j_per_sample"))
    samples = result["run"]["global_batch"] * (12 + 2)
    assert energy_j >= 60 and a_sample_j == pytest.approx(energy_j / samples, rel=1e-4)
    assert any("GPU 0 was throttled in 100% of the samples (power cap): its clock fell to 1200 MHz" in note
               for note in result["notes"])


def test_bf16_on_a_cpu_without_it_is_an_error_that_says_so(bench):
    bench.environment["DNNL_MAX_CPU_ISA"] = "AVX2"
    done = bench("run", "--workload", "gpt2-nano", "--precision", "bf16", "--gpus", 1, "--no-baseline")
    assert done.returncode == 1
    assert "which lacks AVX512: use --precision fp32" in " ".join(done.stdout.split())


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("workload, options", [
    ("resnet18", ["image=32", "width=8"]),
    ("gpt2-nano", ["layers=2", "hidden=64", "sequence=32"]),
    ("bert-base", ["layers=2", "hidden=64", "heads=4", "sequence=32", "vocabulary=100"]),
])
def test_every_kind_of_workload_trains_on_two_ranks(bench, workload, options, precision):
    if precision == "bf16" and not HAS_BFLOAT16:
        pytest.skip("this CPU lacks AVX512")
    options = [word for option in options for word in ("-O", option)]
    result = bench.run_json("--workload", workload, *options, "--precision", precision, "--gpus", 2, "--steps", 8,
                            "--warmup", 2, "--batch-per-gpu", 8, "--lr", 0.003, "--no-baseline", "--quiet")
    assert result["run"]["state"] == "done"
    assert 0 < result["loss"]["last"] < 1.1 * result["loss"]["first"]
    hashes = bench.rows("select distinct parameter_hash from rank")
    assert len(hashes) == 1, "the ranks' parameters have parted"
