"""The control protocol of launcher and ranks (harness/launch/handshake.h, frame_stream.h), written a second time: what
strangers can write, too."""

import hashlib
import hmac
import json
import os
import socket
import struct
import subprocess

from conftest import HANGS_S

MAGIC = b"ddbench\n"
VERSION = 14
HELLO_BYTES, CHALLENGE_BYTES, PROOF_BYTES, TAG_BYTES = 88, 80, 32, 16
MOST_FRAME_BYTES = 1 << 20


def mac(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def receive(connection, count):
    """`count` bytes, or fewer if the connection ends before."""
    received = b""
    while len(received) < count:
        piece = connection.recv(count - len(received))
        if not piece:
            break
        received += piece
    return received


class Sealed:
    """Messages after the handshake, from one side."""

    def __init__(self, connection, key, transcript, is_rank):
        labels = [b"messages of the rank ", b"messages of launcher "]
        self.sending, self.receiving = (mac(key, label + transcript) for label in (labels if is_rank else labels[::-1]))
        self.connection = connection
        self.sent = self.received = 0

    def frame(self, payload):
        header = struct.pack(">I", len(payload))
        tag = mac(self.sending, struct.pack("<Q", self.sent) + header + payload)[:TAG_BYTES]
        self.sent += 1
        return header + payload + tag

    def send(self, message):
        self.connection.sendall(self.frame(json.dumps(message).encode()))

    def send_key(self, key, value):
        """Into the rendezvous."""
        self.connection.sendall(self.frame(b"\x01" + struct.pack("<H", len(key)) + key.encode() + value))

    def read(self):
        """The next payload; None at the end."""
        header = receive(self.connection, 4)
        if len(header) < 4:
            return None
        length, = struct.unpack(">I", header)
        payload, tag = receive(self.connection, length), receive(self.connection, TAG_BYTES)
        if len(tag) < TAG_BYTES:
            return None
        assert tag == mac(self.receiving, struct.pack("<Q", self.received) + header + payload)[:TAG_BYTES]
        self.received += 1
        return payload

    def read_message(self, kind):
        """The next message of this type; others are passed over."""
        while (payload := self.read()) is not None:
            if payload[:1] != b"\0" and json.loads(payload)["type"] == kind:
                return json.loads(payload)
        return None


def hello_of(rank, world_size, job="", has_secret=False):
    return (MAGIC + struct.pack(">IIiI", VERSION, int(has_secret), rank, world_size) + mac(b"ddbench job name", job.encode()) +
            os.urandom(32))


def join(address, rank, world_size, job="", token=""):
    """The connection of a rank, the only one on its node, that has not introduced itself."""
    connection = socket.create_connection(address, timeout=HANGS_S)
    key = mac(token.encode(), b"ddbench control channel")
    hello = hello_of(rank, world_size, job, bool(token))
    connection.sendall(hello)
    challenge = receive(connection, CHALLENGE_BYTES)
    assert len(challenge) == CHALLENGE_BYTES and challenge.startswith(MAGIC)
    refusal, = struct.unpack(">I", challenge[12:16])
    assert refusal == 0, f"turned away: {refusal}"
    transcript = hello + challenge[:48]
    assert challenge[48:] == mac(key, b"proof of the launcher" + transcript)
    connection.sendall(mac(key, b"proof of the rank    " + transcript))
    return Sealed(connection, key, transcript, is_rank=True)


def build_of(executable):
    """The version and commit that a rank of the same ddbench says; a commit that is not known is no difference."""
    version = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    return {"version": version, "commit": "unknown", "node_name": ""}


def introduce(sealed, rank, world_size, build=None):
    build = build or build_of(os.environ["DDBENCH_EXECUTABLE"])
    sealed.send({"type": "hello", "protocol": VERSION, "rank": rank, "pid": 1, "host": "stranger", "boot_id": "none",
                 "local_rank": 0, "world_size": world_size, "cores": "0", "address": "127.0.0.1",
                 **build})


def challenge_for(hello, token=""):
    """What a launcher answers, and what it derives: (challenge, key, transcript)."""
    key = mac(token.encode(), b"ddbench control channel")
    head = MAGIC + struct.pack(">II", VERSION, 0) + os.urandom(32)
    transcript = hello + head
    return head + mac(key, b"proof of the launcher" + transcript), key, transcript


def assignment(run_case, rank, world_size, **changes):
    return {"type": "assignment", "run_case": json.dumps(run_case), "rank": rank, "local_rank": 0, "node": rank,
            "world_size": world_size, "address": "127.0.0.1", "core_slot": -1, "spool": "", "reduce_spans": False,
            "checkpoint_directory": "", "resume_from": "", "run_id": "20260101T000000-00000000", "communicator_id": 1, "follows_clock": False,
            **changes}


def program_case(nodes, gpus_per_node, *command):
    return {"workload": "program", "workload_options": {"command": json.dumps(list(map(str, command)))}, "nodes": nodes,
            "gpus_per_node": gpus_per_node, "batch_per_gpu": 1, "device": "", "backend": "", "strategy": "", "precision": "",
            "optimizer": ""}
