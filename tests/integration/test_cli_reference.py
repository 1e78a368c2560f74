"""docs/cli.md is what --help prints, and the examples in it are commands that ddbench understands."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from conftest import EXECUTABLE, ROOT

sys.path.insert(0, str(ROOT / "docs"))
import write_cli  # noqa: E402

REFERENCE = ROOT / "docs/cli.md"
STARTS_SOMETHING = ("run", "sweep", "micro", "gui", "gate --run")


@pytest.fixture(scope="module")
def commands():
    return list(write_cli.commands(EXECUTABLE))


def test_the_reference_is_what_help_prints():
    if write_cli.reference(EXECUTABLE) != REFERENCE.read_text():
        pytest.fail(f"docs/cli.md is out of date: python3 docs/write_cli.py {EXECUTABLE} >docs/cli.md")


def test_every_command_has_examples_of_its_own(commands):
    for words, text in commands:
        if len(words) != 1:
            continue
        examples = re.findall(r"^  ddbench (\S+)", text.partition("Examples:")[2], re.MULTILINE)
        assert examples and set(examples) == {words[0]}, text


def test_examples_parse(commands, tmp_path):
    examples = [line for _, text in commands for line in re.findall(r"^  ddbench (.+?)(?:  .*)?$", text, re.MULTILINE)]
    assert len(examples) > 30
    environment = {**os.environ, "DDBENCH_DB": str(tmp_path / "results.db")}
    for example in examples:
        if example.startswith(STARTS_SOMETHING):
            continue
        done = subprocess.run([EXECUTABLE, *shlex.split(example)], capture_output=True, text=True, cwd=tmp_path,
                              env=environment, timeout=60)
        # What follows a good command line is that the store or a file is missing.
        assert "--help" not in done.stderr, (example, done.stderr)


def output_of(*words):
    return subprocess.run([EXECUTABLE, *words], capture_output=True, text=True, timeout=60)


def test_every_term_is_explained_with_its_section():
    names = [name for line in output_of("explain").stdout.splitlines() if not line.startswith(" ") for name in line.split(", ")]
    assert len(names) > 50 and {"busbw", "exposed transfer", "peer wait", "efficiency", "MFU"} <= set(names)
    for name in names[::7]:
        done = output_of("explain", *name.upper().replace(" ", "_").split())
        assert done.returncode == 0 and len(done.stdout.splitlines()) > 4, (name, done.stderr)
    assert output_of("explain", "Α-Β", "fit").stdout == output_of("explain", "alpha-beta fit").stdout != ""
    assert "last rank arrived" in output_of("explain", "peer-wait").stdout
    misspelt = output_of("explain", "exposed", "tranfer")
    assert misspelt.returncode == 2 and 'did you mean "exposed transfer"?' in misspelt.stderr


COMPLETE = """
source <({executable} completion bash)
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _ddbench; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize("words, completed", [
    ("ddbench dia", ["diagnose"]),
    ("ddbench db mer", ["merge"]),
    ("ddbench run --workl", ["--workload", "--workload-option"]),
    ("ddbench --db x.db rep", ["report"]),
    ("ddbench run --device c", ["cpu", "cuda"]),
    ("ddbench db merge --db ''", [""]),  # any file: left to the shell
    ("ddbench run -- python --no", [""]),
])
def test_bash_completes(words, completed):
    script = COMPLETE.format(executable=shlex.quote(str(EXECUTABLE)), words=words)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[:-1] == completed, done.stderr


def test_every_command_has_a_manual_page(commands, tmp_path):
    assert output_of("man", str(tmp_path / "man")).returncode == 0
    pages = {page.name: page.read_text() for page in (tmp_path / "man").iterdir()}
    assert set(pages) == {"-".join(("ddbench", *words)) + ".1" for words, _ in commands}
    macros = re.compile(r"\.(TH|SH|TP|B|BR|nf|fi)\b")
    for name, page in pages.items():
        assert page.startswith(".TH ") and ".SH SYNOPSIS" in page, name
        strange = [line for line in page.splitlines() if line.startswith((".", "'")) and not macros.match(line)]
        assert not strange, (name, strange)
    assert "\\-\\-nodes" in pages["ddbench-run.1"] and ".SH COMMANDS" in pages["ddbench-db.1"]
    taken = output_of("man", str(tmp_path / "man/ddbench.1"))
    assert taken.returncode == 2 and "cannot write" in taken.stderr
