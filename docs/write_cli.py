#!/usr/bin/env python3
"""Writes docs/cli.md from the --help of every subcommand: python3 docs/write_cli.py build/release/bin/ddbench >docs/cli.md"""

import re
import subprocess
import sys

INTRODUCTION = """# Command line

Generated from `--help` by `docs/write_cli.py`; a test compares the two.
"""


def help_of(executable, words):
    return subprocess.run([executable, *words, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout


def subcommands(text):
    """Names in the section "Subcommands:", whose lines are indented by two blanks."""
    section = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return re.findall(r"^  (\S+)", section.group(1), re.MULTILINE) if section else []


def commands(executable, words=()):
    """Every command, parents first: (its words, its help)."""
    text = help_of(executable, words)
    yield words, text
    for name in subcommands(text):
        yield from commands(executable, (*words, name))


def reference(executable):
    parts = [INTRODUCTION]
    for words, text in commands(executable):
        body = "\n".join(line.rstrip() for line in text.strip().splitlines())
        parts.append(f"{'#' * (2 + max(0, len(words) - 1))} ddbench {' '.join(words)}".rstrip() + f"\n\n```\n{body}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(reference(sys.argv[1]))
