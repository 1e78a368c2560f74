"""Training loops as people write them, unmodified: ddbench finds exactly the steps and samples that they count themselves.

What they time themselves is compared in tests/calibration/test_loops.py.
"""

import importlib.util
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys

import pytest
from conftest import HANGS_S, ROOT, wait_until
from ports import free_ports

PYTHON = sys.executable
LOOPS = ROOT / "tests/integration/programs/loops"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")
pytestmark = needs_torch


def loop(name, *arguments):
    return [PYTHON, LOOPS / f"{name}.py", *arguments]


def accounts(done):
    """What each rank said of itself."""
    lines = [line.partition("ACCOUNT ")[2] for line in done.stderr.splitlines() if "ACCOUNT " in line]
    return [json.loads(line) for line in lines]


def facts_of(run):
    return run["environment"]["facts"]


def measured(bench, *program, options=()):
    """(the run's JSON, the accounts of its ranks), of all steps."""
    done = bench.ok("run", "--warmup", 0, "--json", *options, "--", *program)
    return json.loads(done.stdout), accounts(done)


def assert_agrees(run, of_ranks):
    facts = facts_of(run)
    assert facts["program.steps_from"] == "optimizer"
    assert run["steps"]["measured"] == of_ranks[0]["steps"] == int(facts["program.steps"])
    samples = sum(account["samples"] for account in of_ranks)
    assert float(facts["program.samples_per_step"]) == pytest.approx(samples / of_ranks[0]["steps"], rel=1e-5)
    assert run["samples_per_s"] > 0 and run["run"]["batch_per_gpu"] is None, "a batch that was seen, not invented"
    assert 0 < run["probe_account_ns"] < run["step_time_ns"]["value"], "what recording takes, as it counts itself"
    parts = run["compute_ns"]
    assert parts["forward"] > 0 and parts["backward"] > 0 and parts["optimizer"] > 0 and run["partition_ns"]["data_wait"] > 0


@pytest.mark.parametrize("name, arguments", [
    ("single", ["--samples", "400"]), ("single", ["--samples", "300", "--workers", "2", "--epochs", "2"]), ("trainer", []),
    ("adversarial", [])], ids=["one process", "loader workers", "trainer", "two optimizers"])
def test_one_process(bench, name, arguments):
    run, of_ranks = measured(bench, *loop(name, *arguments))
    assert len(of_ranks) == 1
    assert_agrees(run, of_ranks)
    if name == "single":
        rates = [row["value"] for row in bench.rows("select value from step_value where name = 'learning_rate' order by step")]
        expected = [0.1 ** (step // 10) * 1e-3 for step in range(of_ranks[0]["steps"])]
        assert rates == pytest.approx(expected), "as the schedule set it before each step"
        assert run["run"]["applied_lr"] == pytest.approx(rates[-1]) and rates[-1] < rates[0]


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="python3-tqdm is not installed")
def test_a_progress_bar_passes_through(bench):
    done = bench.ok("run", "--warmup", 0, "--json", "--", *loop("bar"))
    assert_agrees(json.loads(done.stdout), accounts(done))
    assert "[rank 0] epoch 1: 100%" in done.stderr and "\r" not in done.stderr, "each line as a terminal shows it"


def test_validations_and_checkpoints_lie_between_the_steps(bench):
    run, of_ranks = measured(bench, *loop("validation", bench.tmp / "model.pt"), options=("--gpus", 2))
    assert_agrees(run, of_ranks)
    assert int(facts_of(run)["program.outside_steps_ns"]) > 0
    reduced = {c["bytes"] for c in run["collectives"] if c["function"] == "all_reduce"}
    assert reduced == {4 * (785 * 64 + 65 * 10)}, "the gradients, and not what the validation reduces"
    gaps = {part: int(facts_of(run)[f"program.host_{part}_ns"]) for part in ("forward", "backward", "optimizer", "elsewhere")}
    assert all(gap > 0 for gap in gaps.values()) and sum(gaps.values()) < run["step_time_ns"]["value"]
    text = bench.ok("show", "last").stdout
    assert "Gaps by cause" in text and "host in backward" in text and re.search(r"aten::\w+ +(forward|backward) ", text)
    assert re.search(r"Gaps by cause", bench.ok("report", "last", "--format", "markdown").stdout)


def test_accumulation(bench):
    run, of_ranks = measured(bench, *loop("accumulation"), options=("--gpus", 2))
    assert_agrees(run, of_ranks)


# Debian's PyTorch 1.13 cannot parse its own default for the streams with Python 3.11.
TORCHRUN = [PYTHON, "-m", "torch.distributed.run", "--nproc_per_node=2", "--redirects=1", "--tee=1"]


@pytest.mark.parametrize("launcher, name", [(TORCHRUN, "accumulation"), ([PYTHON], "spawned")], ids=["torchrun", "mp.spawn"])
def test_a_program_that_starts_its_own_ranks(bench, launcher, name):
    """Without --per-node: it is no run on 1 GPU."""
    (port,) = free_ports(1)
    bench.environment["MASTER_PORT"] = str(port)
    port_option = [f"--master_port={port}"] if launcher is TORCHRUN else []
    run, of_ranks = measured(bench, *launcher, *port_option, LOOPS / f"{name}.py")
    assert_agrees(run, of_ranks)
    assert run["run"]["world_size"] == len(of_ranks) == 2 and run["run"]["workload_options"]["per_node"] == "true"
    assert {c["function"] for c in run["collectives"]} >= {"all_reduce"}
    assert any("--per-node --gpus 2" in note for note in run["notes"])


@pytest.mark.skipif(not (shutil.which("mpirun") and shutil.which("mpicc")), reason="Open MPI is not installed")
def test_mpirun_inside(bench):
    program = bench.tmp / "mpi_training"
    subprocess.run(["mpicc", "-O1", "-o", program, ROOT / "tests/integration/programs/mpi_training.c"], check=True)
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", 2, program]
    run, _ = measured(bench, *mpirun)
    assert run["run"]["world_size"] == 2
    assert bench.rows("select count(distinct rank) from step")[0][0] == 2
    done = bench("run", "--gpus", 2, "--", *mpirun)  # twice
    assert done.returncode == 1 and "--per-node --gpus 2" in done.stdout
    assert bench.rows("select valid from run order by started_wall_ns desc")[0][0] == 0


def test_without_marks_the_pattern_decides_as_before(bench):
    done = bench.ok("run", "--gpus", 2, "--no-python-marks", "--json", "--", *loop("accumulation"))
    run = json.loads(done.stdout)
    assert facts_of(run)["program.steps_from"] == "pattern"
    assert run["compute_ns"]["forward"] == 0 and "program.forward_ns" not in facts_of(run)
    assert run["samples_per_s"] is None and "--batch-per-gpu" in run["missing"]["samples_per_s"]
    text = bench.ok("show", "last").stdout
    assert "steps/s" in text and "samples/s" not in text
    assert "--baseline" in text, "how to get an efficiency"


def test_a_shell_and_a_virtual_environment_do_not_matter(bench):
    """Nor does a sitecustomize of the user's: it runs as well, and does not see ddbench's."""
    environment = bench.tmp / "environment"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", environment], check=True)
    (bench.tmp / "sitecustomize.py").write_text("import sys; print('own', any('lib/ddbench' in p for p in sys.path), flush=True)\n")
    bench.environment["PYTHONPATH"] = str(bench.tmp)
    command = shlex.join(map(str, [environment / "bin/python", *loop("single")[1:]]))
    done = bench.ok("run", "--warmup", 0, "--json", "--", "sh", "-c", f"cd / && {command} | cat")
    assert "own False" in done.stderr
    assert_agrees(json.loads(done.stdout), accounts(done))


def test_a_crash_keeps_the_steps_before_it(bench):
    done = bench("run", "--warmup", 0, "--", *loop("single", "--crash-at", "7"))
    assert done.returncode == 1 and "boom at step 7" in done.stdout
    assert "first step" not in done.stdout, "nothing is said of steps that nobody counts"
    assert len(bench.rows("select distinct step from step")) == 7


def test_an_interrupt_keeps_the_steps_before_it(bench):
    process = bench.start("run", "--", *loop("single", "--epochs", "100000", "--samples", "64"))
    wait_until(lambda: any(size > 100000 for size in bench.spool_sizes()), HANGS_S, "it trains")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    assert [tuple(row) for row in bench.rows("select state, reason from run")] == [("interrupted", "interrupted")]
    assert len(bench.rows("select distinct step from step")) > 10


@pytest.mark.parametrize("window, kept", [
    (("--measure", 6), 6), (("--skip", 11, "--measure", 100), 2)], ids=["within", "beyond its end"])
def test_a_window_is_all_that_is_kept(bench, window, kept):
    done = bench.ok("run", "--json", *window, "--", *loop("single"))  # 13 steps
    run = json.loads(done.stdout)
    assert run["steps"]["measured"] == kept and int(facts_of(run)["program.steps"]) == kept
    assert accounts(done)[0]["steps"] == 13, "the program went on"
    assert ("13 steps" in " ".join(run["notes"])) == (kept == 2)


@pytest.mark.parametrize("options, program", [
    (("--gpus", 2, "--measure", 5), ["ddp_mlp.py", "--steps", 10**7, "--hidden", 64]),
    (("--duration", 0.2), ["loops/single.py", "--epochs", 10**7])], ids=["steps", "seconds"])
def test_a_program_is_stopped_after_its_window(bench, options, program):
    script = ROOT / "tests/integration/programs" / program[0]
    done = bench.ok("run", *options, "--skip", 2, "--after", "stop", "--json", "--", PYTHON, script, *program[1:])
    run = json.loads(done.stdout)
    assert run["run"]["state"] == "done" and run["run"]["valid"]
    assert run["steps"]["measured"] == 5 if "--measure" in options else run["steps"]["measured"] > 0


@pytest.mark.parametrize("arguments, words", [
    (["--steps", "10", "--", "true"], ["--steps", "--measure"]),
    (["--workload", "mlp", "--", "true"], ["--workload", "program"]),
    (["--strategy", "zero1", "--", "true"], ["--strategy"]),
    (["--lr", "0.1", "--", "true"], ["--lr"]),
    (["--measure", "10"], ["--measure", "program"]),
    (["--after", "stop", "--", "true"], ["--after", "--measure"]),
    (["--measure", "0", "--", "true"], ["--measure", "0"]),
    (["--duration", "nan", "--", "true"], ["--duration"]),
    (["--warmup", "3", "--measure", "5", "--", "true"], ["--warmup", "--skip"]),
    (["--no-python-marks"], ["--no-python-marks"]),
], ids=lambda value: " ".join(value))
def test_options_that_do_not_apply_are_refused(bench, arguments, words):
    done = bench("run", *arguments)
    assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr
    assert not bench.db.exists() or not bench.rows("select 1 from run")


def test_a_baseline_is_measured_where_it_is_wanted(bench):
    log = bench.tmp / "starts"
    program = ["sh", "-c", f'echo "$WORLD_SIZE" >>{log}; exec "$0" "$@"', *loop("accumulation")]
    run = json.loads(bench.ok("run", "--gpus", 2, "--baseline", "--skip", 2, "--measure", 6, "--json", "--", *program).stdout)
    assert sorted(log.read_text().split()) == ["1", "2", "2"]
    assert run["efficiency"]["value"] > 0
    runs = bench.rows("select is_baseline, (select count(distinct step) from step where step.run_key = run.run_key) from run "
                      "order by started_wall_ns")
    assert [tuple(row) for row in runs] == [(1, 6), (0, 6)], "the baseline has the same window"
