"""`--device cuda` from end to end without a GPU: its modules, compiled for the host (tests/support/cuda_on_host). What they
compute is what a GPU would compute; no time of theirs means anything."""

import json
import os
import signal
import subprocess

import pytest
from conftest import HAS_BFLOAT16

MODULES = os.environ.get("DDBENCH_CUDA_ON_HOST", "")
pytestmark = [pytest.mark.skipif(not os.path.isdir(MODULES), reason="CUDA's headers or Boost.Context are not installed"),
              pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="CUPTI would record a GPU that does nothing: tests/device asks it")]

TRAINING = ["--no-baseline", "--share-gpus", "--batch-per-gpu", 16, "-O", "hidden=48,32", "--data-workers", 1]
# The largest difference of a step's loss in 50 steps, relative; of 16 bits, their rounding. At greater learning rates units die at other
# steps.
TOLERANCE = {"fp32": 1e-5, "tf32": 1e-5, "bf16": 2e-3, "fp16": 1e-3}
BF16_AGAINST_FP32 = 2e-2


@pytest.fixture
def cuda(bench):
    """Runs on CUDA and gives what the run's JSON says."""
    bench.environment["DDBENCH_MODULE_DIR"] = MODULES
    bench.environment["DDBENCH_NCCL_KERNEL_EVENTS"] = "1"  # whatever the size of /dev/shm
    return lambda *options: bench.run_json("--device", "cuda", *TRAINING, *options)


def values(bench, run, name="loss"):
    """Mean over ranks, by step."""
    rows = bench.rows("""select avg(value) from step_value join run using (run_key) where id = ? and step_value.name = ?
                         group by step order by step""", run["run"]["id"], name)
    return [value for value, in rows]


@pytest.mark.parametrize("precision", TOLERANCE)
def test_losses_are_those_of_the_cpu(bench, cuda, precision):
    fifty = ["--steps", 45, "--lr", 0.01]
    of_cpu = precision if precision == "bf16" and HAS_BFLOAT16 else "fp32"  # it has neither of the others
    tolerance = TOLERANCE[precision] if of_cpu == precision or precision != "bf16" else BF16_AGAINST_FP32
    reference = values(bench, bench.run_json("--device", "cpu", *TRAINING, *fifty, "--precision", of_cpu))
    assert len(reference) == 50 and reference[-1] < reference[0]
    assert values(bench, cuda(*fifty, "--precision", precision)) == pytest.approx(reference, rel=tolerance)


def test_gradients_of_images_lie_behind_a_bias_of_any_length(bench, cuda):
    """Ten classes: the gradients of convolutions begin at no multiple of 16 bytes, where engines of cuDNN fail."""
    options = ["--workload", "resnet18", "-O", "image=32", "-O", "width=8", "--batch-per-gpu", 2, "--steps", 2, "--warmup", 1, "--lr", 0.01]
    shared = ["--no-baseline", "--data-workers", 1]
    reference = values(bench, bench.run_json("--device", "cpu", *shared, *options))
    assert values(bench, bench.run_json("--device", "cuda", *shared, *options)) == pytest.approx(reference, rel=1e-3)


def test_an_overflow_of_fp16_on_one_rank_updates_nothing_on_any(bench, cuda):
    """At this loss scale some gradients are larger than the largest number of fp16."""
    def skipped_and_hashes(*options):
        run = cuda("--gpus", 2, "--precision", "fp16", *options)
        ranks = bench.rows("select parameter_hash from rank join run using (run_key) where id = ?", run["run"]["id"])
        return int(run["environment"]["facts"].get("training.skipped_updates", 0)), [row["parameter_hash"] for row in ranks]

    never, (first, second) = skipped_and_hashes("--steps", 9, "--loss-scale", 2**26)
    assert never == 5 + 9 and first == second
    assert skipped_and_hashes("--steps", 3, "--loss-scale", 2**26)[1] == [first, first], "they stay what they were"
    always, (third, fourth) = skipped_and_hashes("--steps", 9)
    assert always == 0 and third == fourth != first


@pytest.mark.parametrize("strategy", ["ddp", "zero2"])
def test_an_offloaded_optimizer_trains_the_same(bench, cuda, strategy):
    """The host's update differs from the device's in rounding only."""
    options = ["--gpus", 2, "--steps", 9, "--optimizer", "adamw", "--strategy", strategy]
    on_device = values(bench, cuda(*options))
    offloaded = cuda(*options, "-S", "offload=optimizer")
    assert values(bench, offloaded) == pytest.approx(on_device, rel=1e-5)
    facts = offloaded["environment"]["facts"]
    assert "memory.optimizer_bytes" not in facts or facts["memory.optimizer_bytes"] == "0"
    assert int(facts["memory.offloaded_bytes"]) > 0
    operators = {name for (name,) in bench.rows("select distinct kernel.name from kernel join run using (run_key) where id = ?", offloaded["run"]["id"])}
    assert {"offload_gradients", "upload_values"} <= operators


@pytest.mark.parametrize("strategy", [["horovod"], ["horovod", "-S", "fusion_mb=0"], ["horovod", "--accumulate", 2], ["ps"], ["ps", "-S", "servers=2"]],
                         ids=lambda options: "-".join(map(str, options)).replace("--", ""))
def test_strategies_whose_communication_thread_computes_train_as_on_the_cpu(bench, cuda, strategy):
    """Gradients are copied, added and averaged by the device, beside backward."""
    options = ["--gpus", 2, "--steps", 9, "--lr", 0.01, "--strategy", *strategy]
    run = cuda(*options)
    reference = bench.run_json("--device", "cpu", *TRAINING, *options)
    assert values(bench, run) == pytest.approx(values(bench, reference), rel=1e-5)
    assert len(bench.rows("select distinct parameter_hash from rank join run using (run_key) where id = ?", run["run"]["id"])) == 1
    of_both = [{c["function"]: c["bytes"] for c in of["collectives"] if c["function"] in ("push", "pull")} for of in (run, reference)]
    assert of_both[0] == of_both[1] and bool(of_both[0]) == (strategy[0] == "ps")
    assert run["environment"]["facts"]["training.cuda_graph"].startswith(f"off: the hosts of strategy {strategy[0]}")


@pytest.mark.parametrize("strategy", [["ddp"], ["zero1"], ["zero2", "--accumulate", 2], ["mirrored"]], ids=lambda options: options[0])
def test_two_ranks_train_with_a_graph_as_without(bench, cuda, strategy):
    graph, none = (cuda("--steps", 14, "--gpus", 2, "--strategy", *strategy, "--cuda-graph", choice) for choice in ("auto", "off"))
    assert graph["environment"]["facts"]["training.cuda_graph"] == "captured from step 4"
    assert "captured" not in none["environment"]["facts"]["training.cuda_graph"]
    assert values(bench, graph) == values(bench, none)
    hashes = bench.rows("select distinct parameter_hash from rank")
    assert len(hashes) == 1 and len(bench.rows("select 1 from rank")) == 4
    of_both = [{(c["function"], c["bucket"]): (c["bytes"], c["count"]) for c in run["collectives"]} for run in (graph, none)]
    assert of_both[0] == of_both[1]


@pytest.mark.parametrize("strategy", [["ddp"], ["ddp", "-S", "hook=fp16", "--accumulate", 2], ["mirrored", "-S", "pack_mb=0.01"], ["zero1"]],
                         ids=lambda options: "-".join(map(str, options)).replace("--", ""))
def test_a_graph_updates_with_the_step_s_own_numbers(bench, cuda, strategy):
    """AdamW's corrections and the learning rate change in each step; where a rank updates everything, the graph has the update."""
    options = ["--steps", 14, "--gpus", 2, "--optimizer", "adamw", "--lr", 0.01, "--lr-warmup", 12, "--strategy", *strategy]
    graph, none = (cuda(*options, "--cuda-graph", choice) for choice in ("auto", "off"))
    assert graph["environment"]["facts"]["training.cuda_graph"] == "captured from step 4"
    assert values(bench, graph) == values(bench, none)
    assert len(bench.rows("select distinct parameter_hash from rank")) == 1
    counts = [{(kind, name): count for kind, name, count in bench.rows(
        """select kernel.kind, kernel.name, sum(kernel.count) from kernel join run using (run_key)
           where id = ? group by kernel.kind, kernel.name""", run["run"]["id"])} for run in (graph, none)]
    operators = [{key: of[key] for key in of if key[0] in ("forward", "backward", "optimizer")} for of in counts]
    assert operators[0] == operators[1] and operators[0]["optimizer", "adamw"] > 0
    assert (("copy", "upload_settings") in counts[0]) == (strategy[0] != "zero1")


def test_every_step_is_partitioned_and_every_all_reduce_is_seen(bench, cuda):
    run = cuda("--steps", 14, "--gpus", 2)
    parts = [r[1] for r in bench.rows("pragma table_info(step)") if r[1].endswith("_ns") and r[1] not in
             {"begin_ns", "duration_ns", "communication_ns", "overlap_ns", "peer_wait_ns", "peer_wait_uncertainty_ns"}]
    rows = bench.rows(f"select duration_ns, {' + '.join(parts)} from step where probes_on")
    assert len(rows) == 2 * (19 - 3) and all(duration == total for duration, total in rows)
    # 784 x 48, 48 x 32 and 32 x 10 with their biases, each once.
    assert sum(c["bytes"] for c in run["collectives"]) == 4 * (785 * 48 + 49 * 32 + 33 * 10)
    assert run["run"]["valid"] and "NCCL" in run["environment"]["facts"]["transport"]


CUPTI_PROBE = "ddbench_cupti_probe.so"
has_cupti = pytest.mark.skipif(not os.path.exists(os.path.join(MODULES, CUPTI_PROBE)), reason="CUPTI is not installed")


def modules_without_libcupti(folder):
    """The one that needs it does not load."""
    for name in os.listdir(MODULES):
        (folder / name).symlink_to(os.path.join(MODULES, name))
    (folder / CUPTI_PROBE).unlink(missing_ok=True)
    (folder / CUPTI_PROBE).write_bytes(b"no shared object")
    return str(folder)


@pytest.mark.parametrize("cupti, why", [
    pytest.param("without a driver", "CUPTI cannot", marks=has_cupti),
    ("does not load", "install the CUPTI of the CUDA Toolkit"),
])
def test_without_cupti_nccls_profiler_reports_how_collectives_were_done(bench, cuda, tmp_path, cupti, why):
    """The real probe and the real plug-in."""
    if cupti == "does not load":
        folder = tmp_path / "modules"
        folder.mkdir()
        bench.environment["DDBENCH_MODULE_DIR"] = modules_without_libcupti(folder)
    bench.environment["NCCL_BUFFSIZE"] = "1048576"
    run = cuda("--steps", 14, "--gpus", 2, "--cuda-graph", "off")
    facts = run["environment"]["facts"]
    assert why in facts["cupti.unavailable"]
    assert facts["nccl.transport"] == "direct"
    lost = {"nccl.events_without_kernel", "nccl.events_alone", "nccl.kernels_without_event", "nccl.unfinished", "nccl.unpaired"}
    assert not lost & set(facts)
    (collective,) = run["collectives"]
    assert collective["manner"] == "RING SIMPLE, 2 channels, direct"
    assert int(facts["nccl.joined"]) == 2 * collective["count"], "on both ranks"
    # Once each: as the engine's span, and not as the event, too.
    assert collective["count"] == len(bench.rows("select distinct step from step where probes_on and step >= 5"))
    # What it runs with is what rank 0's NCCL found, not what the launcher was given.
    assert facts["nccl.NCCL_BUFFSIZE"] == "1048576" and "nccl.NCCL_PROFILER_PLUGIN" not in facts
    assert facts["nccl.NCCL_HOSTID"]
    shown = " ".join(bench.ok("show").stdout.split())
    assert "no kernels of GPUs were recorded, and operators are timed by CUDA's events: " in shown and why in shown


def test_what_nccl_calls_of_its_profiler_is_recorded_and_called_again(bench, cuda, tmp_path):
    recording = tmp_path / "run.jsonl"
    bench.environment["NCCL_PROFILER_PLUGIN"] = os.environ["DDBENCH_NCCL_RECORDER"]
    bench.environment["DDBENCH_NCCL_RECORDING"] = str(recording)
    run = cuda("--steps", 14, "--gpus", 2, "--cuda-graph", "off")
    (collective,) = run["collectives"]
    assert collective["manner"] == "RING SIMPLE, 2 channels, direct"
    assert int(run["environment"]["facts"]["nccl.joined"]) == 2 * collective["count"], "recorded or not, on both ranks"
    # Of one rank: the other one found the file. Steps before the measured ones are in it, too.
    calls = [json.loads(line) for line in recording.read_text().splitlines()[1:]]
    assert {call["rank"] for call in calls if call["call"] == "init"} < {0, 1}
    enqueued = [call for call in calls if call.get("type") == "Coll" and 4 * call["count"] == collective["bytes"]]
    assert len(enqueued) >= collective["count"] and {call["func"] for call in enqueued} == {"AllReduce"}
    replayed = subprocess.run([os.environ["DDBENCH_NCCL_REPLAY"], "--gtest_filter=*OfRealGpusAreUnderstood"], text=True,
                              env={**os.environ, "DDBENCH_NCCL_RECORDINGS": str(tmp_path)}, stdout=subprocess.PIPE, timeout=60)
    assert replayed.returncode == 0 and "[  PASSED  ] 1 test." in replayed.stdout, replayed.stdout
    assert f"run.jsonl: {len(calls)} calls of " in replayed.stdout and "0 unfinished, 0 unpaired, 0 untimed" in replayed.stdout


def test_a_killed_rank_ends_the_run_and_is_named(bench, cuda):
    process = bench.start("run", "--device", "cuda", *TRAINING, "--steps", 100000, "--gpus", 2)
    bench.wait_for_step(process, 8, 2)
    os.kill(bench.workers()[1], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert "rank 1" in bench.rows("select reason from run")[0]["reason"]
