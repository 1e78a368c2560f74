"""The gate: verdicts on real runs, its refusals, baselines and history."""

import json
import os
import re
import shutil
import signal
import sqlite3
import uuid
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest
from conftest import ROOT, Bench, wait_until

GATE_SCHEMA = json.loads((ROOT / "reports/schema/gate.schema.json").read_text())
HISTORY_SCHEMA = json.loads((ROOT / "reports/schema/history.schema.json").read_text())
BASELINES_SCHEMA = json.loads((ROOT / "reports/schema/baselines.schema.json").read_text())
OUTCOMES = {0: "pass", 3: "regression", 4: "inconclusive"}
CASE = "--nodes 2 --gpus 1 --steps 16 --warmup 3 -O hidden=256"
HOUR_NS = 3600 * 10**9


def gate(bench, *arguments, expected=None):
    """Runs the gate; every form of the verdict must say what the exit code says. Returns the JSON."""
    markdown, junit = bench.tmp / "gate.md", bench.tmp / "gate.xml"
    done = bench("gate", "--json", "--markdown", markdown, "--junit", junit, *arguments)
    assert done.returncode in OUTCOMES, done.stderr
    verdict = json.loads(done.stdout)
    jsonschema.validate(verdict, GATE_SCHEMA)
    outcome = OUTCOMES[done.returncode]
    assert verdict["outcome"] == outcome and verdict["exit_code"] == done.returncode
    assert re.findall(r"\(exit code (\d)\)", markdown.read_text()) == [str(done.returncode)]
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties == {"outcome": outcome, "exit_code": str(done.returncode)}
    assert (suite.find(".//failure") is not None) == (outcome == "regression")
    assert (suite.find(".//failure") is None and suite.find(".//error") is None) == (outcome == "pass")
    judged = len([metric for metric in verdict["metrics"] if metric["reason"]])
    assert int(suite.get("tests")) == len(suite.findall("testcase")) == max(1, judged)
    if expected is not None:
        assert done.returncode == expected, json.dumps(verdict, indent=1)
    return verdict


def no_verdict(bench, *arguments, because):
    verdict = gate(bench, *arguments, expected=4)
    assert any(because in reason for reason in verdict["reasons"]), verdict["reasons"]
    return verdict


# Real runs. Verdicts on small differences depend on what else the machine does: tests/calibration.


def test_both_sides_are_run_in_turn(bench):
    verdict = gate(bench, "--run", CASE, CASE, "--pairs", 5, "--threshold", "60%")
    assert verdict["in_time"] == "interleaved"
    assert len(verdict["baseline"]["runs"]) == len(verdict["candidate"]["runs"]) == 5
    assert verdict["metrics"][0]["estimate"] is not None
    assert verdict["compared"] == []


def test_a_regression_is_measured_again_and_explained(bench):
    """A loader that is slower than all else by far, whatever else the machine does."""
    slow = CASE + " --data-delay 150ms"
    verdict = gate(bench, "--run", CASE, slow, "--pairs", 6, "--metric", "step_time,exposed,busbw", "--repeat-on-fail", 1,
                   expected=3)  # pairs enough for runs that scatter by a factor on a busy machine
    assert verdict["metrics"][0]["outcome"] == "regression"
    assert len(verdict["candidate"]["runs"]) == 12, "measured again before it counts"
    assert verdict["compared"] == [{"field": "data_delay_ns", "baseline": "0", "candidate": "150000000"}]
    assert "data wait" in verdict["explanation"][0]
    # Threads that read ahead hide most of the delay: what is left of it is no data wait.
    verdict = gate(bench, "--run", slow, slow + " --data-workers 8 --prefetch 16", "--pairs", 4, expected=0)
    assert verdict["metrics"][0]["estimate"]["ratio"] < 1


# Stored runs, made from one real one.


@pytest.fixture(scope="module")
def real_store(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("gate"))
    bench.ok("run", *CASE.split(), "--no-baseline", "--quiet", "--name", "real")
    with sqlite3.connect(bench.db) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return bench.db


class Store:
    """Copies of the real run with other times, names and circumstances."""

    def __init__(self, bench, real_store):
        self.bench = bench
        shutil.copy(real_store, bench.db)
        self.origin = self.rows("SELECT id, started_wall_ns FROM run")[0]

    def rows(self, sql, *parameters):
        with sqlite3.connect(self.bench.db) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            return connection.execute(sql, parameters).fetchall()

    def set(self, where, **columns):
        assignments = ", ".join(f"{column} = ?" for column in columns)
        self.rows(f"UPDATE run SET {assignments} WHERE {where}", *columns.values())

    def copy_table(self, connection, table, source, target):
        columns = [c[1] for c in connection.execute(f"PRAGMA table_info({table})") if c[1] != "run_key"]
        names = ", ".join(columns)
        connection.execute(f"INSERT INTO {table} (run_key, {names}) SELECT ?, {names} FROM {table} WHERE run_key = ?",
                           (target, source))

    def add(self, name, factors, begin_hour=0.0, apart_s=60, **case):
        """A run a factor, one after the other; its steps take `factor` times as long. Returns the ids."""
        ids = []
        with sqlite3.connect(self.bench.db) as connection:
            source, = connection.execute("SELECT run_key FROM run WHERE id = ?", (self.origin[0],)).fetchone()
            columns = [c[1] for c in connection.execute("PRAGMA table_info(run)") if c[1] not in ("run_key", "id")]
            for index, factor in enumerate(factors):
                run = f"20300101T000000-{uuid.uuid4().hex[:8]}"
                names = ", ".join(columns)
                connection.execute(f"INSERT INTO run (id, {names}) SELECT ?, {names} FROM run WHERE run_key = ?",
                                   (run, source))
                target, = connection.execute("SELECT run_key FROM run WHERE id = ?", (run,)).fetchone()
                started = self.origin[1] + int(begin_hour * HOUR_NS) + index * apart_s * 10**9
                text, = connection.execute("SELECT case_json FROM run WHERE run_key = ?", (target,)).fetchone()
                run_case = {**json.loads(text), "name": name, **case}
                connection.execute("UPDATE run SET name = ?, case_json = ?, started_wall_ns = ?, finished_wall_ns = ? "
                                   "WHERE run_key = ?", (name, json.dumps(run_case), started, started + 10**9, target))
                for table in ("rank", "step", "collective"):
                    self.copy_table(connection, table, source, target)
                # All of the run's time goes by slower: steps still begin where those before them ended.
                connection.execute("UPDATE step SET begin_ns = CAST(begin_ns * :f AS INTEGER), "
                                   "duration_ns = CAST(duration_ns * :f AS INTEGER), idle_ns = idle_ns + "
                                   "CAST(duration_ns * :f AS INTEGER) - duration_ns WHERE run_key = :run",
                                   {"f": factor, "run": target})
                ids.append(run)
        return ids


@pytest.fixture
def store(bench, real_store):
    return Store(bench, real_store)


STEADY = [1.000, 1.004, 0.997, 1.002, 0.999, 1.001]


def slower(factor):
    return [factor * value for value in STEADY]


def test_stored_runs_pass_and_fail(bench, store):
    store.add("main", STEADY)
    store.add("same", STEADY[::-1], 0.2)
    store.add("slow", slower(1.3), 0.4)
    verdict = gate(bench, "--baseline", "name=main", "--candidate", "name=same", expected=0)
    assert verdict["in_time"] == "one_session"
    verdict = gate(bench, "--baseline", "name=main", "--candidate", "slow", expected=3)
    assert verdict["metrics"][0]["estimate"]["change"] == pytest.approx(0.3, abs=0.01)
    assert verdict["explanation"][0].startswith("idle went from")
    # The same in words, and through a baseline with a name.
    bench.ok("baseline", "set", "release/1", "name=main")
    text = bench("gate", "--baseline", "release/1", "--candidate", "name=slow")
    assert text.returncode == 3
    assert "regression in step_time" in text.stdout and "named baseline release/1, version 1" in text.stdout


def test_what_cannot_be_known_is_no_verdict(bench, store):
    main = store.add("main", STEADY)
    store.add("slow", slower(2), 0.2)
    sides = ["--baseline", "name=main", "--candidate", "name=slow"]
    gate(bench, *sides, expected=3)
    no_verdict(bench, "--baseline", "nightly", "--candidate", "name=slow", because="has no runs")
    no_verdict(bench, "--baseline", main[0], "--candidate", "name=slow", because="1 run of the baseline")
    no_verdict(bench, "--baseline", "name=main", "--candidate", "name=main", because="both sides")
    no_verdict(bench, *sides, "--metric", "efficiency", because="efficiency")
    no_verdict(bench, *sides, "--metric", "step_time,peak_memory", "--threshold", "300%", "--policy",
               policy(bench, "min_pairs = 50"), because="min_pairs")

    store.set("name = 'slow'", fingerprint="another")
    no_verdict(bench, *sides, because="different hardware")
    store.set("name = 'slow'", fingerprint=store.rows("SELECT fingerprint FROM run WHERE name = 'main'")[0][0])
    store.set("name = 'slow'", network="infiniband")
    no_verdict(bench, *sides, because="network differs")
    store.set("name = 'slow'", network=store.rows("SELECT network FROM run WHERE name = 'main'")[0][0])
    gate(bench, *sides, expected=3)

    store.set(f"id = '{main[2]}'", valid=0, invalid_reason="no communication was seen")
    no_verdict(bench, *sides, because="is invalid: no communication was seen")
    store.set(f"id = '{main[2]}'", valid=1, invalid_reason="", state="failed", reason="rank 1 was killed")
    no_verdict(bench, *sides, because="failed: rank 1 was killed")
    gate(bench, "--baseline", "name=main,state=done", "--candidate", "name=slow", expected=3)
    store.set(f"id = '{main[2]}'", state="done", reason="")

    store.rows("UPDATE step SET communication_ns = 0, overlap_ns = 0, exposed_transfer_ns = 0, exposed_peer_wait_ns = 0 "
               "WHERE run_key IN (SELECT run_key FROM run WHERE name = 'slow')")
    no_verdict(bench, *sides, "--metric", "exposed", because="no communication spans")


def test_a_candidate_that_matches_nothing_is_bad_input(bench, store):
    store.add("main", STEADY)
    for baseline in ("name=main", "nightly"):
        for candidate, words in (("name=nothing", "no run in the store matches"), ("nosuch", "no run, sweep, named baseline or run name fits")):
            done = bench("gate", "--baseline", baseline, "--candidate", candidate, "--junit", bench.tmp / "typo.xml")
            assert done.returncode == 2 and done.stdout == "" and f"--candidate {candidate}: {words}" in done.stderr, done.stderr
            assert not (bench.tmp / "typo.xml").exists()


def test_other_workloads_are_compared_only_on_purpose(bench, store):
    store.add("main", STEADY)
    store.add("large", slower(1.5), 0.2, batch_per_gpu=128)
    sides = ["--baseline", "name=main", "--candidate", "name=large"]
    no_verdict(bench, *sides, because='batch_per_gpu differs: "64" in the baseline, "128" in the candidate')
    verdict = gate(bench, *sides, "--vary", "batch_per_gpu", expected=3)
    assert verdict["compared"] == [{"field": "batch_per_gpu", "baseline": "64", "candidate": "128"}]


def test_interleaved_stored_runs_are_paired(bench, store):
    # Drift of 3% a pair, an unchanged candidate: unpaired, this would be noise of 9%.
    for k in range(8):
        first, second = ("main", "pr") if k in (0, 3, 5, 6) else ("pr", "main")
        store.add(first, [1 + 0.03 * k], 0.05 * k)
        store.add(second, [(1 + 0.03 * k) * (1.001 if k % 2 else 0.999)], 0.05 * k + 0.02)
    assert gate(bench, "--baseline", "name=main", "--candidate", "name=pr", expected=0)["in_time"] == "interleaved"


def test_a_baseline_of_one_night_is_not_overtrusted(bench, store):
    for night in range(6):
        store.add(f"night{night}", slower(1 + 0.001 * (night % 3)), 24 * night)
    store.add("pr", slower(1.08), 24 * 9)
    bench.ok("baseline", "set", "main", "name=night0")
    no_verdict(bench, "--baseline", "main", "--candidate", "name=pr", because="too wide")
    for night in range(1, 6):
        bench.ok("baseline", "set", "main", f"name=night{night}")
    verdict = gate(bench, "--baseline", "main", "--candidate", "name=pr", expected=3)
    assert verdict["baseline"]["meaning"] == "named baseline main, version 6"
    assert "between 6 sessions" in verdict["metrics"][0]["estimate"]["method"]


def test_baselines_are_named_and_versioned(bench, store):
    first = store.add("a", STEADY[:3])
    second = store.add("b", STEADY[3:])
    assert bench.ok("baseline", "list").stdout == "no named baselines\n"
    bench.ok("baseline", "set", "main", "name=a")
    bench.ok("baseline", "set", "main", "name=b")
    bench.ok("baseline", "set", "other", first[0])
    shown = json.loads(bench.ok("baseline", "show", "main", "--json").stdout)
    jsonschema.validate(shown, BASELINES_SCHEMA)
    assert [(b["version"], b["reference"], b["runs"]) for b in shown] == [(1, "name=a", first), (2, "name=b", second)]
    listed = json.loads(bench.ok("baseline", "list", "--json").stdout)
    assert [(b["name"], b["version"]) for b in listed] == [("main", 2), ("other", 1)]
    bench.ok("baseline", "delete", "other")
    assert "other" not in bench.ok("baseline", "list").stdout
    store.set(f"id = '{first[0]}'", state="failed", reason="rank 0 died")
    for arguments, word in ((["set", "x", "name=a"], "rank 0 died"), (["set", "x", "name=none"], "no run"),
                            (["set", "a b", "name=b"], "cannot name"), (["set", "last", "name=b"], "last"),
                            (["delete", "none"], "none"), (["show", "none"], "main")):
        done = bench("baseline", *arguments)
        assert done.returncode == 2 and word in done.stderr, (arguments, done.stderr)



def policy(bench, text):
    file = bench.tmp / "policy.toml"
    file.write_text(text)
    return file


def test_history_shows_where_the_level_changed(bench, store):
    store.add("main", STEADY * 2 + slower(1.2) * 2, apart_s=600)
    picture = bench.tmp / "history.svg"
    done = bench.ok("history", "--where", "name=main", "--json", "--svg", picture)
    history = json.loads(done.stdout)
    jsonschema.validate(history, HISTORY_SCHEMA)
    series, = history["series"]
    assert len(series["points"]) == 24
    change, = series["changes"]
    assert change["index"] == 12 and change["worse"]
    assert change["after"] / change["before"] == pytest.approx(1.2, abs=0.01)
    assert picture.read_text().startswith("<svg") and "</svg>" in picture.read_text()
    text = bench.ok("history", "--metric", "throughput", "--where", "name=main").stdout
    assert "% worse" in text and change["run"] in text
    store.set("name = 'main'", valid=0, invalid_reason="no communication was seen")
    assert bench.ok("history", "--where", "name=main").stdout.count("no finished run matches") == 1
    none = bench("history", "--where", "name=none")
    assert none.returncode == 2 and none.stdout == "" and "matches --where name=none" in none.stderr, none.stderr


def test_the_policy_file_given_as_an_example_is_valid(bench, store):
    store.add("main", STEADY)
    store.add("slow", slower(1.2), 0.2)
    sides = ["--baseline", "name=main", "--candidate", "name=slow"]
    gate(bench, *sides, "--policy", ROOT / "reports/ci/policy.toml", expected=3)
    gate(bench, *sides, "--policy", policy(bench, 'threshold = "50%"'), expected=0)
    # The command line has the last word.
    gate(bench, *sides, "--policy", policy(bench, 'threshold = "50%"'), "--threshold", "3%", expected=3)


MISTAKES = [
    ([], ["--baseline", "--candidate", "--run"]),
    (["--baseline", "name=a"], ["--candidate"]),
    (["--baseline", "nmae=a", "--candidate", "name=a"], ["nmae", "did you mean name?"]),
    (["--baseline", "name=a,b", "--candidate", "name=a"], ["\\,"]),
    (["--baseline", "nodes=two", "--candidate", "name=a"], ["nodes", "number"]),
    (["--baseline", "state=dancing", "--candidate", "name=a"], ["dancing", "interrupted"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--metric", "speed"], ["speed", "step_time"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--threshold", "3"], ["--threshold", "3%"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--threshold", "-3%"], ["--threshold"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--vary", "colour"], ["colour", "link"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--pairs", "5"], ["--pairs", "--run"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--repeat-on-fail", "1"], ["--repeat-on-fail", "--run"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--policy", "/nonexistent.toml"], ["/nonexistent.toml"]),
    (["--baseline", "name=a", "--candidate", "name=a", "--junit", "/nonexistent/x.xml"], ["/nonexistent"]),
    (["--run", "--nodes 1", "--nodes 1", "--baseline", "x"], ["--run", "--baseline"]),
    (["--run", "--nodes 1"], ["--run"]),
    (["--run", "--nodes 0", "--nodes 1"], ["baseline", "nodes", "0"]),
    (["--run", "--nodes 1", "--nodez 1"], ["candidate", "nodez"]),
    (["--run", "--nodes 1 --repeat 3", "--nodes 1"], ["--repeat", "gate"]),
    (["--run", "--nodes 1 --db x", "--nodes 1"], ["--db", "gate"]),
    (["--run", "--nodes 1", "--nodes 1", "--pairs", "1"], ["--pairs", "1"]),
    (["--run", "--help", "--nodes 1"], ["--help"]),
]


@pytest.mark.parametrize("arguments, words", MISTAKES, ids=[" ".join(a) or "nothing" for a, _ in MISTAKES])
def test_mistake_is_explained(bench, real_store, arguments, words):
    shutil.copy(real_store, bench.db)
    done = bench("gate", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert all(word in done.stderr for word in words), done.stderr
    assert "internal error" not in done.stderr
    assert len(bench.rows("SELECT 1 FROM run")) == 1


def test_policy_mistakes_name_file_and_line(bench, store):
    for text, words in (('threshold = "3%"\nmin_pair = 3', [":2:", "min_pair", "min_pairs"]),
                        ("metrics = [", [":1:"]), ("[thresholds]\nspeed = 0.1", [":2:", "speed"])):
        done = bench("gate", "--baseline", "name=a", "--candidate", "name=a", "--policy", policy(bench, text))
        assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr


HOSTILE = "'; DROP TABLE run;--\n</failure>]]><script>alert(1)</script>\x1b[31m|`@all`\u202e"


def test_hostile_names_are_harmless(bench, store):
    store.add(HOSTILE, STEADY)
    store.add("slow " + HOSTILE, slower(1.5), 0.2)
    escaped = HOSTILE.replace("\\", "\\\\").replace(",", "\\,")
    arguments = ["--baseline", "name=" + escaped, "--candidate", "name=slow " + escaped]
    gate(bench, *arguments, expected=3)
    for text in (bench("gate", *arguments).stdout, (bench.tmp / "gate.md").read_text(),
                 (bench.tmp / "gate.xml").read_text(), bench.ok("history").stdout):
        assert "\x1b" not in text and "\u202e" not in text
    assert "<script>" not in (bench.tmp / "gate.xml").read_text()
    assert "<script>alert" not in (bench.tmp / "gate.md").read_text()
    done = bench("gate", "--baseline", HOSTILE, "--candidate", "\x1b]0;x\x07")
    assert done.returncode in (2, 4) and "\x1b" not in done.stdout + done.stderr
    bench.ok("baseline", "set", "main", "name=" + escaped)
    assert "\x1b" not in bench.ok("baseline", "list").stdout
    assert len(store.rows("SELECT 1 FROM run")) == 13


def test_a_failed_run_ends_the_measurement_without_a_verdict(bench):
    endless = "--nodes 1 --gpus 2 --steps 1000000 -O hidden=64"
    process = bench.start("gate", "--run", endless, endless, "--pairs", 3, "--json")
    ranks = wait_until(lambda: len(bench.workers()) == 2 and bench.workers(), 60, "the ranks of the first run")
    os.kill(ranks[1], signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    verdict = json.loads(out)
    jsonschema.validate(verdict, GATE_SCHEMA)
    assert any("failed: rank 1" in reason for reason in verdict["reasons"]), verdict["reasons"]
    assert len(bench.rows("SELECT 1 FROM run")) == 1, "nothing more is measured"


def test_an_interrupted_measurement_is_no_verdict_but_an_interrupt(bench):
    endless = "--nodes 1 --gpus 2 --steps 1000000 -O hidden=64"
    process = bench.start("gate", "--run", endless, endless, "--pairs", 3, "--junit", bench.tmp / "gate.xml")
    wait_until(lambda: len(bench.workers()) == 2, 60, "the ranks of the first run")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and out == ""
    assert not (bench.tmp / "gate.xml").exists()
