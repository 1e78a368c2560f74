"""Ports for what the tests start."""

import random
import pathlib
import socket

LOWEST, HIGHEST = 20_000, 32_000  # below those that Linux gives to connections, which would take them in between


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def free_ports(count):
    """Successive ones."""
    while True:
        first = random.randrange(LOWEST, HIGHEST - count)
        if all(is_free(port) for port in range(first, first + count)):
            return list(range(first, first + count))


def free_port():
    """One whose neighbours are free, too: ddbench listens beside MASTER_PORT."""
    return free_ports(3)[1]


def listens(port):
    return f"0100007F:{port:04X} 00000000:0000 0A" in pathlib.Path("/proc/net/tcp").read_text()
