"""Mistakes a user makes: each message states what is wrong and what is allowed, with exit code 2 (or 5) and no
trace."""

import json
import os
import pathlib
import pwd
import socket
import subprocess

import pytest

from conftest import EXECUTABLE, SMALL

WRONG = [
    (["import", "spool", "."], ['no command "import spool"', "auto, table, nccl-tests, spools"]),
    (["import", __file__], [f"`ddbench import auto {__file__}` recognises it"]),
    (["db", "compact"], ['no command "db compact"', "merge, export, create, collect, prune, recover, check"]),
    (["run", "--nodes", "0"], ["nodes", "0", "1 to"]),
    (["run", "--nodes", "-3"], ["nodes", "-3"]),
    (["run", "--nodes", "two"], ['--nodes expects an integer, got "two"', "Try: ddbench run --help"]),
    (["run", "--gpus", "99999999999999"], ["--gpus 99999999999999 is too large a number"]),
    (["run", "--max-time", "5s"], ['--max-time expects a number without a unit, got "5s"']),
    (["run", "--max-time", "soon"], ['--max-time expects a number, got "soon"']),
    (["run", "--nodes"], ["--nodes needs a value"]),
    (["gate", "--run", "--gpus 2"], ["--run needs 2 values"]),
    (["gate", "--run", "--gpus 4", "--gpus 8", "extra"], ['"ddbench gate" does not take "extra"']),
    (["gate", "--run", "--gpus 4", "--gpus 8", "--pair", "3"], ["no option --pair; did you mean --pairs?"]),
    (["db", "--zebra", "check"], ["no option --zebra"]),
    (["run", "--gpus", "1", "--steps", "2", "--db", ""], ["--db: the path is empty"]),
    (["--zebra", "list"], ["no option --zebra"]),
    (["run", "--backend", "glo"], ['--backend is "glo", but it must be one of auto, gloo, nccl, mpi; did you mean gloo?']),
    (["list", "--limit", "-5"], ["--limit is -5, but it must be 0 or more"]),
    (["predict", "x", "--nodes", "0"], ["--nodes", "0"]),
    (["db", "collect", "x", "--keep", "0"], ["--keep is 0, but it must be positive"]),
    (["db", "collect", "x", "--keep-days", "40000"], ["--keep-days is 40000, but it must be from 1 to 36500"]),
    (["list", "--price", "x=1"], ["--price is of `list skus`; `list runs` takes no such option"]),
    (["list", "runs", "--skus", "x.toml"], ["--skus is of `list skus`"]),
    *[(["list", what, option, "1"], [f"{option} is of `list runs`; `list {what}` takes no such option"])
      for what in ("workloads", "strategies", "skus") for option in ("--limit", "--db", "--job")],
    *[(["list", what, option, "x"], [f"{option} is of `list skus`"]) for what in ("workloads", "strategies") for option in ("--price", "--skus")],
    (["serve", "--port", "-1"], ["--port"]),
    (["run", "--emit-nothing"], ["no option --emit-nothing"]),
    (["run", "--job-time", "30"], ["--job-time needs --emit"]),
    (["gui", "--demo", "--db", "x"], ["--db cannot be combined with --demo"]),
    (["gui", "extra"], ['"ddbench gui" does not take "extra"\n']),
    (["show", "one", "two"], ['"ddbench show" does not take "two"; it takes: ddbench show RUN']),
    (["baseline", "set", "main"], ["missing REF: ddbench baseline set NAME REF"]),
    (["import", "kineto"], ["missing FILES: ddbench import kineto FILES"]),
    (["completion"], ["missing SHELL: ddbench completion SHELL"]),
    (["completion", "tcsh"], ['SHELL is "tcsh", but it must be one of bash, fish, zsh']),
    (["db"], ['"ddbench db" needs a command: merge, ']),
    (["explain", "peer wiat"], ['did you mean "peer wait"?']),
    (["report", "-o", "chart.svg"], ["ddbench scaling --svg chart.svg"]),
    (["report", "-o", "results.xml"], ["ddbench gate --junit results.xml"]),
    (["run", "--node", "2"], ["no option --node; did you mean --nodes?"]),
    (["report", "last", "--fromat", "html"], ["no option --fromat; did you mean --format?"]),
    (["show", "--zebra"], ['"ddbench show" has no option --zebra\n']),
    (["import", "nccl-tests", str(pathlib.Path(__file__).parents[1] / "fuzz/corpus/nccl_tests/too_large_a_number.json")],
     ["too_large_a_number.json", "1e999"]),
    (["rnu"], ['did you mean "run"?']),
    (["db", "chek"], ['did you mean "db check"?']),
    (["run", "--steps", "0"], ["steps", "0"]),
    (["run", "--warmup", "-1"], ["warmup", "-1"]),
    (["run", "--lr", "nan"], ["lr", "nan"]),
    (["run", "--lr", "0"], ["lr", "0", "positive"]),
    (["run", "--momentum", "1.5"], ["momentum", "1.5"]),
    (["run", "--batch-per-gpu", "0"], ["batch", "0"]),
    (["run", "--global-batch", "7", "--nodes", "2"], ["7", "multiple", "2"]),
    (["run", "--global-batch", "8", "--batch-per-gpu", "8"], ["global-batch", "batch-per-gpu"]),
    (["run", "--bucket-mb", "0"], ["bucket-mb", "0"]),
    (["run", "--bucket-mb", "inf"], ["bucket-mb", "inf"]),
    (["run", "--strategy", "horovod", "--bucket-mb", "5"], ["--bucket-mb has no effect", "horovod", "-S fusion_mb="]),
    (["sweep", "--gpus", "2", "--strategy", "ddp,mirrored", "--bucket-mb", "1,5"], ["--bucket-mb has no effect", "mirrored", "-S pack_mb="]),
    (["run", "--prefetch", "4"], ["--prefetch has no effect", "--data-workers N"]),
    (["sweep", "--prefetch", "2,4", "--data-workers", "0"], ["--prefetch has no effect", "--data-workers N"]),
    (["run", "--base-batch", "64"], ["--base-batch has no effect", "--lr-rule"]),
    (["run", "--checkpoint-dir", "kept"], ["--checkpoint-dir has no effect", "--checkpoint-every K"]),
    (["gate", "--run", "--gpus 2", "--gpus 2 --prefetch 4"], ["--prefetch has no effect"]),
    (["run", "--link", "fast", "--nodes", "2"], ["link", "fast", "2.5gbit"]),
    (["run", "--link", "-1gbit", "--nodes", "2"], ["link", "-1gbit"]),
    (["run", "--workload", "resnet9000"], ["resnet9000", "mlp"]),
    (["run", "-O", "hidden=0"], ["hidden", "0"]),
    (["run", "-O", "hidden=a,b"], ["hidden"]),
    (["run", "-O", "depth=3"], ["depth", "hidden"]),
    (["run", "-O", "hidden"], ["hidden", "key=value"]),
    (["run", "--device", "tpu"], ["tpu", "cpu"]),
    (["run", "--backend", "smoke-signals"], ["smoke-signals", "gloo"]),
    (["run", "--device", "cpu", "--backend", "nccl", "--gpus", "2"], ["nccl", "GPUs", "--backend gloo"]),
    (["run", "--device", "cuda", "--backend", "gloo", "--gpus", "2"], ["gloo", "--backend nccl"]),
    (["run", "--device", "cpu", "--precision", "tf32"], ["tf32", "--device cuda"]),
    (["run", "--device", "cpu", "--cuda-graph", "off"], ["--cuda-graph", "--device cuda"]),
    (["run", "--device", "cpu", "--precision", "fp16"], ["fp16", "--device cuda"]),
    (["run", "--loss-scale", "big"], ["loss-scale", "big", "dynamic"]),
    (["run", "--gpus", "2", "--backend", "mpi"], ["mpi", "--launcher mpirun"]),
    (["run", "--repeat", "0"], ["repeat", "0"]),
    (["run", "--timeout", "0"], ["timeout", "0"]),
    (["run", "--data", "/nonexistent"], ["/nonexistent"]),
    (["run", "--seed", "minus one"], ["seed"]),
    (["run", "--nodez", "2"], ["nodez"]),
    (["run", "stray"], ["stray"]),
    (["sweep", "--nodes", "1,0"], ["nodes", "0"]),
    (["sweep", "--nodes", "1,,2"], ["nodes"]),
    (["sweep", "--global-batch", "8", "--nodes", "3"], ["8", "3"]),
    (["frobnicate"], ["frobnicate"]),
    ([], ['"ddbench" needs a command: run, ']),
    (["show"], ["results.db"]),
    (["list"], ["results.db"]),
]


@pytest.mark.parametrize("arguments, words", WRONG, ids=[" ".join(a) or "nothing" for a, _ in WRONG])
def test_mistake_is_explained(bench, arguments, words):
    done = bench(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert all(word in done.stderr for word in words), done.stderr
    assert "internal error" not in done.stderr
    assert not bench.db.exists(), "a refused command line must not create a store"


needs_no_gpu = pytest.mark.skipif(pathlib.Path("/dev/nvidiactl").exists(), reason="this machine has a GPU")


@needs_no_gpu
def test_what_this_build_cannot_do_is_exit_code_5(bench):
    done = bench("run", "--device", "cuda")
    assert done.returncode == 5
    assert "cuda" in done.stderr.lower()


@needs_no_gpu
def test_device_tests_say_that_there_is_no_gpu():
    script = pathlib.Path(__file__).resolve().parents[1] / "device/run.sh"
    done = subprocess.run([script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5 and "no GPU" in done.stderr


def test_more_ranks_than_memory_allows(bench):
    done = bench("run", "--nodes", 16, "--gpus", 1024)
    assert done.returncode == 5
    assert "memory" in done.stderr and "16384" in done.stderr
    assert not bench.db.exists()


def test_unknown_run_names_what_there_is(bench):
    bench.ok("run", "--no-baseline", "--steps", 5, "-O", "hidden=16", "--quiet", "--name", "known")
    done = bench("show", "nothing-like-it")
    assert done.returncode == 2
    assert "nothing-like-it" in done.stderr and "known" in done.stderr


def test_runs_are_listed_by_user_job_and_host(bench):
    bench.environment["PBS_JOBID"] = "77.server"
    run = bench.run_json("--no-baseline", "--launcher", "local", *SMALL, "--name", "ours")["run"]["id"]
    del bench.environment["PBS_JOBID"]
    bench.run_json("--no-baseline", *SMALL, "--name", "newer")
    user = pwd.getpwuid(os.geteuid()).pw_name

    def listed(*options):
        return [row["id"] for row in json.loads(bench.ok("list", "--json", *options).stdout)]
    assert listed("--job", "77.server") == listed("--job", "pbs 77.server") == [run]
    assert listed("--job", "7") == listed("--user", "nobody-like-it") == listed("--host", "nowhere") == []
    assert len(listed("--user", user, "--host", socket.gethostname())) == 2
    assert listed("--user", user, "--job", "77.server", "--limit", 1) == [run], "the limit counts what is listed"
    assert len(listed("--user", user, "--limit", 1)) == 1


def test_a_closed_pipe_is_no_failure(bench):
    process = bench.start("list", "workloads")
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    process.stderr.close()


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["sweep", "--help"], ["--version"]])
def test_help_is_success(bench, arguments):
    assert "ddbench" in bench.ok(*arguments).stdout.lower() or "--" in bench.ok(*arguments).stdout


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["show", "--help"], ["--version"], ["list", "workloads"]])
def test_a_full_disk_is_noticed(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([EXECUTABLE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "cannot write the output" in done.stderr, done.stderr


def test_doctor_answers_everywhere(bench):
    text = bench.ok("doctor").stdout
    for what in ("cores", "memory", "GPUs", "NCCL", "Gloo", "MPI", "Slurm", "InfiniBand", "namespaces", "governor"):
        assert what in text
    assert "write-ahead log" in text or "rollback journal" in text  # the latter on a file system of several machines


def test_the_change_to_gloo_can_be_turned_off_and_is_stored(bench):
    for setting, stored, line in ((None, "on", "ok  Gloo's lock patch"), ("off", "off", "--  Gloo's lock patch")):
        if setting:
            bench.environment["DDBENCH_GLOO_TRYLOCK_PATCH"] = setting
        assert line in bench.ok("doctor").stdout
        run = bench.run_json("--gpus", "2", *SMALL)
        assert run["environment"]["facts"]["gloo.trylock_patch"] == stored


@pytest.mark.parametrize("kib", [64, 128, 255])
def test_a_stack_that_is_too_small_is_said(bench, kib):
    done = subprocess.run(["sh", "-c", f"ulimit -s {kib}; exec {EXECUTABLE} list"], capture_output=True, text=True)
    assert done.returncode == 5
    assert done.stderr == "ddbench: the limit of the stack (`ulimit -s`) is below 256 KiB: raise it\n"


def test_columns_is_the_width_of_what_is_piped(bench):
    (bench.tmp / "t.csv").write_text("gpus,throughput,name\n2,100," + "long" * 20 + "\n")
    bench.ok("import", "table", bench.tmp / "t.csv")
    for columns, width in (("60", 60), ("200", 200)):
        bench.environment["COLUMNS"] = columns
        longest = max(len(line) for line in bench.ok("list").stdout.splitlines())
        assert longest <= width and (longest > 100) == (width == 200)
    bench.environment["COLUMNS"] = "none"
    row = bench.ok("list").stdout.splitlines()[1]
    assert "long" * 20 in row and "…" not in row, "nothing is shortened or left out for a pipe"
