"""What a store of somebody else says is shown harmlessly, and decides nothing outside of it."""

import contextlib
import json
import re
import sqlite3

import pytest
from conftest import SMALL

# What a terminal acts on: control characters (C1 too), invisible characters and those that change the direction.
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
HOSTILE = "\x1b[2J\u009b2J\u202eevil\x07"


def small_run(bench, *more):
    return bench.run_json(*SMALL[1:] if SMALL[0] == "run" else SMALL, "--no-baseline", *more)["run"]["id"]


def change(bench, run_id, **columns):
    """As somebody who can write the store can: checksums are only looked at by `db check`."""
    with contextlib.closing(sqlite3.connect(bench.db)) as connection:
        for column, value in columns.items():
            connection.execute(f"update run set {column} = ? where id = ?", (value, run_id))
        connection.commit()


def add_facts(bench, run_id, **facts):
    (row,) = bench.rows("select facts_json from run where id = ?", run_id)
    change(bench, run_id, facts_json=json.dumps({**json.loads(row[0]), **{key.replace("__", "."): value for key, value in facts.items()}}))


def changed_case(bench, run_id, **fields):
    (row,) = bench.rows("select case_json from run where id = ?", run_id)
    return json.dumps({**json.loads(row[0]), **fields})


def test_texts_of_a_store_do_nothing_to_a_terminal(bench):
    first, second = small_run(bench), small_run(bench)
    change(bench, first, case_json=changed_case(bench, first, name=HOSTILE, sku=HOSTILE, workload_options={HOSTILE: "1", "hidden": "16"}),
           sweep_id=HOSTILE, reason=HOSTILE, network=HOSTILE, provenance=0xffff)
    add_facts(bench, first, cores__shared_with=HOSTILE, cpu__model=HOSTILE, note__1=HOSTILE)
    for command in (["list"], ["show", first], ["show", "nosuch"], ["compare", first, second], ["compare", "--by", "sku"], ["history"],
                    ["gate", "--baseline", first, "--candidate", second], ["diagnose", first], ["report", first], ["db", "check"],
                    ["db", "prune", "--state", "done"], ["scaling", "--where", "nodes=1"]):
        done = bench(*command)
        assert done.returncode in (0, 1, 2, 3, 4) and "internal error" not in done.stderr, (command, done.stderr)
        for text in (done.stdout, done.stderr):
            found = ACTIVE.search(text)
            assert found is None, f"{command}: {text[max(0, found.start() - 60):found.end() + 20]!r}"


def test_a_run_of_a_size_that_none_has_is_left_out(bench):
    good, bad = small_run(bench), small_run(bench)
    change(bench, bad, case_json=changed_case(bench, bad, nodes=2147483647))
    done = bench.ok("list", "--json")
    assert [run["id"] for run in json.loads(done.stdout)] == [good]
    assert bad in done.stderr and "65536" in done.stderr, done.stderr
    assert "65536" in bench("show", bad).stderr


def test_a_program_without_its_command_is_in_every_report(bench):
    run_id = small_run(bench)
    change(bench, run_id, case_json=changed_case(bench, run_id, workload="program", workload_options={}))
    assert 'workload="program"' in bench.ok("report", run_id, "--format", "prometheus").stdout
    for form in ("terminal", "html", "markdown", "csv"):
        assert "program" in bench.ok("report", run_id, "--format", form).stdout
    assert "program" in bench.ok("list").stdout


def test_a_run_that_continues_itself_is_brought_in(bench):
    run_id = small_run(bench, "--checkpoint-every", 2)
    (host,) = {row[0] for row in bench.rows("select owner_host from run")}
    add_facts(bench, run_id, resumed__from=run_id, resumed__at_step="1", owner__heartbeat_wall_ns="1")
    change(bench, run_id, state="running", owner_host=host, owner_pid=2147483646, owner_start_ticks=1, owner_boot_id="")
    done = bench("show", run_id, timeout=60)
    assert done.returncode == 0, done.stderr
    assert bench.rows("select state from run")[0]["state"] == "interrupted"


def test_continue_looks_into_no_folder_that_only_a_store_names(bench):
    job = [*(SMALL[1:] if SMALL[0] == "run" else SMALL), "--no-baseline", "--name", "job", "--checkpoint-every", 2]
    run_id = bench.run_json(*job, "--checkpoint-dir", bench.tmp / "elsewhere")["run"]["id"]
    assert (bench.tmp / "elsewhere" / run_id).is_dir()
    change(bench, run_id, state="interrupted")
    done = bench("run", *job, "--continue")
    assert done.returncode == 2 and str(bench.tmp / "elsewhere") in done.stderr and "--checkpoint-dir" in done.stderr, done.stderr
    with_folder = bench("run", *job, "--continue", "--checkpoint-dir", bench.tmp / "elsewhere")
    assert "if you trust it" not in with_folder.stderr
