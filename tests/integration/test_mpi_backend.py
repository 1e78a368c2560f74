"""Collectives over MPI: what Gloo gives is what MPI gives, and its ends are clear too."""

import os
import shutil
import signal

import pytest
from conftest import SMALL
from ports import free_port
from test_analysis import checked, refused
from test_launchers import LONG, expect_failure, facts, finish, hashes, in_slurm, last_run, ranks_of, slurm, started_as

pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="openmpi-bin is not installed")

MPI = ["--backend", "mpi", "--launcher", "mpirun", "--launcher-args", "--allow-run-as-root --oversubscribe"]
CASE = ["--gpus", "3", "--batch-per-gpu", "16", "--no-baseline", "-O", "hidden=64", "--steps", "20", "--warmup", "2", "--quiet"]


def losses(bench):
    return [row[0] for row in bench.rows("select avg(value) from step_value where name = 'loss' and run_key = ? group by step "
                                         "order by step", last_run(bench)["run_key"])]


@pytest.fixture
def over_gloo(bench):
    bench.ok("run", "--launcher", "local", *CASE)
    return losses(bench)


@pytest.mark.parametrize("strategy", [["ddp"], ["ddp", "-S", "hook=bf16"], ["ddp", "-S", "hook=fp16"], ["zero2"], ["zero3"], ["horovod"],
                                      ["mirrored"], ["ps"]], ids=lambda s: "-".join(s).replace("--S-hook=", "_"))
def test_every_strategy_trains_as_over_gloo(bench, over_gloo, strategy):
    bench.ok("run", *MPI, "--strategy", *strategy, *CASE)
    hashes(bench)  # equal on all ranks
    tolerance = 2e-2 if "-S" in strategy else 1e-4
    assert losses(bench) == pytest.approx(over_gloo, rel=tolerance)
    assert facts(bench)["transport"].startswith("mpi ")
    assert facts(bench).get("network", "") == "", "what carries the bytes is not proved"


def test_micro_verifies_every_collective(bench):
    table = checked(bench.ok("micro", *MPI, "--gpus", 3, "--min-bytes", "1K", "--max-bytes", "256K", "--factor", "16",
                             "--seconds", "0.005", "--quiet", "--json"), "micro")
    assert {row["operation"] for row in table["rows"]} == {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all"}
    assert table["wrong"] == 0 and table["valid"] and table["transport"].startswith("mpi ")


def test_one_rank_needs_no_mpi(bench):
    bench.ok("run", "--backend", "mpi", *SMALL)


def test_ranks_that_mpi_did_not_start_are_refused(bench):
    refused(bench("run", "--backend", "mpi", "--launcher", "local", "--gpus", "2", *SMALL), "mpirun")
    assert not bench.db.exists()
    port = free_port()
    zero, one = (started_as(bench, rank, 2, port, "--backend", "mpi", *SMALL) for rank in (0, 1))
    finish(one)
    out, err = finish(zero)
    assert zero.returncode == 1, f"{out}\n{err}"
    reason = last_run(bench)["reason"]
    assert "sees 1 of the run's 2 ranks" in reason and "--launcher mpirun" in reason


def test_ranks_that_srun_started_without_pmi_say_so(in_slurm):
    bench = in_slurm
    process = bench.start("run", "--backend", "mpi", "--launcher", "srun", "--interface", "lo", "--gpus", 2, *LONG)
    expect_failure(bench, process, "srun has started these ranks", "--launcher mpirun")


def test_a_killed_rank_ends_the_run(bench):
    process = bench.start("run", *MPI, "--gpus", 2, *LONG)
    workers = ranks_of(bench, process, 2)
    os.kill(workers[1], signal.SIGKILL)
    expect_failure(bench, process, "rank 1")
    assert bench.rows("select count(distinct step) from step where rank = 0")[0][0] > 5, "what was recorded is kept"


def test_a_rank_that_stands_still_is_named(bench):
    process = bench.start("run", *MPI, "--gpus", 2, "--timeout", 3, *LONG)
    workers = ranks_of(bench, process, 2)
    os.kill(workers[1], signal.SIGSTOP)
    expect_failure(bench, process, "rank 1")


def test_an_interrupt_leaves_nothing_behind(bench):
    process = bench.start("run", *MPI, "--gpus", 2, *LONG)
    ranks_of(bench, process, 2)
    process.send_signal(signal.SIGINT)
    finish(process)
    assert process.returncode == 130 and last_run(bench)["state"] == "interrupted"
