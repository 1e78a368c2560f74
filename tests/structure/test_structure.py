"""The direction of dependencies (DESIGN §2) and headers that compile alone."""

import concurrent.futures
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Folder -> what it may include beside itself and what those may include (transitively closed below).
ALLOWED = {
    "probes/record": [],
    "probes/host": ["probes/record"],
    "probes/cuda": ["probes/host", "probes/inject"],
    "probes/inject": ["probes/host"],
    "analyzer/store": ["probes/record"],
    "analyzer": ["analyzer/store"],
    "analyzer/imports": ["analyzer"],
    "reports": ["analyzer"],
    "harness/module": ["probes/record"],
    "harness/gpu": ["probes/record"],
    "harness/collective": ["harness/module", "harness/gpu", "probes/host"],
    "harness/device": ["harness/module", "harness/gpu", "probes/host"],
    "harness/workload": ["harness/device", "probes/cuda"],
    "harness/probe": ["harness/module", "probes/cuda"],
    "harness/ddp": ["harness/workload", "harness/collective", "harness/probe"],
    "harness/job": ["probes/record"],
    "harness/micro": ["harness/ddp", "analyzer"],
    "harness/launch": ["harness/micro"],
    "harness/experiment": ["harness/launch"],
    "harness/cli": ["harness/experiment", "harness/job", "reports", "analyzer/imports"],
    "gui": ["analyzer", "reports"],
}

# A library's header, in angle brackets, may be included from these folders only.
RESERVED = {
    r"sqlite3\.h": ["analyzer/store"],
    r"Q[A-Z]\w+": ["gui"],
    r"(dnnl|oneapi/).*": ["harness/device/cpu"],
    r"gloo/.*": ["harness/collective/gloo", "probes/inject"],
    r"(cuda|cublas|cudnn|cupti|nccl).*": ["probes/cuda", "harness/gpu", "harness/device/cuda", "harness/collective/nccl"],
}


def folder_of(path):
    relative = path.relative_to(ROOT).as_posix()
    return max((f for f in ALLOWED if relative.startswith(f + "/")), key=len, default=None)


def sources():
    for top in ("probes", "analyzer", "reports", "harness", "gui"):
        yield from (p for p in (ROOT / top).rglob("*") if p.suffix in {".h", ".cpp", ".cu", ".cuh"})


def reachable(folder):
    seen, todo = {folder}, [folder]
    while todo:
        for other in ALLOWED[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def owner_of_header(include):
    """ddbench/<name>/x.h belongs to the one folder whose last part is <name>."""
    name = include.split("/")[1]
    owners = [f for f in ALLOWED if f.split("/")[-1] == name]
    assert len(owners) == 1, f"{include}: no folder or several folders are called {name}"
    return owners[0]


def test_includes_run_one_way():
    wrong = []
    for path in sources():
        folder = folder_of(path)
        assert folder, f"{path.relative_to(ROOT)} lies in no folder of the tree; add its folder to ALLOWED"
        allowed = reachable(folder)
        for include in re.findall(r'#include\s+"(ddbench/[^"]+)"', path.read_text()):
            if owner_of_header(include) not in allowed:
                wrong.append(f"{path.relative_to(ROOT)} includes {include}")
    assert not wrong, "\n".join(wrong)


def test_libraries_stay_in_their_folder():
    wrong = []
    for path in sources():
        relative = path.relative_to(ROOT).as_posix()
        for include in re.findall(r"#include\s+<([^>]+)>", path.read_text()):
            for pattern, folders in RESERVED.items():
                if re.fullmatch(pattern, include) and not any(relative.startswith(f + "/") for f in folders):
                    wrong.append(f"{relative} includes {include}, which only {folders} may")
    assert not wrong, "\n".join(wrong)


def test_public_headers_compile_alone():
    include_dirs = [p for p in ROOT.glob("*/**/include") if (p / "ddbench").is_dir() and "build" not in p.parts]
    headers = sorted(h for d in include_dirs for h in (d / "ddbench").rglob("*.h"))
    assert headers
    compiler = os.environ.get("CXX", "c++")
    cuda = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    if cuda.is_dir():
        include_dirs.append(cuda)
    else:
        headers = [h for h in headers if "#include <cuda" not in h.read_text()]

    def compile_alone(header):
        command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-x", "c++", str(header)]
        command += [f"-I{d}" for d in include_dirs]
        done = subprocess.run(command, capture_output=True, text=True)
        # "#pragma once in main file" is an artefact of compiling a header as a main file.
        errors = [line for line in done.stderr.splitlines() if " error: " in line]
        return f"{header.relative_to(ROOT)}:\n" + "\n".join(errors[:5]) if done.returncode else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in pool.map(compile_alone, headers) if f]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("pattern", [r"\bTODO\b", r"\bFIXME\b", r"\bXXX\b"])
def test_nothing_is_left_for_later(pattern):
    found = [str(p.relative_to(ROOT)) for p in sources() if re.search(pattern, p.read_text())]
    assert not found


def test_every_folder_with_code_has_a_short_readme():
    folders = {f for p in sources() if (f := folder_of(p))}
    for folder in folders:
        candidates = [ROOT / folder / "README.md", ROOT / folder.split("/")[0] / "README.md"]
        readme = next((c for c in candidates if c.exists()), None)
        assert readme, f"{folder} has no README.md and neither has its parent"
        assert len(readme.read_text().splitlines()) <= 40, f"{readme.relative_to(ROOT)} is longer than 40 lines"
