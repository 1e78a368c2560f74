"""Machines that lack an optional part: what needs it is left out by name, and all else is still there to be built."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("CMAKE", "cmake")


def ninja(build, *tool):
    done = subprocess.run(["ninja", "-C", build, "-t", *tool], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def ninja_version():
    version = subprocess.run(["ninja", "--version"], capture_output=True, text=True).stdout if shutil.which("ninja") else "0.0"
    return tuple(int(number) for number in version.split(".")[:2])


def configured(build, package):
    """What a machine without this package builds: (CMake's summary, every file that the build reads or makes)."""
    done = subprocess.run([CMAKE, "--preset", "release", "-B", build, f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"], cwd=ROOT,
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    # A dry run (`ninja -n`) stops at the check of globbed folders; `-t inputs` walks the same graph.
    files = ninja(build, "inputs", "outside_tests", "unit_tests")
    made = {line.rsplit(": ", 1)[0] for line in ninja(build, "targets", "all")}
    missing = [file for file in files if file not in made and not (build / file).exists()]
    assert not missing, "neither there nor made by a rule"
    return done.stdout, {pathlib.Path(file).name for file in files}


@pytest.mark.skipif(ninja_version() < (1, 11), reason="ninja lists inputs since version 1.11")
@pytest.mark.parametrize("package, parts, modules", [
    ("CUDAToolkit", ["device cuda", "collectives over NCCL", "probe of CUDA kernels"],
     ["device_cuda", "collective_nccl", "cupti_probe", "inject_cupti"]),
    ("OneDNN", ["device cpu"], ["device_cpu"]),
    ("Gloo", ["collectives over Gloo"], ["collective_gloo"]),
    ("MPI", ["collectives over MPI"], ["collective_mpi"]),
])
def test_without_a_package_the_rest_is_built(tmp_path, package, parts, modules):
    summary, files = configured(tmp_path / "build", package)
    for part in parts:
        assert f"WITHOUT {part}" in summary
    for module in modules:
        assert f"ddbench_{module}.so" not in files
    # NCCL's profiler plug-in needs nothing of CUDA's.
    for file in ("ddbench", "ddbench_nccl_profiler.so", "ddbench_cuda_probe.so", "ddbench_inject_cuda.so"):
        assert file in files


def parts(log, word):
    """The optional parts that CMake's summary lists as "with" or "WITHOUT"."""
    return set(re.findall(rf"^--   {word} +([\w -]+\w)", log, re.MULTILINE))


@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_quickstart_explains_itself_and_builds_nothing(tmp_path, words):
    shutil.copy(ROOT / "quickstart", tmp_path)
    done = subprocess.run(["./quickstart", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "./quickstart run --nodes 4 --gpus 4" in done.stdout
    assert "#" not in done.stdout and [f.name for f in tmp_path.iterdir()] == ["quickstart"]


def test_quickstart_finds_packages_that_were_installed_after_the_first_configure(tmp_path):
    clone = tmp_path / "clone"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))

    def quickstart_configure():
        done = subprocess.run(["./quickstart", "--configure"], cwd=clone, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stderr, (clone / "build/release.log").read_text()

    reported, log = quickstart_configure()
    assert "configuring release" in reported
    found = parts(log, "with")
    assert quickstart_configure()[0] == "", "nothing has changed, so nothing is configured"

    # The state that `./quickstart run` leaves on a machine without these packages.
    optional = {"MPI": "libopenmpi-dev", "OneDNN": "libdnnl-dev", "Gloo": "libgloo-dev", "Qt6": "qt6-base-dev"}
    stamp = clone / "build/release/packages"
    present = stamp.read_text().splitlines()
    if not any(line.split()[0] in optional.values() for line in present):
        pytest.skip("dpkg knows none of these packages here")
    shutil.rmtree(clone / "build")
    first = subprocess.run([CMAKE, "--preset", "release", *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in optional)],
                           cwd=clone, capture_output=True, text=True, timeout=600)
    assert first.returncode == 0, first.stderr
    assert {"collectives over MPI", "device cpu", "collectives over Gloo", "ddbench-gui"} <= parts(first.stdout, "WITHOUT")
    stamp.write_text("".join(f"{line}\n" for line in present if line.split()[0] not in optional.values()))

    reported, log = quickstart_configure()
    assert "configuring release again: the installed packages have changed" in reported
    assert parts(log, "with") == found
    assert quickstart_configure()[0] == ""
