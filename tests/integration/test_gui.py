"""`ddbench gui --demo`: the example store is made once, beside no store of the user's."""

import os
import pathlib
import subprocess

import pytest

from conftest import EXECUTABLE, wait_until

DASHBOARD = pathlib.Path(EXECUTABLE).parent / "ddbench-gui"
pytestmark = pytest.mark.skipif(not DASHBOARD.exists(), reason="built without the dashboard")


def opened(environment):
    """The store that the dashboard opens; it is stopped again."""
    process = subprocess.Popen([EXECUTABLE, "gui", "--demo"], env=environment, stderr=subprocess.DEVNULL)
    try:
        words = wait_until(lambda: [w for w in [pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")]
                                    if w[0].endswith(b"ddbench-gui")], 60, "the dashboard starts")[0]
        return pathlib.Path(os.fsdecode(words[words.index(b"--db") + 1]))
    finally:
        process.terminate()
        process.wait()


def test_the_example_store_is_made_once_in_the_cache(tmp_path):
    cache = tmp_path / "cache"
    user = tmp_path / "results.db"
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache), DDBENCH_DB=str(user), QT_QPA_PLATFORM="offscreen")
    store = opened(environment)
    assert store.parent == cache / "ddbench" and store.name.startswith("demo-")
    checked = subprocess.run([EXECUTABLE, "db", "check", "--db", str(store)], env=environment, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    before = store.stat()
    assert opened(environment) == store
    assert (store.stat().st_ino, store.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    content = store.read_bytes()
    store.write_bytes(content[:5000] + b"damaged" + content[5007:])
    log = store.with_name(store.name + "-wal")
    log.write_bytes(b"of another store")
    assert opened(environment) == store
    assert store.read_bytes() == content
    assert not log.exists() or log.read_bytes() != b"of another store"
    assert not user.exists()
    assert {f.name.removeprefix(store.name) for f in store.parent.iterdir()} <= {"", "-wal", "-shm"}


def fnv(content):
    """The hash in the name of an example store."""
    value = 0xCBF29CE484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001B3 & 2**64 - 1
    return f"demo-{value:016x}.db"


def test_example_stores_of_other_versions_are_removed_if_nobody_has_changed_them(tmp_path):
    cache = tmp_path / "cache" / "ddbench"
    cache.mkdir(parents=True)
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache.parent), DDBENCH_DB=str(tmp_path / "x.db"), QT_QPA_PLATFORM="offscreen")
    ours = b"SQLite format 3\0".ljust(68, b"\0") + b"DDBN" + b"an older version"
    stale, changed = cache / fnv(ours), cache / fnv(ours + b"1")
    stale.write_bytes(ours)
    stale.with_name(stale.name + "-shm").write_bytes(b"index")
    changed.write_bytes(ours + b"1 and a run of the user's")
    logged = cache / fnv(ours + b"2")
    logged.write_bytes(ours + b"2")
    logged.with_name(logged.name + "-wal").write_bytes(b"a run of the user's")
    other = cache / fnv(b"notes")
    other.write_bytes(b"notes")
    linked = cache / fnv(ours + b"3")
    (tmp_path / "elsewhere").write_bytes(ours + b"3")
    linked.symlink_to(tmp_path / "elsewhere")
    store = opened(environment)
    assert store.exists() and not stale.exists() and not stale.with_name(stale.name + "-shm").exists()
    assert changed.exists() and logged.exists() and other.exists() and linked.is_symlink()


def test_a_cache_that_cannot_be_written_and_two_stores_are_refused(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    environment = dict(os.environ, XDG_CACHE_HOME=str(blocked), QT_QPA_PLATFORM="offscreen")
    refused = subprocess.run([EXECUTABLE, "gui", "--demo"], env=environment, capture_output=True, text=True)
    assert refused.returncode == 5 and "XDG_CACHE_HOME" in refused.stderr, refused.stderr
    both = subprocess.run([EXECUTABLE, "gui", "--demo", "--db", "x.db"], env=environment, capture_output=True, text=True)
    assert both.returncode == 2 and "--db" in both.stderr, both.stderr
