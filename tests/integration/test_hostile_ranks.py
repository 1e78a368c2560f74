"""Ranks and others who connect to a launcher: another version, floods, silence and garbage."""

import pathlib
import socket
import time

import control_protocol as protocol
from conftest import HANGS_S, wait_until
from ports import free_port, listens
from test_launchers import LONG, SMALL, TOKEN, expect_failure, last_run, ok, started_as, started_on_node


def peak_memory_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def listening_zero(bench):
    """The launcher's port, and rank 0 of a world of two, which waits for the other one."""
    port = free_port()
    zero = started_on_node(bench, 0, port, "--start-timeout", HANGS_S, *LONG)
    wait_until(lambda: listens(port), HANGS_S, "rank 0 listens")
    return port, zero


def test_a_rank_of_another_version_ends_the_run_and_is_named(bench):
    port, zero = listening_zero(bench)
    sealed = protocol.join(("127.0.0.1", port), 1, 2)
    protocol.introduce(sealed, 1, 2, {"version": "0.0.1", "commit": "unknown", "node_name": ""})
    expect_failure(bench, zero, "rank 1", "version 0.0.1")


def test_a_rank_that_floods_the_rendezvous_ends_the_run_in_bounded_memory(bench):
    port, zero = listening_zero(bench)
    before = peak_memory_kb(zero.pid)
    sealed = protocol.join(("127.0.0.1", port), 1, 2)
    protocol.introduce(sealed, 1, 2)
    assert sealed.read_message("assignment")["rank"] == 1
    peak = before
    try:
        for i in range(600):  # 180 MB of values
            sealed.send_key(f"flood{i}", bytes(300_000))
            peak = peak_memory_kb(zero.pid)
    except (OSError, IndexError):  # the launcher has left
        pass
    expect_failure(bench, zero, "rank 1", "rendezvous")
    assert peak - before < 64 * 1024, f"{peak - before} KB"


def test_a_rank_that_does_not_read_ends_the_run_in_bounded_memory(bench):
    port, zero = listening_zero(bench)
    before = peak_memory_kb(zero.pid)
    sealed = protocol.join(("127.0.0.1", port), 1, 2)
    protocol.introduce(sealed, 1, 2)
    sealed.read_message("assignment")
    sealed.send_key("large", bytes(400_000))
    peak = before
    try:
        for i in range(500):  # 400 MB of answers
            sealed.send({"type": "kv_get", "id": i, "key": "large"})
            peak = peak_memory_kb(zero.pid)
    except (OSError, IndexError):  # the launcher has left
        pass
    expect_failure(bench, zero, "rank 1", "does not read")
    assert peak - before < 64 * 1024, f"{peak - before} KB"


def test_strangers_who_connect_and_send_garbage_neither_stop_a_run_nor_take_memory(bench):
    port = free_port()
    zero = started_as(bench, 0, 2, port, *SMALL, DDBENCH_TOKEN=TOKEN)
    wait_until(lambda: listens(port), HANGS_S, "rank 0 listens")
    before = peak_memory_kb(zero.pid)
    strangers = []
    for i in range(600):
        stranger = socket.create_connection(("127.0.0.1", port), timeout=HANGS_S)
        stranger.setblocking(False)
        garbage = [b"", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", protocol.MAGIC, b"\0" * 500_000,
                   protocol.hello_of(1, 2, has_secret=True)][i % 6]
        try:
            stranger.send(garbage)
        except OSError:
            pass
        strangers.append(stranger)
    ok(started_as(bench, 1, 2, port, *SMALL, DDBENCH_TOKEN=TOKEN))
    peak = None
    while zero.poll() is None:
        try:
            peak = peak_memory_kb(zero.pid)
        except (OSError, IndexError):
            break
        time.sleep(0.02)
    ok(zero)
    assert last_run(bench)["state"] == "done"
    assert peak is None or peak - before < 200 * 1024
    for stranger in strangers:
        stranger.close()
