"""The secret of a run is on no command line, in no file and in no program's environment."""

import os
import pathlib
import signal

from conftest import EXECUTABLE, pids_marked
from ports import free_port
from test_launchers import (LONG, TOKEN, finish, hosts, in_slurm, needs_mpirun, slurm, start,  # noqa: F401
                            started_as)


def command_lines():
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            yield pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            pass


def secret_of(pids):
    for pid in pids:
        try:
            variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for variable in variables:
            if variable.startswith(b"DDBENCH_TOKEN="):
                return variable.split(b"=", 1)[1]
    return None


def check_secrecy(bench, process, world_size):
    bench.wait_for_step(process, 2, world_size)
    secret = secret_of(pids_marked(bench.mark))
    assert secret and len(secret) == 32
    shown = [line for line in command_lines() if secret in line]
    assert not shown, shown
    process.send_signal(signal.SIGINT)
    finish(process)
    for file in bench.tmp.rglob("*"):
        if file.is_file():
            assert secret not in file.read_bytes(), file


def test_mpirun_shows_the_secret_on_no_command_line(bench, hosts):  # noqa: F811
    process = start(bench, *hosts.prefix, EXECUTABLE, "run", *hosts.options, "--nodes", 2, "--gpus", 2, *LONG)
    check_secrecy(bench, process, 4)


def test_srun_shows_the_secret_on_no_command_line(in_slurm):  # noqa: F811
    bench = in_slurm
    process = start(bench, EXECUTABLE, "run", "--launcher", "srun", "--interface", "lo", "--nodes", 2, "--gpus", 2, *LONG)
    check_secrecy(bench, process, 4)


@needs_mpirun
def test_programs_do_not_inherit_the_secret(bench):
    program = ["--", "sh", "-c", "env | grep -c DDBENCH_TOKEN; true"]
    # A run of a program without collectives is not valid; it ran.
    done = bench("run", "--launcher", "mpirun", "--launcher-args", "--allow-run-as-root --oversubscribe", "--gpus", 2,
                    "--no-baseline", *program)
    assert sorted(line for line in done.stderr.splitlines() if line.startswith("[rank")) == ["[rank 0] 0", "[rank 1] 0"]
    port = free_port()
    zero, one = (started_as(bench, rank, 2, port, *program, DDBENCH_TOKEN=TOKEN) for rank in (0, 1))
    _, err = finish(zero)
    finish(one)
    assert sorted(line for line in err.splitlines() if line.startswith("[rank")) == ["[rank 0] 0", "[rank 1] 0"]
