#!/usr/bin/env python3
"""Adds the lines of build/fuzz/ledger.csv to the table in tests/fuzz/README.md, and empties the ledger: later runs add to both."""
import csv
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
README = FOLDER / "README.md"
LEDGER = FOLDER.parent.parent / "build" / "fuzz" / "ledger.csv"
ROW = re.compile(r"^\| (\w+) \| (\S*) ?\| (\S*) ?\| ([\d.]+) \| ([\d,]+) \| ([\d,]*) ?\| (\d+) \|$")
HEAD = "|---|---|---|--:|--:|--:|--:|\n"


def number(text):
    return int(text.replace(",", "") or 0)


def known_rows(text):
    rows = {}
    for line in text.splitlines():
        if (match := ROW.match(line)) and match[1] != "all":
            name, first, last, hours, executions, edges, findings = match.groups()
            rows[name] = [first, last, float(hours), number(executions), number(edges), int(findings)]
    return rows


def add(rows, line):
    row = rows.setdefault(line["target"], [line["date"], line["date"], 0.0, 0, 0, 0])
    row[0], row[1] = min(row[0], line["date"]), max(row[1], line["date"])
    row[2] += float(line["cpu_seconds"]) / 3600
    row[3] += int(line["executions"])
    row[4] = max(row[4], int(line["edges"]))
    row[5] += int(line["findings"])


def main():
    text = README.read_text()
    rows = known_rows(text)
    with open(LEDGER) as ledger:
        lines = list(csv.DictReader(ledger))
    for line in lines:
        add(rows, line)
    table = "".join(f"| {name} | {row[0]} | {row[1]} | {row[2]:.3f} | {row[3]:,} | {row[4]:,} | {row[5]} |\n" for name, row in sorted(rows.items()))
    total = [sum(row[column] for row in rows.values()) for column in (2, 3, 5)]
    table += f"| all | | | {total[0]:.3f} | {total[1]:,} | | {total[2]} |\n"
    README.write_text(text[: text.index(HEAD) + len(HEAD)] + table)
    head = LEDGER.read_text().splitlines()[0]
    LEDGER.write_text(head + "\n")
    print(f"added {len(lines)} lines: {total[0]:.3f} CPU hours, {total[1]:,} executions, {total[2]} findings in all")


if __name__ == "__main__":
    main()
