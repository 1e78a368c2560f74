"""What tests/device demands of a run on a GPU: runs that pass without showing anything fail. No GPU: reports by hand."""

import copy
import importlib.util
import os
import subprocess
import sys

import pytest
from conftest import ROOT

FOLDER = ROOT / "tests/device"


def script(name):
    """A module of tests/device, which are scripts beside each other."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(FOLDER))


GOOD = {"run": {"world_size": 2}, "steps": {"measured": 100}, "probe_overhead_percent": 0.4, "communication_ns": 5e6,
        "partition_ns": {"compute": 9e6}, "environment": {"facts": {"training.cuda_graph": "captured from step 4"}}}
ARGUMENTS = ["ddbench", "--device", "cuda", "--steps", 100]


def changed(path, value):
    run = copy.deepcopy(GOOD)
    at = run
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return run


@pytest.mark.parametrize("path, value, arguments, word", [
    (("environment", "facts", "training.cuda_graph"), "off: NCCL cannot be captured", ARGUMENTS, "no CUDA graph"),
    (("environment", "facts"), {}, ARGUMENTS, "no CUDA graph"),
    (("run", "world_size"), 1, [*ARGUMENTS, "--cuda-graph", "off"], "though --cuda-graph off"),
    (("probe_overhead_percent",), None, ARGUMENTS, "what the probes cost"),
    (("communication_ns",), 0, ARGUMENTS, "without any communication"),
    (("communication_ns",), None, [*ARGUMENTS, "--", "python3", "train.py"], "without any communication"),
    (("partition_ns", "compute"), 0, ARGUMENTS, "no compute"),
    (("environment", "facts", "cupti.unavailable"), "another tool holds CUPTI", ARGUMENTS, "another tool"),
    (("steps", "measured"), 3, [*ARGUMENTS, "--measure", 4, "--", "python3", "train.py"], "3 steps of a window of 4"),
    (("steps", "measured"), 4, [*ARGUMENTS, "--measure", 4, "--", "python3", "train.py"], None),
])
def test_a_run_that_did_not_do_what_it_was_started_for_is_wrong(path, value, arguments, word):
    whole = script("whole")
    assert whole.wrong_with(GOOD, ARGUMENTS) == []
    wrong = whole.wrong_with(changed(path, value), arguments)
    assert any(word in text for text in wrong) if word else wrong == []


def test_short_runs_programs_and_cpus_are_not_asked_for_what_they_cannot_have():
    whole = script("whole")
    short = changed(("probe_overhead_percent",), None)
    short["steps"]["measured"] = 20
    assert whole.wrong_with(short, ARGUMENTS) == []
    program = changed(("environment", "facts"), {})
    program["probe_overhead_percent"] = None
    assert whole.wrong_with(program, [*ARGUMENTS, "--", "python3", "train.py", "--cuda-graph", "off"]) == []
    assert whole.wrong_with(changed(("environment", "facts"), {}), ["ddbench", "--device", "cpu"]) == []
    without_pauses = changed(("probe_overhead_percent",), None)
    without_pauses["environment"]["facts"]["cupti.filtered_windows"] = "25"
    assert whole.wrong_with(without_pauses, ARGUMENTS) == []


def test_a_bound_of_parity_is_no_wider_than_the_loss_moves():
    allowed = script("whole").allowed_difference
    assert allowed([4.0, 3.0, 2.0], 8e-2) == pytest.approx(8e-2)
    assert allowed([2.3, 2.2, 2.25], 8e-2) == pytest.approx(0.25 * 0.1 / 2.3)
    assert allowed([2.3, 2.3, 2.31], 8e-2) is None


def test_nothing_beside_nothing_is_no_comparison():
    compare = script("breakdown").compare
    profiled = {"compute": 8e5, "communication": 0, "overlap": 0}
    step = {"step": 1e6, **profiled}
    reported, wrong = compare(step, [profiled], ("compute",))
    assert not wrong and len(reported) == 1, "one rank has no communication: its compute is compared"
    assert compare({**step, "compute": 0}, [{**profiled, "compute": 0}], ("compute",))[1]
    reported, wrong = compare(step, [profiled], ("compute", "communication"))
    assert wrong and any("no communication" in text for text in reported)


@pytest.mark.parametrize("output, row", [
    ("[  PASSED  ] 3 tests.\n[  SKIPPED ] 2 tests, listed below:\n[  SKIPPED ] A.B\n[  SKIPPED ] A.C", "skipped, though there is a GPU"),
    ("[  PASSED  ] 3 tests.", "passed"),
])
def test_a_skipped_test_is_a_failure(tmp_path, output, row):
    """The script's own step(), on a machine that seems to have a GPU."""
    text = (FOLDER / "run.sh").read_text()
    functions = text[text.index("row() {"):text.index("on_gpu() {")]
    (tmp_path / "output").write_text(output + "\n")
    program = (f"gpu='none, 1' results={tmp_path}/results.md out={tmp_path} LOG={tmp_path}/log failures=0 part_ends=1000 part_seconds=9\n"
               f"{functions}\nstep tests 9 cat {tmp_path}/output\nexit $failures")
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=60)
    assert row in (tmp_path / "results.md").read_text(), done.stderr
    assert done.returncode == (0 if row == "passed" else 1)


def test_a_part_ends_within_its_time():
    text = (FOLDER / "run.sh").read_text()
    seconds = int(text.split("part_seconds=${PART_SECONDS:-")[1].split("}")[0])
    assert seconds + 25 + 15 <= 520
    assert subprocess.run(["bash", "-n", FOLDER / "run.sh"], timeout=60).returncode == 0


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="it would run")
def test_without_a_gpu_the_script_says_so():
    done = subprocess.run(["bash", FOLDER / "run.sh"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5 and "no GPU" in done.stderr


STAND_INS = {  # for what run.sh calls: a GPU is there, a run never ends, a test skips, one passes
    "nvidia-smi": "echo 'NVIDIA H100 80GB HBM3, 580.0'",
    "compute-sanitizer": "echo '[  PASSED  ] 0 tests.'",
    "ddbench": '[ "$1" = --version ] && exec echo ddbench 0\n[ "$1" = doctor ] && exec echo cuDNN\nexec sleep 1000',
    "test_cupti_probe": "echo 'a kernel of 10 ms: recorded 10 ms'",
    "nccl_test": "echo '[  SKIPPED ] Nccl.CollectivesAreRight'; echo '[  PASSED  ] 0 tests.'; echo '[  SKIPPED ] 1 test, listed below:'",
    "operators_test": "echo '[  PASSED  ] 9 tests.'",
    "workload_models_test": "exit 1",
    "loader_test": "echo '[  PASSED  ] 9 tests.'",
}


PARTS = {  # and what its results say
    "new": ["| versions | passed: /dev/shm", "9 tests"],
    "tests": ["| versions | passed: /dev/shm", "no fused attention", "recorded 10 ms", "skipped, though there is a GPU", "not done after",
              "not reached within"],
    "speed": ["resnet50 bf16, batch 64 | FAILED: not done after", "all-reduces of two ranks", "not reached within"],
    "pytorch": ["FAILED"],
}


def started(part, folder, seconds):
    pack, tools = folder / "pack", folder / "tools"
    for made in (pack / "bin", tools):
        made.mkdir(parents=True)
    for name, lines in STAND_INS.items():
        file = (tools if name in ("nvidia-smi", "compute-sanitizer") else pack / "bin") / name
        file.write_text(f"#!/bin/bash\n{lines}\n")
        file.chmod(0o755)
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", OUT=str(folder / "out"), PART_SECONDS=str(seconds))
    return subprocess.Popen([FOLDER / "run.sh", pack, part], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_each_part_ends_in_time_with_complete_results_whatever_hangs_skips_or_is_missing(tmp_path):
    """What comes before the run that hangs has nearly all of the part's time, on a busy machine, too."""
    running = {part: started(part, tmp_path / part, seconds=40) for part in PARTS}
    for part, process in running.items():
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 1, f"{part}: {errors}"
        out = tmp_path / part / "out"
        results = (out / "results.md").read_text()
        for text in PARTS[part]:
            assert text in results, f"{part}: {results}"
        assert len(list(out.iterdir())) <= 8 and not (out / "step.txt").exists()
