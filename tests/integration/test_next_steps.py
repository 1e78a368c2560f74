""""What to do next" of every kind of report: each command works as it is printed."""

import re
import shlex
import shutil

import pytest
from conftest import ROOT, SMALL, Bench

DIAGNOSED = ["--steps", "60", "--warmup", "2", "-O", "hidden=64", "--quiet", "--no-baseline"]


def commands(text):
    """Those of the table at the end of a terminal's report."""
    table = text.partition("What to do next\n")[2]
    return re.findall(r"^  (ddbench .*?)(?:  .*)?$", table, re.M)


def run_all(bench, found):
    assert found
    for command in found:
        words = shlex.split(command)
        if words[:2] == ["ddbench", "gui"]:  # needs a screen
            continue
        done = bench(*words[1:], cwd=bench.tmp)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("nodes, gpus", [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_after_a_run(bench, nodes, gpus):
    found = commands(bench.ok("run", "--nodes", nodes, "--gpus", gpus, *DIAGNOSED).stdout)
    verbs = [command.split()[1] for command in found]
    assert verbs == (["advise", "gui"] if nodes * gpus == 1 else ["diagnose", "advise", "predict", "gui"])
    run_all(bench, found)
    run_all(bench, commands(bench.ok("report", "last").stdout))


@pytest.mark.parametrize("axis, verb", [((), "scaling"), (("--link", "1gbit,10gbit"), "compare"), (("--bucket-mb", "1,25"), "compare")])
def test_after_a_sweep(bench, axis, verb):
    found = commands(bench.ok("sweep", "--nodes", "1,2", "--gpus", 1, *axis, *SMALL).stdout)
    assert [command.split()[1] for command in found] == ["list", verb, "report"]
    run_all(bench, found)


def test_after_an_import(bench):
    bench.ok("import", "table", ROOT / "tests/fixtures/pytorch_ddp_benchmark.csv")
    found = commands(bench.ok("report", "last-sweep").stdout)
    run_all(bench, found)
    assert not re.search(r"diagnose|advise|predict", bench.ok("report", "last-sweep").stdout)
    assert not commands(bench.ok("report", "last").stdout), "nothing was recorded that could be looked into"


def test_after_a_program_that_fails(bench):
    done = bench("run", "--gpus", 2, "--quiet", "--", "sh", "-c", "exit 3")
    assert done.returncode == 1
    assert set(commands(done.stdout)) <= {"ddbench gui"} and "ddbench diagnose" not in done.stdout


def test_after_the_spans_were_deleted(bench):
    bench.ok("run", "--gpus", 2, *DIAGNOSED)
    bench.ok("db", "prune", "--spans", "--where", "gpus_per_node=2", "--yes")
    found = commands(bench.ok("report", "last").stdout)
    assert not [command for command in found if command.split()[1] in ("advise", "predict")]
    run_all(bench, found)


def test_show_names_the_store(bench):
    store = bench.tmp / "its own.db"
    shutil.copy(ROOT / "gui/demo/demo.db", store)
    text = " ".join(bench.ok("show", "20261124T010049-7193021f", "--db", store).stdout.split())
    assert f"ddbench advise 20261124T010049-7193021f --db '{store}'" in text, text


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("next"))
    bench.ok("sweep", "--nodes", 1, "--gpus", "1,2", "--db", bench.tmp / "its own.db", *SMALL)
    return bench


@pytest.mark.parametrize("reference", ["last", "last-sweep"])
@pytest.mark.parametrize("format", ["terminal", "markdown", "html"])
def test_every_format_names_the_store(elsewhere, reference, format):
    store = elsewhere.tmp / "its own.db"
    text = elsewhere.ok("report", reference, "--format", format, "--db", store).stdout
    text = text[text.index("What to do next"):]
    found = re.findall(r"ddbench (?:list|scaling|report|diagnose|advise|predict|gui)[^<|`]*?--db (?:'|&#39;)[^'&]*its own\.db", text)
    assert len(found) == len(re.findall(r"ddbench (?:list|scaling|report|diagnose|advise|predict|gui)\b(?! RUN)", text)) > 0, text
