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
