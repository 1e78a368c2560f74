"""Strangers on the control channel: whoever listens first where rank 0 should, and whoever changes or repeats what is on the wire."""

import contextlib
import json
import os
import signal
import socket
import struct
import threading

import control_protocol as protocol
import pytest
from conftest import HANGS_S, wait_until
from ports import free_port, listens
from test_launchers import LONG, SMALL, TOKEN, expect_failure, facts, finish, hashes, last_run, ok, started_as, started_on_node


class FakeLauncher:
    """Listens where rank 0 should and assigns what it likes, in the protocol of the rank that comes: this one, or that of
    older ranks, which sent their token in clear text."""

    def __init__(self, port, assigned, token=""):
        self.assigned, self.token = assigned, token
        self.received = b""  # all that came before a handshake had succeeded
        self.messages = []
        self.listener = socket.create_server(("127.0.0.1", port))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection, _ = self.listener.accept()
        connection.settimeout(HANGS_S)
        with connection:
            self.received = connection.recv(protocol.HELLO_BYTES)
            try:
                if self.received.startswith(protocol.MAGIC):
                    self.shake_hands(connection)
                else:
                    self.play_an_older_one(connection)
            except OSError:
                pass

    def shake_hands(self, connection):
        hello = self.received
        challenge, key, transcript = protocol.challenge_for(hello, self.token)
        connection.sendall(challenge)
        self.received += protocol.receive(connection, protocol.PROOF_BYTES)
        if len(self.received) < protocol.HELLO_BYTES + protocol.PROOF_BYTES:
            return
        sealed = protocol.Sealed(connection, key, transcript, is_rank=False)
        sealed.read()
        sealed.send(self.assigned)
        while (payload := sealed.read()) is not None:
            self.messages.append(payload)
            if payload.startswith(b'{') and json.loads(payload)["type"] == "ping":
                sealed.send({"type": "pong", "id": json.loads(payload)["id"], "reference_ns": 1})

    def play_an_older_one(self, connection):
        self.received += connection.recv(65536)
        payload = json.dumps(self.assigned).encode()
        connection.sendall(struct.pack(">I", len(payload)) + payload)
        while piece := connection.recv(65536):
            self.messages.append(piece)
            for start in range(len(piece)):
                if piece[start:start + 1] == b"{" and b'"ping"' in piece[start:]:
                    message = json.loads(piece[start:].split(b"}")[0] + b"}")
                    pong = json.dumps({"type": "pong", "id": message["id"], "reference_ns": 1}).encode()
                    connection.sendall(struct.pack(">I", len(pong)) + pong)
                    break

    def close(self):
        self.listener.close()
        self.thread.join(HANGS_S)


def program_that_leaves(mark):
    return protocol.assignment(protocol.program_case(2, 1, "/bin/sh", "-c", f"id >{mark}"), 1, 2)


@pytest.mark.parametrize("with_token", [False, True], ids=["no secret", "a secret"])
def test_whoever_listens_first_gets_neither_the_secret_nor_a_program_executed(bench, with_token):
    mark, port = bench.tmp / "executed", free_port()
    launcher = FakeLauncher(port, program_that_leaves(mark))
    rank = started_on_node(bench, 1, port, *LONG, **({"DDBENCH_TOKEN": TOKEN} if with_token else {}))
    _, err = finish(rank)
    launcher.close()
    assert rank.returncode in (1, 2), err
    assert not mark.exists(), "the rank executed what a stranger sent"
    assert "DDBENCH_TOKEN" in err and f"127.0.0.1:{port}" in err, err
    assert TOKEN.encode() not in launcher.received + b"".join(launcher.messages)
    if with_token:
        assert launcher.messages == [] and len(launcher.received) == protocol.HELLO_BYTES, "it left at the false proof"


@pytest.mark.parametrize("changes, word", [
    ({"run_id": "../../escaped"}, "the id of the launcher's run"),
    ({"checkpoint_directory": "/tmp"}, "checkpoints"),
    ({"core_slot": 7}, "core 7"),
    ({"rank": 0}, "number is 0"),
])
def test_a_rank_without_a_secret_takes_only_possible_values(bench, changes, word):
    """The case is the one of its command line; the rest is not."""
    port = free_port()
    case = protocol.program_case(2, 1, "true")
    launcher = FakeLauncher(port, {**protocol.assignment(case, 1, 2), **changes})
    rank = started_on_node(bench, 1, port, "--quiet", "--", "true")
    _, err = finish(rank)
    launcher.close()
    assert rank.returncode != 0 and word in err, err


def test_ranks_with_other_command_lines_are_named(bench):
    port = free_port()
    zero = started_on_node(bench, 0, port, *SMALL)
    one = started_on_node(bench, 1, port, *SMALL, "--lr", "0.5")
    _, err = finish(one)
    assert one.returncode == 2 and "lr is 0.05 there and 0.5 here" in err, err
    expect_failure(bench, zero, "rank 1", "lr is 0.05 there and 0.5 here")


@pytest.mark.parametrize("variables", [{}, {"DDBENCH_TOKEN": TOKEN}], ids=["no secret", "a secret"])
def test_ranks_that_others_start_train_with_and_without_a_secret(bench, variables):
    port = free_port()
    for process in [started_on_node(bench, rank, port, *SMALL, **variables) for rank in (0, 1)]:
        ok(process)
    assert hashes(bench)
    assert facts(bench)["launcher.authentication"] == ("secret" if variables else "none")


def test_ranks_of_one_machine_have_a_secret_by_themselves(bench):
    port = free_port()
    launcher = FakeLauncher(port, program_that_leaves(bench.tmp / "executed"))
    rank = started_as(bench, 1, 2, port, *LONG)
    _, err = finish(rank)
    launcher.close()
    assert rank.returncode == 1 and "does not know this run's secret" in err and not launcher.messages, err
    for process in [started_as(bench, rank, 2, port, *SMALL) for rank in (0, 1)]:
        ok(process)
    assert facts(bench)["launcher.authentication"] == "secret"
    secret = bench.tmp / "data/ddbench/launch-secret"
    assert secret.stat().st_mode & 0o7777 == 0o600
    secret.chmod(0o644)
    exposed = started_as(bench, 1, 2, port, *LONG)
    _, err = finish(exposed)
    assert exposed.returncode == 5 and str(secret) in err, err


def test_a_secret_that_only_one_side_has_is_named(bench):
    port = free_port()
    for zeros, ones in (TOKEN, None), (None, TOKEN):
        zero, one = (started_on_node(bench, rank, port, "--start-timeout", 15, *LONG, **({"DDBENCH_TOKEN": t} if t else {}))
                     for rank, t in enumerate((zeros, ones)))
        _, err = finish(one)
        assert one.returncode == 1 and "DDBENCH_TOKEN is set for" in err, err
        expect_failure(bench, zero, "rank 1", "DDBENCH_TOKEN")
    short = started_on_node(bench, 0, port, *LONG, DDBENCH_TOKEN="short")
    _, err = finish(short)
    assert short.returncode == 2 and "at least 16" in err and "short" not in err.replace("shorter", "")


def test_a_rank_that_resumes_needs_a_secret(bench):
    checkpointed = ["--steps", 6, "--warmup", 0, "--checkpoint-every", 2, "-O", "hidden=16", "--quiet"]
    port = free_port()
    for process in [started_on_node(bench, rank, port, *checkpointed, "--checkpoint-dir", bench.tmp / "kept") for rank in (0, 1)]:
        ok(process)
    assert sorted(p.name for p in (bench.tmp / "kept" / last_run(bench)["id"]).iterdir()), "checkpoints need none"
    launcher = FakeLauncher(port, program_that_leaves(bench.tmp / "executed"))
    rank = started_on_node(bench, 1, port, "--resume", "last")
    _, err = finish(rank)
    launcher.close()
    assert rank.returncode == 2 and "--resume" in err and "DDBENCH_TOKEN" in err, err


class Relay:
    """Between a rank and its launcher; `change` gets each piece that the rank sends, with the number of bytes before it."""

    def __init__(self, port, to_port, change=lambda piece, position: piece):
        self.listener = socket.create_server(("127.0.0.1", port))
        self.to_port, self.change = to_port, change
        self.from_rank = b""
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        rank, _ = self.listener.accept()
        launcher = socket.create_connection(("127.0.0.1", self.to_port), timeout=HANGS_S)
        threading.Thread(target=self.pump, args=(launcher, rank, lambda piece: piece), daemon=True).start()
        self.pump(rank, launcher, self.record)

    def record(self, piece):
        changed = self.change(piece, len(self.from_rank))
        self.from_rank += piece
        return changed

    @staticmethod
    def pump(source, sink, change):
        try:
            while piece := source.recv(65536):
                sink.sendall(change(piece))
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def relayed(bench, change=lambda piece, position: piece, *arguments):
    """Rank 0, rank 1 behind a relay, and the relay."""
    port = free_port()
    relay_port = port + 1
    zero = started_as(bench, 0, 2, port, *arguments, DDBENCH_TOKEN=TOKEN)
    wait_until(lambda: listens(port), HANGS_S, "rank 0 listens")
    relay = Relay(relay_port, port, change)
    one = started_as(bench, 1, 2, relay_port, *arguments, DDBENCH_TOKEN=TOKEN)
    return port, zero, one, relay


def test_what_was_recorded_cannot_be_replayed(bench):
    port, zero, one, relay = relayed(bench, lambda piece, position: piece, "--start-timeout", HANGS_S, *LONG)
    bench.wait_for_step(zero, 2, 2)
    os.kill(zero.pid, signal.SIGINT)
    finish(zero), finish(one)
    recorded = relay.from_rank
    assert recorded.startswith(protocol.MAGIC) and TOKEN.encode() not in recorded
    zero = started_as(bench, 0, 2, port, "--start-timeout", 15, *LONG, DDBENCH_TOKEN=TOKEN)
    wait_until(lambda: listens(port), HANGS_S, "rank 0 listens")
    with socket.create_connection(("127.0.0.1", port), timeout=HANGS_S) as replayed:
        replayed.sendall(recorded[:protocol.HELLO_BYTES])
        assert len(protocol.receive(replayed, protocol.CHALLENGE_BYTES)) == protocol.CHALLENGE_BYTES
        replayed.sendall(recorded[protocol.HELLO_BYTES:])
        with contextlib.suppress(ConnectionResetError):
            assert replayed.recv(4096) == b"", "it was asked something new, and gets nothing more"
    expect_failure(bench, zero, "rank 1", "does not know this run's secret")


def test_a_message_that_is_changed_on_its_way_ends_the_run(bench):
    def flip(piece, position):
        # Long after the handshake: the rank trains and sends heartbeats.
        if position < 20_000:
            return piece
        return piece[:10] + bytes([piece[10] ^ 1]) + piece[11:]
    _, zero, one, _ = relayed(bench, flip, *LONG)
    expect_failure(bench, zero, "rank 1", "control message was changed")
    finish(one)


