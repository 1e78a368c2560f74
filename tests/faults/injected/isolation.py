"""A worker's own namespaces: processes, mounts, network, System V memory. What is left in them was left by a fault of this worker."""

import os
import subprocess
import sys

FLAGS = ["--mount", "--ipc", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
LINKS = ("outside0", "outside1")


def prefix():
    """Of a command that is to run isolated."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, *FLAGS]


def missing():
    """Why there can be no namespaces here; empty when there can."""
    try:
        tried = subprocess.run([*prefix(), "ip", "link", "set", "lo", "up"], capture_output=True, text=True)
    except FileNotFoundError as error:
        return str(error)
    return "" if tried.returncode == 0 else f"this machine gives no namespaces: {tried.stderr.strip()}"


def settle(base):
    """In the isolated process: memory for files at `base` and /dev/shm, the loopback interface, and a first process that reaps orphans."""
    child = os.fork()
    if child:
        while True:
            pid, status = os.wait()
            if pid == child:
                os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    for place, options in ((base, "size=2g"), ("/dev/shm", "size=2g,mode=1777")):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
    # An address beside loopback: without one, getaddrinfo(3) with AI_ADDRCONFIG, as Slurm calls it, knows no host.
    for words in (["link", "set", "lo", "up"], ["link", "add", LINKS[0], "type", "veth", "peer", "name", LINKS[1]],
                  ["addr", "add", "10.99.0.1/24", "dev", LINKS[0]], ["link", "set", LINKS[0], "up"], ["link", "set", LINKS[1], "up"]):
        subprocess.run(["ip", *words], check=True)
    sys.stdout.reconfigure(line_buffering=True)
