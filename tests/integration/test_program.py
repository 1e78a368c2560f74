"""Programs that ddbench did not write: real PyTorch, unmodified, its steps and collectives seen from outside."""

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
from conftest import HANGS_S, ROOT, environ_of, pids_marked, wait_until

PYTHON = sys.executable
DDP = [PYTHON, ROOT / "tests/integration/programs/ddp_mlp.py"]
COLLECTIVES = [PYTHON, ROOT / "tests/integration/programs/collectives.py"]
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")


# What is found from outside alone, as in programs without Python.
OUTSIDE = ("--nodes", 2, "--no-python-marks")


def measured(bench, *arguments, options=("--nodes", 2), expect_stderr=""):
    done = bench.ok("run", *options, "--no-baseline", "--json", "--", *arguments)
    assert expect_stderr in done.stderr
    return json.loads(done.stdout)


def facts(bench):
    (text,) = bench.rows("select facts_json from run")[0]
    return json.loads(text)


@needs_torch
def test_ddp_is_measured_like_a_reference_workload(bench):
    done = bench.ok("run", "--nodes", 2, "--batch-per-gpu", 64, "--baseline", "--json", "--", *DDP, "--steps", 40)
    assert "[rank 1] rank 1 loss" in done.stderr
    run = json.loads(done.stdout)
    assert run["run"]["state"] == "done" and run["run"]["workload"] == "program"
    parts = run["partition_ns"]
    assert parts["exposed_transfer"] > 0 and parts["host"] > 0
    assert parts["compute"] > 0, "its matrix products were seen"
    assert run["cpu_wait_ns"] == parts["cpu_wait"], "measured on both ranks"
    # 784 x 512, 512 x 512 and 512 x 10 with their biases in PyTorch's buckets: what is reduced is every gradient, once.
    assert sum(c["bytes"] for c in run["collectives"]) == 4 * (785 * 512 + 513 * 512 + 513 * 10)
    assert {c["function"] for c in run["collectives"]} == {"all_reduce"}
    gradients = (10, 512 * 10, 512, 512 * 512, 512, 784 * 512)
    assert run["environment"]["facts"]["workload.gradient_bytes"] == ", ".join(str(4 * elements) for elements in gradients)
    assert run["efficiency"]["value"] > 0, "against the same program on one rank"
    logs = sorted((bench.db.parent / (bench.db.name + ".logs") / run["run"]["id"]).iterdir())
    assert [log.name for log in logs] == [".ddbench", "rank0.log", "rank1.log"]
    assert logs[2].read_text().startswith("rank 1 loss")
    steps = bench.rows("select distinct step from step where run_key = (select run_key from run where id = ?)",
                       run["run"]["id"])
    assert len(steps) == 40


@needs_torch
def test_the_partition_of_every_step_sums_to_it(bench):
    measured(bench, *DDP, "--steps", 20)
    columns = [r[1] for r in bench.rows("pragma table_info(step)")]
    parts = [c for c in columns if c.endswith("_ns") and c not in
             {"begin_ns", "duration_ns", "communication_ns", "overlap_ns", "peer_wait_ns", "peer_wait_uncertainty_ns"}]
    rows = bench.rows(f"select duration_ns, {' + '.join(parts)} from step")
    assert len(rows) == 2 * 20 and all(duration == total for duration, total in rows)


@needs_torch
def test_torch_profiler_sees_the_same_all_reduces(bench):
    profile = bench.tmp / "profile"
    run = measured(bench, *DDP, "--steps", 30, "--hidden", 1024, "--profile", profile)
    trace = bench.tmp / "trace.json"
    bench.ok("report", run["run"]["id"], "--format", "perfetto", "-o", trace)
    events = json.loads(trace.read_text())["traceEvents"]
    for rank in range(2):
        ours = [e for e in events if e.get("name") == "all_reduce" and e["ph"] == "X" and e["pid"] == rank + 1]
        theirs = json.loads((bench.tmp / f"profile.{rank}.json").read_text())
        theirs = theirs if isinstance(theirs, list) else theirs["traceEvents"]
        theirs = [e for e in theirs if e.get("name") == "gloo:all_reduce"]
        assert len(ours) == len(theirs) == 1 + 2 * 29


@needs_torch
def test_accumulation_is_one_step(bench):
    measured(bench, *DDP, "--steps", 15, "--accumulate", 3, options=OUTSIDE)
    # All but the first: DDP arranges its buckets anew after it.
    assert len(bench.rows("select distinct step from step")) == 14


@needs_torch
def test_evaluations_are_no_steps(bench):
    measured(bench, *DDP, "--steps", 30, "--evaluate-every", 7, options=OUTSIDE)
    assert facts(bench)["program.steps_from"] == "pattern"
    assert len(bench.rows("select distinct step from step")) in range(25, 30)
    assert {r[0] for r in bench.rows("select bytes from collective")} == {1071144, 1607680}, "the buckets alone"


@needs_torch
def test_checkpoints_are_no_steps(bench):
    """Recognised by the files that rank 0 opens to write them; a step that is slow for another reason stays one."""
    measured(bench, *DDP, "--steps", 30, "--checkpoint-every", 9, "--checkpoint", bench.tmp / "model", options=OUTSIDE)
    assert len(bench.rows("select distinct step from step")) == 29 - 3


@needs_torch
def test_every_kind_of_collective_is_seen(bench):
    run = measured(bench, *COLLECTIVES, options=("--nodes", 1, "--gpus", 3))
    # torch's barrier is one of Gloo's; what a collective moves is counted as nccl-tests count it.
    seen = {(c["function"], c["bytes"]) for c in run["collectives"]}
    assert seen >= {("all_reduce", 4000), ("broadcast", 4000), ("reduce", 4000), ("all_gather", 6000),
                    ("gather", 3000), ("scatter", 1500), ("barrier", 0)}, seen
    assert len(bench.rows("select distinct step from step")) in range(8, 13)


@needs_torch
def test_loaders_that_fork_and_children_that_exec_do_not_matter(bench):
    program = bench.tmp / "loaders.py"
    program.write_text(textwrap.dedent("""
        import subprocess, torch, torch.distributed as dist
        from torch.utils.data import DataLoader, TensorDataset
        dist.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 8))
        loader = DataLoader(TensorDataset(torch.randn(240, 64)), batch_size=8, num_workers=2)
        subprocess.run(["true"], check=True)
        for epoch in range(2):
            for (inputs,) in loader:
                (inputs @ torch.ones(64, 64)).sum()
                model(inputs).sum().backward()
        dist.destroy_process_group()
        """))
    measured(bench, PYTHON, program)
    assert len(bench.rows("select distinct step from step")) in range(57, 61)


MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", 2]
needs_mpi = pytest.mark.skipif(not (shutil.which("mpirun") and shutil.which("mpicc")), reason="Open MPI is not installed")


def compiled(bench, name):
    program = bench.tmp / name
    subprocess.run(["mpicc", "-O1", "-o", program, ROOT / f"tests/integration/programs/{name}.c"], check=True)
    return program


@needs_mpi
def test_arguments_without_a_meaning_are_not_read(bench):
    program = compiled(bench, "mpi_in_place")
    run = measured(bench, *MPIRUN, program, options=("--nodes", 1, "--gpus", 2, "--per-node"), expect_stderr="done")
    seen = {(c["function"], c["bytes"]) for c in run["collectives"]}
    assert seen == {("gather", 800), ("scatter", 800), ("all_gather", 800), ("all_to_all", 800)}


@needs_mpi
def test_nonblocking_collectives_last_until_they_are_seen_complete(bench):
    program = compiled(bench, "mpi_nonblocking")
    run = measured(bench, *MPIRUN, program, options=("--nodes", 1, "--gpus", 2, "--per-node"), expect_stderr="done")
    assert len(bench.rows("select distinct step from step")) in range(8, 13), "a step begins with the broadcast"
    seen = {(c["function"], c["bytes"]) for c in run["collectives"]}
    reduced = {("all_reduce", 4 * elements) for elements in (10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42, 77)}
    assert seen == reduced | {
        ("broadcast", 400), ("reduce", 400), ("barrier", 0), ("all_gather", 1600), ("all_to_all", 1200),
        ("reduce_scatter", 2400), ("reduce_scatter", 800), ("gather", 400), ("scatter", 480), ("all_gather", 800),
        ("all_to_all", 800)}
    # Each counted once a step, however its end was seen.
    assert len({c["count"] for c in run["collectives"]}) == 1, run["collectives"]
    # The program computed for 5 ms before it waited for this one.
    assert next(c["duration_ns"] for c in run["collectives"] if c["bytes"] == 4 * 77) > 4.5e6


@needs_mpi
def test_communicators_of_mpi_are_not_pooled(bench):
    program = compiled(bench, "mpi_groups")
    run = measured(bench, *MPIRUN[:-1], 4, program, options=("--nodes", 1, "--gpus", 4, "--per-node"), expect_stderr="done")
    collectives = [c for c in run["collectives"] if c["bytes"] > 40]  # those before the steps may be in the first one
    seen = {(c["bytes"], c["communicator"].split(", communicator")[0], c["communicator_ranks"]) for c in collectives}
    groups = {(8000, f"ranks {ranks}", 2) for ranks in ("0-1", "2-3", "0,2", "1,3")}
    assert seen == groups | {(200000, "", 4)} and len(collectives) == 5
    for collective in collectives:
        factor = 1.5 if collective["communicator_ranks"] == 4 else 1  # 2 (n - 1) / n
        assert collective["busbw"] == pytest.approx(factor * collective["algbw"])
    assert len({c["count"] for c in collectives}) == 1
    text = bench.ok("show", "last").stdout
    assert "ranks 2-3" in text and "all ranks" in text


@needs_mpi
def test_a_c_program_over_mpi(bench):
    program = compiled(bench, "mpi_training")
    run = measured(bench, *MPIRUN, program, options=("--nodes", 1, "--gpus", 2, "--per-node"))
    seen = {(c["function"], c["bytes"]) for c in run["collectives"]}
    assert seen == {("all_reduce", 200000), ("all_reduce", 4000)}, "and the loss of every tenth step in no step"
    assert run["partition_ns"]["exposed_transfer"] > 0
    assert run["cpu_wait_ns"] == run["partition_ns"]["cpu_wait"], "measured where one thread does all"
    assert len(bench.rows("select distinct step from step")) in range(34, 41)
    assert bench.rows("select count(distinct rank) from step")[0][0] == 2


@needs_mpi
@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="python3-mpi4py is not installed")
def test_mpi4py(bench):
    program = bench.tmp / "mpi4py_training.py"
    program.write_text(textwrap.dedent("""
        from array import array
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        pair = world.Split(0, world.rank)
        for step in range(20):
            gradient = array("f", [world.rank] * 5000)
            sum(range(20000))
            world.Allreduce(MPI.IN_PLACE, gradient)
            assert gradient[0] == 1
            pair.Bcast(gradient, 0)
            world.Barrier()
        """))
    run = measured(bench, *MPIRUN, PYTHON, program, options=("--nodes", 1, "--gpus", 2, "--per-node"))
    seen = {(c["function"], c["bytes"]) for c in run["collectives"]}
    assert seen == {("all_reduce", 20000), ("broadcast", 20000), ("barrier", 0)}
    assert len(bench.rows("select distinct step from step")) in range(15, 21)


@needs_torch
def test_torchrun_starts_the_ranks_of_each_node(bench):
    # Debian's PyTorch 1.13 cannot parse its own default for these two with Python 3.11.
    streams = "--redirects=1 --tee=1"
    torchrun = (f"exec {PYTHON} -m torch.distributed.run --nnodes=$NNODES --node_rank=$NODE_RANK "
                f"--nproc_per_node=$LOCAL_WORLD_SIZE --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT "
                f"{streams} {DDP[1]} --steps 20")
    run = measured(bench, "sh", "-c", torchrun, options=("--nodes", 2, "--gpus", 2, "--per-node"))
    assert sum(c["bytes"] for c in run["collectives"]) == 4 * (785 * 512 + 513 * 512 + 513 * 10)
    assert bench.rows("select count(distinct rank) from step")[0][0] == 4
    assert len(bench.rows("select distinct step from step")) == 20


def test_output_of_a_program_per_node_is_labelled_by_node(bench):
    done = bench("run", "--nodes", 2, "--gpus", 2, "--per-node", "--no-baseline", "--", "sh", "-c", "echo $NODE_RANK")
    assert sorted(line for line in done.stderr.splitlines() if line.startswith("[")) == ["[node 0] 0", "[node 1] 1"]


def test_a_line_that_is_too_long_is_shown_in_pieces(bench):
    done = bench("run", "--gpus", 1, "--", sys.executable, "-c", "print('x' * 3_000_000); print('the end')")
    shown = done.stdout + done.stderr
    assert shown.count("xxxx") == 750_000, "all of it, once"
    assert "[rank 0] the end" in shown
    many = bench("run", "--gpus", 1, "--", sys.executable, "-c", "for i in range(200_000): print('line', i)")
    assert [line for line in (many.stdout + many.stderr).splitlines() if "[rank 0] line" in line] == [f"[rank 0] line {i}" for i in range(200_000)]


def test_per_node_is_for_programs(bench):
    done = bench("run", "--nodes", 2, "--per-node")
    assert done.returncode == 2 and "--per-node" in done.stderr


@needs_torch
def test_marked_steps_win(bench):
    program = bench.tmp / "marked.py"
    program.write_text(textwrap.dedent("""
        import ctypes, torch, torch.distributed as dist
        mark = ctypes.CDLL(None).ddbench_step
        dist.init_process_group("gloo")
        for step in range(10):
            for _ in range(1 + step % 3):
                dist.all_reduce(torch.ones(1000 + step))
            mark()
        dist.destroy_process_group()
        """))
    measured(bench, PYTHON, program)
    assert facts(bench)["program.steps_from"] == "marker"
    assert len(bench.rows("select distinct step from step")) == 9


@needs_torch
def test_what_was_recorded_before_the_end_is_kept(bench):
    """A program that receives SIGTERM, and does so by the signal's own action, runs no exit handlers."""
    process = bench.start("run", "--nodes", 1, "--gpus", 2, "--no-baseline", "--", *DDP, "--steps", 100000)
    wait_until(lambda: sum(size > 200000 for size in bench.spool_sizes()) == 2, HANGS_S, "both ranks have recorded some steps")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    assert bench.rows("select state from run")[0][0] == "interrupted"
    assert len(bench.rows("select distinct step from step")) > 10


def test_a_program_that_fails_is_reported_with_its_last_words(bench):
    script = 'echo started; if [ "$RANK" = 1 ]; then sleep 1; echo "no such file: data.bin" >&2; exit 3; fi; sleep 100'
    done = bench("run", "--nodes", 1, "--gpus", 2, "--no-baseline", "--", "sh", "-c", script)
    assert done.returncode == 1
    assert "rank 1" in done.stdout and "exited with code 3" in done.stdout and "no such file: data.bin" in done.stdout
    assert "[rank 0] started" in done.stderr


def test_a_program_without_collectives_is_reported_and_not_averaged(bench):
    done = bench("run", "--nodes", 1, "--gpus", 2, "--no-baseline", "--json", "--", "true")
    assert done.returncode == 1
    run = json.loads(done.stdout)
    assert run["run"]["state"] == "done"
    (valid, reason), = [tuple(r) for r in bench.rows("select valid, invalid_reason from run")]
    assert valid == 0 and "no collective" in reason


def skip_without_namespaces(done):
    if "share this machine's loopback" in done.stderr:
        pytest.skip("no network namespaces here: the ranks have this machine's ports and interfaces")


def test_ranks_know_their_places_as_with_torchrun(bench):
    script = "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK $GROUP_RANK $MASTER_PORT"
    done = bench("run", "--nodes", 2, "--gpus", 2, "--no-baseline", "--", "sh", "-c", script)
    skip_without_namespaces(done)
    lines = sorted(line for line in done.stderr.splitlines() if line.startswith("[rank"))
    assert lines == [f"[rank {r}] {r} 4 {r % 2} 2 {r // 2} {r // 2} 29500" for r in range(4)]


def test_the_network_asked_for_is_passed_to_nccl(bench):
    script = "echo $NCCL_NET $NCCL_IB_DISABLE $NCCL_SOCKET_IFNAME"
    done = bench("run", "--nodes", 2, "--network", "ethernet", "--no-baseline", "--", "sh", "-c", script)
    skip_without_namespaces(done)
    assert sorted(line for line in done.stderr.splitlines() if line.startswith("[rank")) == [
        "[rank 0] Socket 1 eth0", "[rank 1] Socket 1 eth0"]


@needs_torch
def test_a_sweep_of_a_program_has_a_scaling_table(bench):
    done = bench.ok("sweep", "--nodes", "1,2", "--link", "none,1gbit", "--batch-per-gpu", 64, "--quiet", "--json", "--",
                    *DDP, "--steps", 16)
    rows = json.loads(done.stdout)["rows"]
    assert [row["world_size"] for row in rows] == [1, 2, 2]
    assert rows[0]["efficiency"] == 1 and all(row["efficiency"] > 0 for row in rows)


@pytest.mark.parametrize("option", [("--strategy", "zero1"), ("--global-batch", "64,128"), ("--lr", "0.1,0.2")],
                         ids=lambda option: option[0])
def test_a_sweep_cannot_vary_what_the_program_decides(bench, option):
    done = bench("sweep", "--nodes", "1,2", *option, "--", "true")
    assert done.returncode == 2 and option[0] in done.stderr, done.stderr


@pytest.mark.parametrize("command, words", [
    (["no-such-program-here"], ["no-such-program-here", "PATH"]),
    ([ROOT / "README.md"], ["README.md", "Permission denied"]),
    (["./missing.py"], ["./missing.py"]),
], ids=["unknown", "not executable", "missing"])
def test_what_cannot_be_executed_is_refused_before_anything_starts(bench, command, words):
    done = bench("run", "--nodes", 2, "--", *command)
    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr
    assert not bench.db.exists() or not bench.rows("select 1 from run")


def test_a_global_batch_cannot_be_set_for_a_program(bench):
    done = bench("run", "--nodes", 2, "--global-batch", 64, "--", "true")
    assert done.returncode == 2 and "--batch-per-gpu" in done.stderr


def test_threads_with_small_stacks_start(bench):
    """What is loaded into a program takes thread-local storage from each of its threads' stacks."""
    script = bench.tmp / "threads.py"
    script.write_text("import threading\nthreading.stack_size(32768)\nthread = threading.Thread(target=print, args=('started',))\n"
                      "thread.start()\nthread.join()\n")
    done = bench("run", "--", PYTHON, script)
    assert "started" in done.stdout + done.stderr and "can't start new thread" not in done.stderr


@needs_torch
def test_a_stopped_process_of_a_program_is_named_with_its_collective(bench):
    process = bench.start("run", "--nodes", 1, "--gpus", 2, "--no-baseline", "--grace", 1, "--timeout", 6, "--", *DDP, "--steps", 100000)
    said = []
    listener = threading.Thread(target=lambda: said.extend(iter(process.stderr.readline, "")), daemon=True)
    listener.start()
    wait_until(lambda: any("steps seen" in line for line in said), HANGS_S, "steps are seen")
    victim, = [pid for pid in program_processes(bench, DDP[1]) if b"RANK=1" in environ_of(pid)]
    os.kill(victim, signal.SIGSTOP)
    wait_until(lambda: any("hang: " in line for line in said), HANGS_S, "the hang is reported")
    assert process.wait(timeout=HANGS_S) == 1
    run, = bench.rows("select state, reason from run")
    assert run["state"] == "failed" and "rank 1 is stopped" in run["reason"] and "all_reduce #" in run["reason"], run["reason"]
    assert not list(program_processes(bench, DDP[1])), "no process of the program is left"
    hang, = [line for line in said if "hang: " in line]
    assert "rank 1" in hang and "all_reduce #" in hang and "(all ranks)" in hang, hang


def program_processes(bench, script):
    for pid in pids_marked(bench.mark):
        try:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(script).encode() in command and b"python" in command[0]:
            yield pid
