"""Machines that lack an optional part: what needs it is left out by name, and all else is still there to be built."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("CMAKE", "cmake")


def configured(build, package):
    """What a machine without this package builds: (summary, targets)."""
    done = subprocess.run([CMAKE, "--preset", "release", "-B", build, f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"], cwd=ROOT,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Every rule's inputs exist or are made by another rule.
    plan = subprocess.run([CMAKE, "--build", build, "--target", "outside_tests", "unit_tests", "--", "-n"], capture_output=True,
                          text=True, timeout=120)
    assert plan.returncode == 0, plan.stdout
    return done.stdout, plan.stdout


@pytest.mark.parametrize("package, parts, modules", [
    ("CUDAToolkit", ["device cuda", "collectives over NCCL", "probe of CUDA kernels"],
     ["device_cuda", "collective_nccl", "cupti_probe", "inject_cupti"]),
    ("OneDNN", ["device cpu"], ["device_cpu"]),
    ("Gloo", ["collectives over Gloo"], ["collective_gloo"]),
    ("MPI", ["collectives over MPI"], ["collective_mpi"]),
])
def test_without_a_package_the_rest_is_built(tmp_path, package, parts, modules):
    summary, plan = configured(tmp_path / "build", package)
    for part in parts:
        assert f"WITHOUT {part}" in summary
    for module in modules:
        assert f"ddbench_{module}.so" not in plan
    # NCCL's profiler plug-in needs nothing of CUDA's.
    for file in ("bin/ddbench", "ddbench_nccl_profiler.so", "ddbench_cuda_probe.so", "ddbench_inject_cuda.so"):
        assert file in plan, file
