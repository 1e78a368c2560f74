"""Ranks that mpirun, Slurm or others start: the same training as on this machine, and clear ends when something fails."""

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

import pytest
import slurm_cluster
import two_hosts
from conftest import EXECUTABLE, HANGS_S, SMALL, pids_marked, wait_until
from ports import free_port

CASE = ["--nodes", "2", "--gpus", "2", "--no-baseline", *SMALL]
TOKEN = "a secret of 24 characters"
LONG = ["--steps", "100000", "--warmup", "2", "-O", "hidden=64", "--no-baseline", "--quiet"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
needs_mpirun = pytest.mark.skipif(not shutil.which("mpirun"), reason="openmpi-bin is not installed")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    if slurm_cluster.missing():
        pytest.skip(slurm_cluster.missing())
    cluster = slurm_cluster.SlurmCluster(tmp_path_factory.mktemp("slurm"))
    yield cluster
    cluster.stop()


@pytest.fixture
def in_slurm(bench, slurm):
    bench.environment["SLURM_CONF"] = slurm.environment["SLURM_CONF"]
    return bench


@pytest.fixture
def hosts(bench):
    if two_hosts.missing():
        pytest.skip(two_hosts.missing())
    hosts = two_hosts.TwoHosts(bench.tmp)
    yield hosts
    hosts.stop()


def start(bench, *command, **variables):
    return subprocess.Popen(list(map(str, command)), env=dict(bench.environment, **variables), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, timeout_s=HANGS_S):
    try:
        return process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"still running after {timeout_s} s: {process.communicate()}")


def ok(process):
    out, err = finish(process)
    assert process.returncode == 0, f"{process.args}\n{out}\n{err}"
    return out, err


def started_on_node(bench, rank, port, *arguments, **variables):
    """One rank of a world of two nodes of one rank, which this machine plays: they have no secret by themselves."""
    return start(bench, EXECUTABLE, "run", "--launcher", "env", "--interface", "lo", *arguments, RANK=str(rank), WORLD_SIZE="2",
                 LOCAL_RANK="0", LOCAL_WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port - 1), **variables)


def started_as(bench, rank, world_size, port, *arguments, **variables):
    """One rank of a world of one node, as Kubeflow would start it."""
    return start(bench, EXECUTABLE, "run", "--launcher", "env", *arguments, RANK=str(rank), WORLD_SIZE=str(world_size),
                 LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(world_size), MASTER_ADDR="127.0.0.1",
                 MASTER_PORT=str(port - 1), **variables)


def last_run(bench):
    return bench.rows("select * from run order by started_wall_ns")[-1]


def facts(bench):
    return json.loads(last_run(bench)["facts_json"])


def parameters_of_local(bench, case=CASE):
    bench.ok("run", "--launcher", "local", *case)
    return hashes(bench)


def hashes(bench):
    run = last_run(bench)
    assert run["state"] == "done" and run["valid"] == 1, (run["reason"], run["invalid_reason"])
    found = {row["parameter_hash"] for row in bench.rows("select * from rank where run_key = ?", run["run_key"])}
    assert len(found) == 1 and "" not in found
    return found


def check_placement(bench):
    key = last_run(bench)["run_key"]
    ranks = bench.rows("select rank, node, local_rank, host, pid, dropped_spans from rank where run_key = ? order by rank", key)
    assert [(row["rank"], row["node"], row["local_rank"]) for row in ranks] == [(r, r // 2, r % 2) for r in range(4)]
    assert all(row["host"] and row["pid"] > 0 and row["dropped_spans"] == 0 for row in ranks)
    # Every step of every rank is stored, with its partition: the recordings of remote ranks have all arrived.
    assert bench.rows("select count(*) from step where run_key = ?", key)[0][0] == 4 * 14
    return [row["host"] for row in ranks]


def test_slurm_trains_as_this_machine_does(in_slurm):
    bench = in_slurm
    expected = parameters_of_local(bench)
    bench.ok("run", "--launcher", "srun", "--interface", "lo", *CASE)
    assert hashes(bench) == expected
    check_placement(bench)
    assert facts(bench)["launcher"] == "srun"
    shown = json.loads(bench.ok("show", "--json").stdout)
    assert "emulated-network" in shown["run"]["provenance"], "two slurmd of one machine are no two machines"
    local, there = (row["id"] for row in bench.rows("select id from run order by started_wall_ns"))
    assert "srun" in bench.ok("compare", local, there).stdout


@pytest.mark.parametrize("step", [[], ["srun", "--quiet", "--nodes=1", "--ntasks=1"]], ids=["allocation", "step of one"])
def test_a_slurm_allocation_is_found(in_slurm, step):
    """Also from within a step, as `srun --pty bash` is one, for whose end other steps wait."""
    bench = in_slurm
    ok(start(bench, "salloc", "--quiet", "--nodes=2", "--ntasks-per-node=2", *step, EXECUTABLE, "run", "--interface", "lo", *CASE))
    assert facts(bench)["launcher"] == "srun"
    check_placement(bench)


def test_mpirun_trains_on_two_hosts_as_this_machine_does(bench, hosts):
    expected = parameters_of_local(bench)
    ok(start(bench, *hosts.prefix, EXECUTABLE, "run", *hosts.options, *CASE))
    assert hashes(bench) == expected
    assert check_placement(bench) == ["host1", "host1", "host2", "host2"]
    reported = facts(bench)
    assert reported["launcher"] == "mpirun"
    local, there = (row["fingerprint"] for row in bench.rows("select fingerprint from run order by started_wall_ns"))
    assert local == there == reported["launched_from.fingerprint"], "the hosts are parts of this machine"
    assert reported["hostname"] == "host1", "the hardware is that of the ranks' machine, not of the head"
    assert reported["launcher.listened_at"] == f"{two_hosts.NETWORK}.254", "the interface that leads to the hosts, no other"
    assert "10.78.0.1" in reported["transport"]


def are_cores(processors):
    """Whether this process may use them, and each is a core: Open MPI counts cores, and pins a rank to all processors of one."""
    topology = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    try:
        siblings = {processor: pathlib.Path(topology.format(processor)).read_text().strip() for processor in processors}
    except OSError:
        return False
    return processors <= os.sched_getaffinity(0) and all(text == str(processor) for processor, text in siblings.items())


@needs_mpirun
@pytest.mark.skipif(not are_cores({0, 1}), reason="processors 0 and 1 are not two cores that this process may use")
def test_a_rank_file_pins_ranks(bench):
    ranks = bench.tmp / "ranks"
    ranks.write_text("".join(f"rank {rank}={socket.gethostname()} slot={core}\n" for rank, core in enumerate((1, 0))))
    done = bench("run", "--rankfile", ranks, "--launcher-args", "--allow-run-as-root", "--gpus", 2, "--no-baseline", "--", "sh", "-c",
                 "echo core $(taskset -pc $$ | sed 's/.* //')")
    assert "[rank 0] core 1" in done.stderr and "[rank 1] core 0" in done.stderr, done.stderr


@pytest.mark.skipif(not shutil.which("mpiexec.hydra"), reason="MPICH is not installed")
def test_the_mpirun_of_mpich_starts_ranks(bench):
    folder = bench.tmp / "bin"
    folder.mkdir()
    mpirun = folder / "mpirun"
    mpirun.write_text(f'#!/bin/sh\nexec {shutil.which("mpiexec.hydra")} "$@"\n')  # which finds its parts by its own path
    mpirun.chmod(0o755)
    expected = parameters_of_local(bench, ["--gpus", "2", "--no-baseline", *SMALL])
    ok(start(bench, EXECUTABLE, "run", "--launcher", "mpirun", "--gpus", 2, "--no-baseline", *SMALL, PATH=f"{folder}:{os.environ['PATH']}"))
    assert hashes(bench) == expected
    assert facts(bench)["launcher"] == "mpirun"


@needs_mpirun
def test_ranks_that_mpirun_has_started_find_each_other(bench):
    expected = parameters_of_local(bench, ["--gpus", "2", "--no-baseline", *SMALL])
    out, _ = ok(start(bench, *MPIRUN, "-n", "2", EXECUTABLE, "run", "--json", *SMALL, MASTER_PORT=str(free_port() - 1)))
    assert json.loads(out)["run"]["state"] == "done", "only rank 0 reports"
    assert hashes(bench) == expected
    assert facts(bench)["launcher"] == "env (Open MPI)"


def test_ranks_that_slurm_has_started_find_each_other(in_slurm):
    bench = in_slurm
    expected = parameters_of_local(bench)
    ok(start(bench, "srun", "--quiet", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", EXECUTABLE, "run", "--interface",
             "lo", *SMALL, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port() - 1)))
    assert hashes(bench) == expected
    assert facts(bench)["launcher"] == "env (Slurm)"
    check_placement(bench)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")
def test_ranks_that_torchrun_has_started_find_each_other(bench):
    expected = parameters_of_local(bench, ["--gpus", "2", "--no-baseline", *SMALL])
    # Debian's PyTorch 1.13 cannot parse its own default for --redirects and --tee with Python 3.11.
    ok(start(bench, sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "--redirects=1", "--tee=1",
             f"--master_port={free_port()}", "--no_python", EXECUTABLE, "run", *SMALL))
    assert facts(bench)["launcher"] == "env (torchrun)"
    assert hashes(bench) == expected


def test_a_program_is_recorded_wherever_it_runs(in_slurm):
    bench = in_slurm
    script = "echo $RANK $WORLD_SIZE $LOCAL_RANK $NODE_RANK $MASTER_ADDR"
    done = bench("run", "--launcher", "srun", "--interface", "lo", "--nodes", 2, "--gpus", 2, "--no-baseline", "--", "sh",
                 "-c", script)
    lines = sorted(line for line in done.stderr.splitlines() if line.startswith("[rank"))
    assert lines == [f"[rank {r}] {r} 4 {r % 2} {r // 2} 127.0.0.1" for r in range(4)], done.stderr


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")
@needs_mpirun
def test_a_baseline_of_ranks_elsewhere_serves_ranks_elsewhere(bench):
    mpirun = ["--launcher", "mpirun", "--launcher-args", "--allow-run-as-root --oversubscribe"]
    for launcher, runs in ([], 2), (mpirun, 4), (mpirun, 5):
        bench.ok("run", *launcher, "--gpus", 2, *SMALL)
        assert bench.rows("select count(*) from run")[0][0] == runs, launcher
    baselines = [row["baseline_id"] for row in bench.rows("select baseline_id from run order by started_wall_ns")]
    assert baselines[3] == baselines[4] != baselines[1]


@needs_mpirun
def test_ranks_that_send_sampled_spans_report_the_same_in_less_than_a_kilobyte_a_step(bench):
    """The partition comes from all steps, operators from those that were sent whole."""
    case = ["--launcher", "mpirun", "--launcher-args", "--allow-run-as-root --oversubscribe", "--gpus", 2, "--no-baseline",
            "--workload", "gpt2-nano", "--steps", 32, "--warmup", 4, "--json"]
    whole = json.loads(bench.ok("run", *case, "--spans", "all").stdout)
    all_bytes = int(facts(bench)["launcher.span_bytes"])
    sampled = json.loads(bench.ok("run", *case, "--spans", "sampled").stdout)
    reported = facts(bench)
    ranks_and_steps = 2 * (32 + 4)
    assert int(reported["launcher.span_bytes"]) < 1024 * ranks_and_steps
    assert int(reported["launcher.span_bytes"]) < all_bytes / 2
    key = last_run(bench)["run_key"]
    parts = [f"{part}_ns" for part in ("forward", "backward", "optimizer", "other_compute", "cpu_wait", "exposed_transfer", "exposed_peer_wait",
                                       "copy", "data_wait", "host", "idle")]
    for row in bench.rows("select * from step where run_key = ? and probes_on = 1", key):
        assert sum(row[part] for part in parts) == row["duration_ns"]
        assert row["communication_ns"] > 0 and row["forward_ns"] > 0 and row["backward_ns"] > 0
    assert bench.rows("select count(*) from step where run_key = ?", key)[0][0] == ranks_and_steps

    def a_step(run, steps):
        # The norm is not taken in each step.
        return {(kernel["name"], kernel["kind"]): kernel["count"] / steps for kernel in run["kernels"]
                if kernel["name"] != "gradient_norm"}

    probed = 2 * 24
    of_whole_steps = a_step(sampled, probed - int(reported["analysis.reduced_steps"]))
    assert 0 < int(reported["analysis.reduced_steps"]) < probed
    assert of_whole_steps == a_step(whole, probed), "each operator as often in a step as where all are kept"
    assert [c["count"] for c in sampled["collectives"]] == [c["count"] for c in whole["collectives"]]
    assert any("--spans sampled" in note for note in sampled["notes"])


@needs_mpirun
def test_pytorch_under_mpirun_is_split_into_steps(bench):
    program = os.path.join(os.path.dirname(__file__), "programs", "ddp_mlp.py")
    done = bench.ok("run", "--launcher", "mpirun", "--gpus", 2, "--no-baseline", "--json", "--launcher-args",
                    "--allow-run-as-root --oversubscribe", "--", sys.executable, program, "--steps", 12)
    run = json.loads(done.stdout)
    assert run["run"]["state"] == "done" and {c["function"] for c in run["collectives"]} == {"all_reduce"}
    assert len(bench.rows("select distinct step from step")) == 12, "its optimizer ends them"


@needs_mpirun
def test_micro_goes_through_a_launcher_too(bench):
    done = bench.ok("micro", "--launcher", "mpirun", "--gpus", 2, "--operations", "all_reduce", "-b", "1K", "-e", "4K",
                    "--seconds", "0.01", "--launcher-args", "--allow-run-as-root --oversubscribe")
    assert "all_reduce" in done.stdout
    assert facts(bench)["launcher"] == "mpirun"


# What goes wrong.


def expect_failure(bench, process, *words):
    out, err = finish(process)
    assert process.returncode == 1, f"{out}\n{err}"
    run = last_run(bench)
    assert run["state"] == "failed"
    for word in words:
        assert word in run["reason"], run["reason"]


def start_in_slurm(bench, *arguments):
    return start(bench, EXECUTABLE, "run", "--launcher", "srun", "--interface", "lo", "--nodes", 2, "--gpus", 2, *LONG,
                 *arguments)


def ranks_of(bench, process, world_size=4):
    """{rank: pid} from the store, once the run has done some steps."""
    bench.wait_for_step(process, 5, world_size)
    workers = {}
    for pid in pids_marked(bench.mark):
        try:
            if b"worker" not in open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0"):
                continue
            variables = dict(v.split(b"=", 1) for v in open(f"/proc/{pid}/environ", "rb").read().split(b"\0") if b"=" in v)
        except OSError:
            continue
        rank = variables.get(b"SLURM_PROCID") or variables.get(b"OMPI_COMM_WORLD_RANK")
        if rank is not None:
            workers[int(rank)] = pid
    assert sorted(workers) == list(range(world_size))
    return workers


def test_a_node_that_dies_is_named(in_slurm):
    bench = in_slurm
    process = start_in_slurm(bench)
    workers = ranks_of(bench, process)
    for rank in (2, 3):
        os.kill(workers[rank], signal.SIGKILL)
    expect_failure(bench, process, "node 1", "connection")
    assert bench.rows("select count(distinct step) from step where rank = 2")[0][0] > 5, "what it sent before is kept"


@pytest.mark.parametrize("late", [False, True], ids=["", "srun says so after its ranks are gone"])
def test_a_step_that_was_cancelled_is_named(in_slurm, late, tmp_path):
    bench = in_slurm
    path = os.environ["PATH"]
    if late:
        srun = tmp_path / "srun"
        srun.write_text(f'#!/bin/sh\n{shutil.which("srun")} "$@" 2>"$0.said"\nended=$?\nsleep 2\ncat "$0.said" >&2\nexit $ended\n')
        srun.chmod(0o755)
        path = f"{tmp_path}:{path}"
    process = start(bench, "salloc", "--quiet", "--nodes=2", "--ntasks-per-node=2", "env", f"PATH={path}", EXECUTABLE, "run", "--interface", "lo", "--nodes", 2, "--gpus", 2, *LONG)
    ranks_of(bench, process)
    job = facts(bench)["job.id"].removeprefix("slurm ")
    subprocess.run(["scancel", f"{job}.0"], env=bench.environment, check=True, timeout=120)
    finish(process)
    run = last_run(bench)
    assert (process.returncode, run["state"]) == (130, "interrupted")
    assert f"the step of its ranks in job {job} was cancelled" in run["reason"]


def test_a_rank_that_stands_still_is_named(bench, hosts):
    process = start(bench, *hosts.prefix, EXECUTABLE, "run", *hosts.options, "--nodes", 2, "--gpus", 2, "--timeout", 3, *LONG)
    workers = ranks_of(bench, process)
    os.kill(workers[3], signal.SIGSTOP)
    expect_failure(bench, process, "rank 3")


def test_a_job_that_cannot_start_says_why(bench):
    if not shutil.which("mpirun"):
        pytest.skip("openmpi-bin is not installed")
    process = start(bench, EXECUTABLE, "run", "--launcher", "mpirun", "--gpus", 2, "--launcher-args", "--no-such-option",
                    *LONG)
    expect_failure(bench, process, "mpirun exited", "no-such-option")


def test_an_interrupt_ends_the_ranks_of_slurm(in_slurm):
    bench = in_slurm
    process = start_in_slurm(bench)
    ranks_of(bench, process)
    process.send_signal(signal.SIGINT)
    finish(process)
    assert process.returncode == 130 and last_run(bench)["state"] == "interrupted"


def test_ranks_end_with_a_launcher_that_is_killed(in_slurm):
    bench = in_slurm
    process = start_in_slurm(bench)
    ranks_of(bench, process)
    process.kill()
    finish(process)
    wait_until(lambda: not pids_marked(bench.mark), HANGS_S, "all ranks have ended")
    bench.ok("run", *SMALL)  # puts the killed launcher's own directory in order
    assert bench.rows("select state from run order by started_wall_ns")[0]["state"] == "interrupted"


def test_a_rank_that_never_connects_is_named(bench):
    process = started_as(bench, 0, 2, free_port(), "--start-timeout", 2, *LONG)
    expect_failure(bench, process, "rank 1", "did not report within 2.0 s")


def test_a_wrong_token_is_turned_away(bench):
    port = free_port()
    zero = started_as(bench, 0, 2, port, "--start-timeout", 15, *LONG, DDBENCH_TOKEN="one secret, long enough")
    one = started_as(bench, 1, 2, port, *LONG, DDBENCH_TOKEN="two secrets, long enough")
    _, err = finish(one)
    assert one.returncode == 1 and "DDBENCH_TOKEN" in err
    expect_failure(bench, zero, "rank 1", "127.0.0.1 does not know this run's secret")


def test_other_options_of_a_rank_end_the_run_with_their_names(bench):
    port = free_port()
    zero, one = (started_as(bench, rank, 2, port, "--lr", lr, *LONG, DDBENCH_TOKEN=TOKEN) for rank, lr in enumerate(("0.25", "0.5")))
    _, err = finish(one)
    assert one.returncode == 2 and "lr is 0.25 there and 0.5 here" in err, err
    expect_failure(bench, zero, "rank 1", "lr is 0.25 there and 0.5 here", "Start all ranks with the same command")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs 2 cores")
def test_runs_at_the_same_time_take_different_cores_or_name_each_other(bench):
    first = start(bench, EXECUTABLE, "run", *LONG)
    try:
        bench.wait_for_step(first, 5, 1)
        bench.ok("run", "--no-baseline", *SMALL)
        assert "oversubscribed" not in bench.ok("show", "--json").stdout
        bench.ok("run", "--gpus", len(os.sched_getaffinity(0)), "--no-baseline", *SMALL)
    finally:
        first.send_signal(signal.SIGINT)
        finish(first)
    held, alone, together = bench.rows("select * from run order by started_wall_ns")
    cores = [row["cores"] for row in bench.rows("select cores from rank where run_key in (?, ?) order by run_key", held["run_key"], alone["run_key"])]
    assert "" not in cores and cores[0] != cores[1]
    assert json.loads(together["facts_json"])["cores.shared_with"] == f"run {held['id']}"
    shown = json.loads(bench.ok("show", "--json", together["id"]).stdout)
    assert "oversubscribed" in shown["run"]["provenance"] and any(f"shared their cores with run {held['id']}" in note for note in shown["notes"])


def test_a_second_job_on_the_port_fails_and_the_first_goes_on(bench):
    port = free_port()
    first = [started_as(bench, rank, 2, port, *LONG) for rank in (0, 1)]
    bench.wait_for_step(first[0], 5, 2)
    second = started_as(bench, 0, 2, port, *LONG)
    _, err = finish(second)
    assert second.returncode == 5 and f"127.0.0.1:{port}" in err and "--port" in err
    assert last_run(bench)["state"] == "failed" and "another job" in last_run(bench)["reason"]
    stray = started_as(bench, 1, 2, port, *LONG)
    _, err = finish(stray)
    assert stray.returncode == 1 and "here already" in err
    assert first[0].poll() is None
    first[0].send_signal(signal.SIGINT)
    assert [finish(process) and process.returncode for process in first] == [130, 130]


@pytest.mark.parametrize("checkpoints", [False, True], ids=["at once", "with a checkpoint"])
def test_all_ranks_of_a_preempted_run_end_as_its_launcher(bench, checkpoints):
    """Kubeflow starts pods again by their exit codes."""
    keeps = ["--checkpoint-every", "100000", "--checkpoint-dir", bench.tmp / "kept"] if checkpoints else []
    port = free_port()
    ranks = [started_as(bench, rank, 2, port, *LONG, *keeps, "--data-delay", "2ms") for rank in (0, 1)]
    bench.wait_for_step(ranks[0], 5, 2)
    ranks[0].send_signal(signal.SIGTERM)
    assert [finish(process) and process.returncode for process in ranks] == [130, 130]
    assert last_run(bench)["state"] == "preempted" and ("with a checkpoint" in last_run(bench)["reason"]) == checkpoints


def test_sizes_that_contradict_the_started_ranks_are_refused(bench):
    for said, words in ((["--nodes", 1, "--gpus", 1], "--gpus 1"), (["--gpus", 1], "--gpus 1"), (["--nodes", 2], "--nodes 2")):
        process = started_as(bench, 0, 2, free_port(), *said, *LONG)
        _, err = finish(process)
        assert process.returncode == 2 and f"{words}, but 1 nodes x 2 ranks were started" in err, err
    assert not bench.db.exists()


def test_contradictory_variables_are_both_named(bench):
    process = started_as(bench, 0, 2, free_port(), *LONG, OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2")
    _, err = finish(process)
    assert process.returncode == 2 and "OMPI_COMM_WORLD_RANK is 1" in err and "RANK is 0" in err


@pytest.mark.parametrize("arguments, words", [
    (["--launcher", "pbs"], "--launcher"),
    (["--launcher", "env"], "no rank environment found"),
    (["--partition", "gpu"], "--partition"),
    (["--launcher", "mpirun", "--link", "1gbit"], "--link"),
    (["--launcher", "mpirun", "--interface", "nosuch0"], "nosuch0"),
    (["--launcher", "srun"], "--interface"),
    (["--hosts", "no.such.host.invalid"], "no.such.host.invalid"),
    (["--start-timeout", "0"], "--start-timeout"),
    (["--spans", "some"], "--spans"),
    (["--spans", "sampled"], "--spans"),
])
def test_what_cannot_be_meant_is_refused(bench, arguments, words):
    done = bench("run", *arguments, *LONG)
    assert done.returncode in (2, 5) and words in done.stderr, done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["run", "--launcher", "mpirun", "--link", "1gbit", "--nodes", "2"], "--link"),
    (["run", "--launcher", "mpirun", "--spans", "sampled", "--", "true"], "--spans sampled"),
    (["micro", "--launcher", "mpirun", "--gpus", "2", "--spans", "sampled"], "--spans sampled"),
])
def test_what_a_launcher_cannot_give_is_refused_before_a_run_is_stored(bench, arguments, words):
    done = bench(*arguments)
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert not bench.db.exists() or bench.rows("select count(*) from run")[0][0] == 0
