"""`--device cuda` from end to end without a GPU: its modules, compiled for the host (tests/support/cuda_on_host). What they
compute is what a GPU would compute; no time of theirs means anything."""

import os
import signal
import time

import pytest

MODULES = os.environ.get("DDBENCH_CUDA_ON_HOST", "")
pytestmark = pytest.mark.skipif(not os.path.isdir(MODULES), reason="CUDA's headers or Boost.Context are not installed")

TRAINING = ["--device", "cuda", "--no-baseline", "--share-gpus", "--batch-per-gpu", 16, "-O", "hidden=48,32",
            "--data-workers", 1]
SHORT = [*TRAINING, "--steps", 14]
# The largest difference of a step's loss, relative: as in tests/device/training_parity.py, but for fewer steps.
TOLERANCE = {"fp32": 1e-4, "bf16": 4e-2, "fp16": 1e-2}


@pytest.fixture
def cuda_modules(bench):
    bench.environment["DDBENCH_MODULE_DIR"] = MODULES


@pytest.fixture
def cuda(bench, cuda_modules):
    def run(*options):
        return bench.run_json(*SHORT, *options)["run"]["id"]

    return run


def losses(bench, run):
    """Mean over ranks, by step."""
    rows = bench.rows("""select avg(value) from step_value join run using (run_key) where id = ? and step_value.name = 'loss'
                         group by step order by step""", run)
    return [value for value, in rows]


def fact(bench, run, name):
    (value,), = bench.rows("select json_extract(facts_json, ?) from run where id = ?", f'$."{name}"', run)
    return value


@pytest.mark.parametrize("precision", TOLERANCE)
def test_losses_are_those_of_the_cpu(bench, cuda, precision):
    options = ["--loss-scale", 1024] if precision == "fp16" else []  # a dynamic one would skip the first steps
    on_cpu = ["cpu" if option == "cuda" else option for option in SHORT]
    reference = losses(bench, bench.run_json(*on_cpu, "--precision", "fp32" if precision == "fp16" else precision)["run"]["id"])
    assert len(reference) == 19 and reference[-1] < reference[0]
    assert losses(bench, cuda("--precision", precision, *options)) == pytest.approx(reference, rel=TOLERANCE[precision])


def test_two_ranks_train_with_a_graph_as_without(bench, cuda):
    graph, none = cuda("--gpus", 2), cuda("--gpus", 2, "--cuda-graph", "off")
    assert fact(bench, graph, "training.cuda_graph") == "captured from step 4"
    assert fact(bench, none, "training.cuda_graph") != fact(bench, graph, "training.cuda_graph")
    assert losses(bench, graph) == losses(bench, none)
    (hashes,) = {tuple(h for h, in bench.rows("""select parameter_hash from rank join run using (run_key) where id = ?
                                                 order by rank""", run)) for run in (graph, none)}
    assert len(hashes) == 2 and len(set(hashes)) == 1


def test_every_step_is_partitioned_and_every_all_reduce_is_seen(bench, cuda_modules):
    run = bench.run_json(*SHORT, "--gpus", 2)
    parts = [r[1] for r in bench.rows("pragma table_info(step)") if r[1].endswith("_ns") and r[1] not in
             {"begin_ns", "duration_ns", "communication_ns", "overlap_ns", "peer_wait_ns"}]
    rows = bench.rows(f"select duration_ns, {' + '.join(parts)} from step where probes_on")
    assert len(rows) == 2 * (19 - 3) and all(duration == total for duration, total in rows)
    # 784 x 48, 48 x 32 and 32 x 10 with their biases, each once.
    assert sum(c["bytes"] for c in run["collectives"]) == 4 * (785 * 48 + 49 * 32 + 33 * 10)
    assert run["run"]["valid"] and "NCCL" in run["environment"]["facts"]["transport"]


def test_a_killed_rank_ends_the_run_and_is_named(bench, cuda_modules):
    process = bench.start("run", *TRAINING, "--steps", 100000, "--gpus", 2)
    bench.wait_for_step(process, 8, 2)
    os.kill(bench.workers()[1], signal.SIGKILL)
    began = time.monotonic()
    process.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert process.returncode == 1
    assert "rank 1" in bench.rows("select reason from run")[0]["reason"]
