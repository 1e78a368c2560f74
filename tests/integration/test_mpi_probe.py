"""Programs over MPI: every kind of collective in C and Fortran, with Open MPI and MPICH, and what is not recorded is noted."""

import json
import shutil
import subprocess

import pytest
from conftest import ROOT

PROGRAMS = ROOT / "tests/integration/programs"
OPEN_MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", 2]
MPICH = ["mpiexec.hydra", "-n", 2]
open_mpi = pytest.mark.skipif(not (shutil.which("mpirun") and shutil.which("mpicc")), reason="Open MPI is not installed")
mpich = pytest.mark.skipif(not (shutil.which("mpiexec.hydra") and shutil.which("mpicc.mpich")), reason="MPICH is not installed")
fortran = pytest.mark.skipif(not shutil.which("gfortran"), reason="gfortran is not installed")


def built(bench, compiler, name, *options):
    program = bench.tmp / name.split(".")[0]
    subprocess.run([compiler, "-O1", "-w", "-o", program, PROGRAMS / name, *options], check=True, cwd=bench.tmp)
    return program


def measured(bench, launcher, program):
    """The run, and what was seen of collectives: their numbers a step by function and bytes."""
    done = bench.ok("run", "--nodes", 1, "--gpus", 2, "--per-node", "--no-baseline", "--json", "--", *launcher, program)
    assert "done" in done.stderr
    run = json.loads(done.stdout)
    collectives = run["collectives"]
    steps = min(c["count"] for c in collectives)
    assert all(c["count"] % steps == 0 for c in collectives), collectives
    assert all(c["communicator_ranks"] == 2 for c in collectives)
    return run, {(c["function"], c["bytes"], c["count"] // steps) for c in collectives}


def note_of_uncovered(run):
    (note,) = (note for note in run["notes"] if note.startswith("not covered"))
    return note


# A line of two ranks: each has one neighbour.
PERSISTENT = {("all_reduce", 1000000, 1), ("broadcast", 400, 1), ("all_gather", 800, 1), ("barrier", 0, 1), ("neighbor_all_gather", 40, 1),
              ("neighbor_all_to_all", 80, 1), ("neighbor_all_to_all", 120, 1), ("gather", 800, 1), ("scan", 160, 1)}


def check_persistent(bench, launcher, program):
    run, seen = measured(bench, launcher, program)
    assert seen == PERSISTENT
    assert not any("not seen on all ranks" in note for note in run["notes"]), "joined, although the ranks start them in different orders"
    assert len(bench.rows("select distinct step from step")) == 30
    note = note_of_uncovered(run)
    for calls in "MPI_Send (62 calls)", "MPI_Recv_init (2 calls)", "MPI_Put (2 calls)", "MPI_Win_fence (4 calls)":
        assert calls in note, note


@open_mpi
def test_persistent_and_neighbourhood_collectives(bench):
    check_persistent(bench, OPEN_MPI, built(bench, "mpicc", "mpi_persistent.c", "-ldl"))


@mpich
def test_persistent_and_neighbourhood_collectives_of_mpich(bench):
    check_persistent(bench, MPICH, built(bench, "mpicc.mpich", "mpi_persistent.c", "-ldl"))


@open_mpi
def test_the_names_of_fortran(bench):
    run, seen = measured(bench, OPEN_MPI, built(bench, "mpicc", "mpi_fortran_names.c", "-lmpi_mpifh"))
    # Of the persistent ones the first is started twice a step.
    assert seen == {("all_reduce", 80, 1), ("all_reduce", 88, 1), ("all_reduce", 96, 1), ("barrier", 0, 1), ("all_reduce", 104, 2),
                    ("all_reduce", 112, 1), ("gather", 240, 1), ("all_to_all", 256, 1)}
    assert "MPI_Send (12 calls)" in note_of_uncovered(run) and "MPI_Recv (12 calls)" in note_of_uncovered(run)


FORTRAN = {("all_reduce", 400, 1), ("all_gather", 800, 1), ("all_reduce", 200, 1), ("broadcast", 120, 1), ("barrier", 0, 2),
           ("reduce", 240, 1), ("all_reduce", 280, 1), ("all_gather", 160, 1)}


@open_mpi
@fortran
def test_a_fortran_program(bench):
    run, seen = measured(bench, OPEN_MPI, built(bench, "mpifort", "mpi_fortran.f90"))
    assert seen == FORTRAN and "MPI_Send (30 calls)" in note_of_uncovered(run)


@mpich
@fortran
def test_a_fortran_program_over_mpich(bench):
    run, seen = measured(bench, MPICH, built(bench, "mpif90.mpich", "mpi_fortran.f90"))
    assert seen == FORTRAN and "MPI_Send (30 calls)" in note_of_uncovered(run)


def test_an_mpi_of_an_unknown_kind_makes_no_valid_run(bench):
    library = bench.tmp / "libsomempi.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, PROGRAMS / "mpi_unknown.c"], check=True)
    source = bench.tmp / "program.c"
    source.write_text("int MPI_Allreduce(const void*, void*, int, void*, void*, void*);\n"
                      "int main(void) { for (int i = 0; i < 50; ++i) MPI_Allreduce(0, 0, 1, 0, 0, 0); return 0; }\n")
    program = bench.tmp / "program"
    subprocess.run(["cc", "-o", program, source, library, f"-Wl,-rpath,{bench.tmp}"], check=True)
    done = bench("run", "--nodes", 2, "--no-baseline", "--json", "--", program)
    run = json.loads(done.stdout)
    assert not run["run"]["valid"]
    assert any("the program uses Some MPI 7.1, whose handles ddbench does not know" in note for note in run["notes"]), run["notes"]
