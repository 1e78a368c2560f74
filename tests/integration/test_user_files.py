"""Only what ddbench made is ever removed: temporary data, and what lies beside a store."""

import contextlib
import json
import os
import pathlib
import signal
import sqlite3

import pytest
from conftest import EXECUTABLE, HANGS_S, SMALL, wait_until

OWN = f"ddbench-{os.geteuid()}"
CSV = "gpus,throughput\n1,100\n2,190\n"


def tree(path):
    return {str(p.relative_to(path)): p.read_bytes() if p.is_file() else None for p in path.rglob("*")}


@pytest.fixture
def temporary(bench):
    """A $TMPDIR with folders of the user whose names look like ddbench's."""
    path = bench.tmp / "temporary"
    for name in ("ddbench-results", "ddbench-import-mine", ".ddbench-old.AbCdEf", "others"):
        (path / name).mkdir(parents=True)
        (path / name / "r.csv").write_text("x")
        os.utime(path / name, (0, 0))
    (path / "ddbench-owned").mkdir()
    (path / "ddbench-owned" / "owner").write_text("")
    bench.environment["TMPDIR"] = str(path)
    del bench.environment["DDBENCH_TMPDIR"]
    return path


def test_a_run_leaves_the_users_folders_alone(bench, temporary):
    before = tree(temporary)
    bench.ok("run", "--gpus", 1, "--steps", 2, "--no-baseline", "--quiet")
    assert tree(temporary) == before


def test_a_run_leaves_the_users_folders_in_its_own_directory_alone(bench, temporary):
    own = temporary / OWN
    own.mkdir(mode=0o700)
    (own / "20261121T183511-3303bb6b").mkdir()
    (own / "20261121T183511-3303bb6b" / "thesis").write_text("x")
    (own / "link").symlink_to(temporary / "others")
    before = tree(temporary)
    bench.ok("run", *SMALL, "--no-baseline")
    assert tree(temporary) == before


@pytest.mark.parametrize("squatter, why", [("link", "symbolic link"), ("file", "no directory"), ("open", "0777"),
                                           ("foreign", "another user")])
def test_what_stands_in_the_place_of_the_temporary_directory_is_named(bench, temporary, squatter, why):
    own = temporary / OWN
    if squatter == "link":
        own.symlink_to(temporary / "others")
    elif squatter == "file":
        own.write_text("x")
    else:
        own.mkdir(mode=0o700)
        if squatter == "open":
            own.chmod(0o777)
        elif os.geteuid() == 0:
            os.chown(own, 65534, 65534)
        else:
            pytest.skip("only root can make a directory of another user")
    before = tree(temporary)
    done = bench("run", *SMALL, "--no-baseline")
    assert done.returncode == 5
    assert str(own) in done.stderr and why in done.stderr and "DDBENCH_TMPDIR" in done.stderr, done.stderr
    assert tree(temporary) == before


@contextlib.contextmanager
def locked(db):
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        yield
        connection.execute("rollback")


def waiting_import(bench, table):
    """An import that has read its table and waits for the store."""
    table.write_text(CSV)
    process = bench.start("import", "table", table)

    def has_opened_the_store():
        files = [os.path.realpath(entry) for entry in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()]
        return str(bench.db) in files
    wait_until(has_opened_the_store, HANGS_S, "the import waits for the store")
    return process


def test_a_run_leaves_a_living_import_alone(bench):
    bench.ok("run", *SMALL, "--no-baseline")
    with locked(bench.db):
        importing = waiting_import(bench, bench.tmp / "table.csv")
        bench.ok("run", *SMALL, "--no-baseline", "--db", bench.tmp / "other.db")
        assert importing.poll() is None
    out, err = importing.communicate(timeout=HANGS_S)
    assert importing.returncode == 0, err
    assert bench.rows("select count(*) from run where sweep_id like 'import-%'")[0][0] == 2


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_an_ended_import_left_goes_with_the_next(bench, ending):
    bench.ok("run", *SMALL, "--no-baseline")
    with locked(bench.db):
        importing = waiting_import(bench, bench.tmp / "table.csv")
        importing.send_signal(ending)
        importing.communicate(timeout=HANGS_S)
        assert importing.returncode != 0
    bench.ok("import", "table", bench.tmp / "table.csv")
    assert not list(bench.run_directories.iterdir())


def change(db, sql, *parameters):
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        assert connection.execute(sql, parameters).rowcount > 0


def set_fact(bench, db, key, value):
    change(db, "update run set facts_json = json_set(facts_json, '$.' || json_quote(?), ?)", key, value)


@pytest.fixture
def home(bench):
    """Folders of the user around the store: where an id or a fact of a foreign store could lead."""
    bench.db = bench.tmp / "data" / "ddbench" / "results.db"
    bench.environment["DDBENCH_DB"] = str(bench.db)
    bench.ok("run", *SMALL, "--no-baseline", "--name", "own")
    thesis = bench.tmp / "home" / "thesis"
    thesis.mkdir(parents=True)
    (thesis / "chapter1").write_text("x")
    return bench.tmp / "home"


def foreign_store(bench, *more):
    db = bench.tmp / "foreign.db"
    bench.ok("run", *SMALL, "--no-baseline", "--name", "foreign", "--db", db, *more)
    return db


@pytest.mark.parametrize("run_id", ["../../home/thesis", "../../../home/thesis", "..", ".", "", "a/b",
                                    "20261121T183511-3303bb6b/..", ".checkpoints", "-rf", "a b", "a\x1b[2J", "x" * 65,
                                    "20261121T183511-3303bb6b\n"])
def test_an_id_of_a_foreign_store_leads_nowhere(bench, home, run_id):
    db = foreign_store(bench)
    (bench.tmp / "data" / "ddbench" / "results.db.logs").mkdir()
    change(db, "update run set id = ?", run_id)
    before = tree(home)
    done = bench("db", "merge", db)
    assert done.returncode == 2 and "foreign.db" in done.stderr and "looks like" in done.stderr or "look like" in done.stderr
    assert bench.rows("select count(*) from run")[0][0] == 1
    done = bench("db", "check", "--db", db)
    assert done.returncode != 0 and "is not a run id" in done.stdout + done.stderr, done.stdout + done.stderr
    # One that an older ddbench has merged.
    change(bench.db, "update run set id = ?", run_id)
    assert "is not a run id" in bench("db", "check").stdout
    for command in (["db", "prune", "--state", "done", "--yes"], ["show", "last"], ["db", "prune", "--keep-last", "0"]):
        bench(*command)
    assert tree(home) == before


@pytest.mark.parametrize("fact", ["{base}/..", "{base}/../../ddbench", "{base}/.", "{base}", "{base}/", "{home}/thesis",
                                  "{base}/../../../home/thesis", "{base}/20261121T183511-3303bb6b/../../../../home/thesis",
                                  "{base}/20261121T183511-3303bb6b", "{base}/20261121T183511-00000000", "results.db.checkpoints/x"])
def test_a_fact_of_a_foreign_store_leads_nowhere(bench, home, fact):
    base = pathlib.Path(f"{bench.db}.checkpoints")
    base.mkdir()
    (base / "20261121T183511-3303bb6b").symlink_to(home / "thesis")
    (base / "20261121T183511-00000000" / "step-00000010").mkdir(parents=True)
    (base / "20261121T183511-00000000" / "step-00000010" / "state-0.safetensors").write_text("without a marker")
    db = foreign_store(bench)
    set_fact(bench, db, "checkpoint.directory", fact.format(base=base, home=home))
    bench.ok("db", "merge", db)
    before = {**tree(home), **tree(bench.db.parent)}
    bench.ok("db", "prune", "--where", "name=foreign", "--yes")
    after = {**tree(home), **tree(bench.db.parent)}
    assert before.keys() == after.keys()
    assert [run["name"] for run in bench.rows("select name from run")] == ["own"]


def test_prune_follows_no_links(bench, home):
    run_id = bench.run_json(*SMALL, "--gpus", 1, "--checkpoint-every", 5, "--no-baseline", "--name", "linked")["run"]["id"]
    base = pathlib.Path(f"{bench.db}.checkpoints")
    (base / run_id / "step-00000010" / "state-7.safetensors").symlink_to(home / "thesis" / "chapter1")
    (base / run_id / "step-00000020").symlink_to(home / "thesis")
    before = tree(home)
    done = bench.ok("db", "prune", "--where", "name=linked", "--yes")
    assert tree(home) == before
    assert "step-00000020" in done.stderr and "did not write" in done.stderr, done.stderr
    assert (base / run_id / ".ddbench").exists()


@pytest.mark.parametrize("part", ["checkpoints", "logs"])
def test_a_linked_folder_beside_the_store_is_left_alone(bench, home, part):
    bench.run_json(*SMALL, "--gpus", 1, "--checkpoint-every", 5, "--no-baseline", "--name", "moved")
    bench("run", "--no-baseline", "--name", "moved", "--", "echo", "hello")
    base = pathlib.Path(f"{bench.db}.{part}")
    base.rename(home / part)
    base.symlink_to(home / part)
    before = tree(home)
    assert len(before) > 3, before
    done = bench.ok("db", "prune", "--where", "name=moved", "--yes")
    assert "symbolic link" in done.stderr, done.stderr
    assert tree(home) == before


def test_prune_keeps_what_others_have_put_beside_checkpoints(bench, home):
    run_id = bench.run_json(*SMALL, "--gpus", 1, "--checkpoint-every", 5, "--no-baseline", "--name", "noted")["run"]["id"]
    folder = pathlib.Path(f"{bench.db}.checkpoints") / run_id
    (folder / "notes.txt").write_text("mine")
    before = tree(folder)
    done = bench.ok("db", "prune", "--where", "name=noted", "--yes")
    assert f"{folder} is kept" in done.stderr and "notes.txt" in done.stderr, done.stderr
    assert tree(folder) == before


def test_an_abandoned_run_of_a_foreign_store_leads_nowhere(bench, home):
    """Its id would name a directory of temporary data that is taken over and removed."""
    mine = bench.run_directories / "mine"
    mine.mkdir()
    (mine / "owner").write_text("")
    (mine / ".ddbench").write_text("ddbench temporary ../mine\n")
    change(bench.db, "update run set id = '../mine', state = 'running', owner_pid = 4194304")
    before = tree(bench.run_directories)
    bench("run", *SMALL, "--no-baseline")
    assert tree(bench.run_directories) == before
    for path in sorted(mine.iterdir()):
        path.unlink()
    mine.rmdir()


def test_imports_of_one_file_at_once_store_it_once(bench):
    table = bench.tmp / "table.csv"
    table.write_text(CSV)
    processes = [bench.start("import", "table", table, "--json") for _ in range(8)]
    results = []
    for process in processes:
        out, err = process.communicate(timeout=HANGS_S)
        assert process.returncode == 0, err
        results.append(json.loads(out))
    assert sorted(result["already_there"] for result in results) == [False] + 7 * [True]
    assert bench.rows("select count(*) from run")[0][0] == 2


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_with_command_lines_are_private(bench, umask):
    bench.db = bench.tmp / "new" / "data" / "results.db"
    bench.environment["DDBENCH_DB"] = str(bench.db)
    before = os.umask(umask)
    try:
        bench.ok("run", *SMALL, "--gpus", 1, "--checkpoint-every", 5, "--no-baseline")
        bench("run", "--no-baseline", "--quiet", "--", "echo", "hello")
        bench.ok("db", "export", bench.db.parent / "exported.db")
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in [bench.tmp / "new", *(bench.tmp / "new").rglob("*")]}
    assert len(modes) > 8
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items()
               if not path.name.startswith("step-")), modes


def test_last_is_the_run_stored_last_whatever_the_clock_said(bench):
    bench.ok("run", *SMALL, "--no-baseline", "--name", "first")
    change(bench.db, "update run set started_wall_ns = started_wall_ns + 86400000000000")
    bench.ok("run", *SMALL, "--no-baseline", "--name", "second")
    assert json.loads(bench.ok("show", "last", "--json").stdout)["run"]["name"] == "second"


@pytest.mark.parametrize("sql, named", [
    ("create trigger evil after delete on run begin delete from step; end", "trigger"),
    ("create view evil as select * from run", "view"),
    ("create table evil (x)", "table"),
    ("create index evil on run (hex(zeroblob(9)))", "index"),
    ("drop index run_by_name", "run_by_name"),
    ("alter table run rename to real_run; create view run as select * from real_run", "is defined differently"),
    ("alter table kernel add column evil text generated always as (hex(zeroblob(9))) virtual", "kernel"),
])
def test_a_store_with_a_schema_of_others_is_refused(bench, sql, named):
    db = foreign_store(bench)
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.executescript(sql)
    for command in (["list", "--db", db], ["db", "merge", db], ["db", "check", "--db", db], ["run", *SMALL, "--db", db]):
        done = bench(*command)
        assert done.returncode == 2, (command, done.stdout, done.stderr)
        assert "foreign.db" in done.stderr and named in done.stderr, done.stderr


def test_an_install_path_that_ld_preload_cannot_hold_is_recorded_through_a_link(bench):
    modules = bench.tmp / "with a blank:and a colon"
    modules.symlink_to(pathlib.Path(EXECUTABLE).resolve().parents[1] / "lib" / "ddbench")
    environment = dict(bench.environment, DDBENCH_MODULE_DIR=str(modules))
    command = ["run", "--gpus", 2, "--no-baseline", "--", "sh", "-c", "echo $LD_PRELOAD; grep -c inject.so /proc/self/maps"]
    done = bench(*command, env=environment)
    assert "[rank 0] 0" not in done.stderr and f"{OWN}/" in done.stderr and "cannot be preloaded" not in done.stderr, done.stderr
    blank = bench.tmp / "blank dir"
    blank.mkdir()
    done = bench(*command, env=dict(environment, DDBENCH_TMPDIR=str(blank)))
    reported = " ".join(done.stdout.split())
    assert done.returncode != 0 and "LD_PRELOAD" in reported and "DDBENCH_TMPDIR" in reported, done.stdout
    assert not list(blank.iterdir())
