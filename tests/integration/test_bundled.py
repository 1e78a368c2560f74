"""Libraries inside of libraries, as the wheels of frameworks have them, and what is seen of them nevertheless."""

import importlib.util
import json
import pathlib
import subprocess
import sys
import textwrap

import pytest
from conftest import EXECUTABLE, ROOT

PYTHON = sys.executable
DDP = [PYTHON, ROOT / "tests/integration/programs/ddp_mlp.py"]
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")


def measured(bench, *arguments, options=("--nodes", 2)):
    return json.loads(bench.ok("run", *options, "--no-baseline", "--json", "--", *arguments).stdout)


def bundled(bench, number):
    library = bench.tmp / f"bundled{number}.so"
    source = ROOT / "tests/integration/programs/bundled.cpp"
    subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-shared", f"-DLIBRARY={number}", source, "-o", library], check=True)
    return library


def test_each_library_calls_what_it_brings(bench):
    """Two in one process, each with a BLAS and a Gloo of its own, loaded as Python loads its extensions."""
    program = bench.tmp / "program.py"
    program.write_text(textwrap.dedent("""
        import ctypes, os, sys, time
        first, second = map(ctypes.CDLL, sys.argv[1:])
        for step in range(1, 13):
            time.sleep(0.01)
            assert (first.multiply(), second.multiply(), first.multiply()) == (1, 2, 1)
            assert first.gather_among(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), 400) == step
        assert second.gather_among(0, 1, 1) == 1
        """))
    run = measured(bench, PYTHON, program, bundled(bench, 1), bundled(bench, 2))
    assert {(c["function"], c["bytes"]) for c in run["collectives"]} == {("gather", 800)}, "in and out of 2 ranks"
    assert {name for (name,) in bench.rows("select name from kernel where kind in ('forward', 'backward', 'optimizer', 'compute')")} == {"blas"}


def test_an_environment_with_other_libraries_of_one_name(bench):
    """What is loaded into programs needs no C++ library of theirs: one of the name that fmt has, and nothing of it."""
    libraries = bench.tmp / "libraries"
    libraries.mkdir()
    for file in (pathlib.Path(EXECUTABLE).parents[1] / "lib/ddbench").glob("ddbench_*.so"):
        if file.stem.startswith(("ddbench_inject", "ddbench_session", "ddbench_nccl_profiler")):
            needed = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
            assert "libfmt" not in needed and "libstdc++" not in needed, file
    subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-o", libraries / "libfmt.so.9"], check=True)
    source = bench.tmp / "gather.py"
    source.write_text(textwrap.dedent("""
        import ctypes, os, sys
        library = ctypes.CDLL(sys.argv[1])
        for step in range(1, 13):
            library.gather_among(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), 400)
        """))
    run = measured(bench, "env", f"LD_LIBRARY_PATH={libraries}", PYTHON, source, bundled(bench, 1))
    assert [c["function"] for c in run["collectives"]] == ["gather"]


@needs_torch
def test_torch_profiler_sees_the_same_operators(bench):
    profile = bench.tmp / "profile"
    run = measured(bench, *DDP, "--steps", 30, "--hidden", 1024, "--profile", profile)
    assert any("PyTorch operators" in note for note in run["notes"]), run["notes"]
    trace = bench.tmp / "trace.json"
    bench.ok("report", run["run"]["id"], "--format", "perfetto", "-o", trace)
    events = json.loads(trace.read_text())["traceEvents"]
    for rank in range(2):
        theirs = json.loads((bench.tmp / f"profile.{rank}.json").read_text())
        theirs = theirs if isinstance(theirs, list) else theirs["traceEvents"]
        ours = [e for e in events if e["ph"] == "X" and e["pid"] == rank + 1]
        for operator, calls in {"aten::linear": 3, "aten::mm": 5, "aten::cross_entropy_loss": 1}.items():
            # A product inside of a linear is a part of it for us, and has another name in this version.
            seen = [sum(e.get("name") == operator and e["ph"] == "X" for e in side) for side in (ours, theirs)]
            assert seen == 2 * [calls * 30], operator


@needs_torch
def test_operators_without_a_matrix_product_are_compute(bench):
    """Convolutions, normalisations, attention and an optimizer, of which no call need leave PyTorch's library."""
    program = bench.tmp / "operators.py"
    program.write_text(textwrap.dedent("""
        import torch, torch.distributed as dist
        from torch.nn import BatchNorm2d, Conv2d, Flatten, Linear, Sequential
        dist.init_process_group("gloo")
        layers = Sequential(Conv2d(3, 16, 3), BatchNorm2d(16), Conv2d(16, 16, 3, stride=2), Flatten(), Linear(16 * 49, 10))
        model = torch.nn.parallel.DistributedDataParallel(layers)
        optimizer = torch.optim.AdamW(model.parameters())
        for step in range(20):
            optimizer.zero_grad()
            model(torch.randn(16, 3, 18, 18)).square().mean().backward()
            optimizer.step()
        dist.destroy_process_group()
        """))
    run = measured(bench, PYTHON, program)
    seen = {name for (name,) in bench.rows("select name from kernel where kind in ('forward', 'backward', 'optimizer', 'compute')")}
    assert seen >= {"aten::conv2d", "aten::convolution_backward", "aten::batch_norm", "aten::linear", "aten::addcdiv_"}
    assert not seen & {"onednn", "blas"}, "what an operator calls is a part of it, counted once"
    assert run["partition_ns"]["compute"] > run["partition_ns"]["copy"]
