"""The wheel: installed in a virtual environment of its own, used there, and removed with all of its files."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import EXECUTABLE, ROOT, SMALL

BUILD = pathlib.Path(EXECUTABLE).resolve().parents[1]


def output_of(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_below(folder):
    return {path for path in folder.rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}


def test_a_wheel_is_installed_used_and_removed(bench, tmp_path):
    for tool in ("patchelf", "ldd", "objdump", "dpkg"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    pytest.importorskip("wheel")
    pytest.importorskip("ensurepip")
    wheel = output_of(sys.executable, ROOT / "cmake/packages/make_wheel.py", BUILD, tmp_path / "wheels").splitlines()[-1]
    place = tmp_path / "environment"
    output_of(sys.executable, "-m", "venv", place)
    before = files_below(place)
    output_of(place / "bin/pip", "install", "--no-index", wheel)

    installed = place / "bin/ddbench"
    for line in output_of("ldd", installed).splitlines():
        if "libfmt" in line or "libsqlite3" in line:
            assert str(place) in line, line
    subprocess.run([installed, "run", "--gpus", "2", "--no-baseline", *SMALL], check=True, env=bench.environment, capture_output=True)
    doctor = subprocess.run([installed, "doctor"], env=bench.environment, capture_output=True, text=True).stdout
    assert not any(line.startswith("ok") and "libibverbs" in line and str(place) in line for line in doctor.splitlines()), doctor
    script = "import ddbench; ddbench.step(); print(ddbench.__file__)"
    assert str(place) in output_of(place / "bin/python", "-c", script, cwd=tmp_path)

    output_of(place / "bin/pip", "uninstall", "-y", "ddbench")
    assert files_below(place) == before
