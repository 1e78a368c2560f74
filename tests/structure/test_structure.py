"""Rooms, the direction of their dependencies (docs/architecture.md), and headers that compile alone.

A room is a folder with source files. Includes name the room: "analyzer/scaling/scaling.h".
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPS = ("core", "probes", "analyzer", "reports", "harness", "gui")
LARGEST_ROOM = 24

# Part of the tree -> the parts that it may include, beside itself. The longest prefix of a room's path decides.
ALLOWED = {
    "core": [],
    "probes": ["core"],
    "analyzer/store": ["core"],
    "analyzer": ["core", "analyzer/store"],
    "reports": ["core", "analyzer/store", "analyzer"],
    # What runs inside a rank knows neither the store nor the analyzer.
    "harness/plugin": ["core", "probes"],
    "harness/device": ["core", "probes", "harness/plugin"],
    "harness/collective": ["core", "probes", "harness/plugin", "harness/device"],
    "harness/model": ["core", "probes", "harness/device"],
    "harness/training": ["core", "probes", "harness/plugin", "harness/device", "harness/collective", "harness/model"],
    "harness": ["core", "probes", "analyzer/store", "analyzer", "harness/plugin", "harness/device",
                "harness/collective", "harness/model", "harness/training"],
    "harness/cli": ["core", "probes", "analyzer/store", "analyzer", "reports", "harness", "harness/plugin",
                    "harness/device", "harness/collective", "harness/model", "harness/training"],
    "gui": ["core", "analyzer/store", "analyzer", "reports"],
}

# A library's header, in angle brackets, may be included from these folders only.
RESERVED = {
    r"sqlite3\.h": ["analyzer/store"],
    r"Q[A-Z]\w+": ["gui"],
    r"(dnnl|oneapi/).*": ["harness/device/cpu"],
    r"openssl/.*": ["harness/launch/trust"],
    r"curl/.*": ["harness/http/curl"],
    r"boost/(asio|beast)/.*": ["harness/http/server"],
    r"gloo/.*": ["harness/collective/gloo", "probes/preload"],
    r"(cuda|cublas|cudnn|cupti|nccl).*": ["probes/cupti", "probes/cuda", "probes/nccl", "harness/device/gpu",
                                          "harness/device/cuda", "harness/collective/nccl"],
}


def sources():
    for top in TOPS:
        yield from (p for p in (ROOT / top).rglob("*") if p.suffix in {".h", ".cpp", ".cu", ".cuh"})


def room_of(path):
    return path.parent.relative_to(ROOT).as_posix()


def part_of(room):
    return max((part for part in ALLOWED if room == part or room.startswith(part + "/")), key=len)


def included_headers():
    """(source, header) for each include in quotation marks."""
    for path in sources():
        for include in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
            yield path, ROOT / include


def test_includes_name_their_room():
    wrong = [f"{path.relative_to(ROOT)} includes {header.relative_to(ROOT)}, which does not exist"
             for path, header in included_headers() if not header.is_file()]
    assert not wrong, "\n".join(wrong)


def test_includes_run_one_way():
    wrong = []
    for path, header in included_headers():
        here, there = part_of(room_of(path)), part_of(room_of(header))
        if there != here and there not in ALLOWED[here]:
            wrong.append(f"{path.relative_to(ROOT)} includes {header.relative_to(ROOT)}")
    assert not wrong, "\n".join(wrong)


def cycles(graph):
    """Strongly connected components of more than one room (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(room):
        index[room] = low[room] = len(index)
        stack.append(room)
        for other in graph[room]:
            if other not in index:
                visit(other)
            if other in stack:
                low[room] = min(low[room], low[other])
        if low[room] == index[room]:
            members = stack[stack.index(room):]
            del stack[stack.index(room):]
            if len(members) > 1:
                found.append(sorted(members))

    for room in list(graph):
        if room not in index:
            visit(room)
    return found


def test_rooms_have_no_cycles():
    graph = collections.defaultdict(set)
    for path, header in included_headers():
        if room_of(path) != room_of(header):
            graph[room_of(path)].add(room_of(header))
    for other in [header for headers in graph.values() for header in headers]:
        graph.setdefault(other, set())
    assert not cycles(graph), cycles(graph)


def test_rooms_stay_small():
    sizes = collections.Counter(room_of(p) for p in sources())
    large = {room: size for room, size in sizes.items() if size > LARGEST_ROOM}
    assert not large, f"rooms with more than {LARGEST_ROOM} source files: {large}"


def test_libraries_stay_in_their_folder():
    wrong = []
    for path in sources():
        relative = path.relative_to(ROOT).as_posix()
        for include in re.findall(r"#include\s+<([^>]+)>", path.read_text()):
            for pattern, folders in RESERVED.items():
                if re.fullmatch(pattern, include) and not any(relative.startswith(f + "/") for f in folders):
                    wrong.append(f"{relative} includes {include}, which only {folders} may")
    assert not wrong, "\n".join(wrong)


def is_first_include_of_its_source(header):
    source = header.with_suffix(".cpp")
    if not source.is_file():
        return False
    first = re.search(r'^#include\s+["<]([^">]+)[">]', source.read_text(), re.MULTILINE)
    return first is not None and first.group(1) == header.relative_to(ROOT).as_posix()


def test_exported_headers_compile_alone():
    headers = sorted({header for path, header in included_headers() if room_of(path) != room_of(header)})
    assert headers
    compiler = os.environ.get("CXX", "c++")
    include_dirs = [ROOT]
    cuda = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    if cuda.is_dir():
        include_dirs.append(cuda)
    else:
        headers = [h for h in headers if "#include <cu" not in h.read_text()]
    headers = [h for h in headers if not h.relative_to(ROOT).as_posix().startswith("gui/")]  # Qt's flags are CMake's
    headers = [h for h in headers if not is_first_include_of_its_source(h)]  # the preset asan compiles those

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


def test_every_part_has_a_readme():
    parts = {part_of(room_of(p)).split("/")[0] for p in sources()}
    missing = [part for part in parts if not (ROOT / part / "README.md").is_file()]
    assert not missing, missing


@pytest.mark.parametrize("folder", ["integration", "calibration"])
def test_ctest_runs_every_test_file(folder):
    listed = (ROOT / "tests" / folder / "CMakeLists.txt").read_text()
    missing = [file.name for file in sorted((ROOT / "tests" / folder).glob("test_*.py"))
               if not re.search(rf"\b{re.escape(file.stem.removeprefix('test_'))}\b", listed)]
    assert not missing, missing


def test_links_of_documents_lead_somewhere():
    documents = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    broken = []
    for document in documents:
        text = re.sub(r"```.*?```", "", (ROOT / document).read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target and not ((ROOT / document).parent / target).exists():
                broken.append(f"{document}: {target}")
    assert documents and not broken, broken
