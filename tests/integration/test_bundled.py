"""Libraries inside of libraries, as the wheels of frameworks have them, and what is seen of them nevertheless."""

import json
import subprocess
import sys
import textwrap

from conftest import ROOT

PYTHON = sys.executable


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
    assert {name for (name,) in bench.rows("select name from kernel where kind = 'compute'")} == {"blas"}
