"""Memory runs out: an address space that is too small from the start, or at some moment for the launcher or a rank."""

import contextlib
import pathlib
import resource
import signal
import time

from kinds.operations import OPERATIONS, arguments
from kinds.templates import LONG
from promises import Fault
from room import wait_until

# Of what is allocated, mapped, or started as a thread; of a module that cannot be opened.
WORDS = ["memory", "Cannot allocate", "thread", "Resource temporarily", "map segment", "rank", "ulimit", "cannot be opened", "signal"]


def size_of(pid):
    with contextlib.suppress(OSError, IndexError):
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmPeak"):
                return int(line.split()[1]) * 1024
    return 0


def needed(room, templates, name):
    """The largest address space of ddbench while it does this."""
    def measure():
        OPERATIONS[name].prepare(room, templates)
        command = room.start(*arguments(OPERATIONS[name], room))
        peak = 0
        while command.process.poll() is None:
            peak = max(peak, *(size_of(pid) for pid in room.own_processes()), 0)
            time.sleep(0.005)
        command.finish()
        return peak
    return templates.once(f"bytes of {name}", lambda: templates.apart(room, measure))


def from_the_start(room, generator, templates):
    name = generator.choice(list(OPERATIONS))
    most = needed(room, templates, name)
    limit = int(generator.uniform(0.1, 1.05) * most)
    OPERATIONS[name].prepare(room, templates)
    fault = Fault(f"{name} in {limit / 2**20:.0f} MiB of {most / 2**20:.0f} MiB", names=WORDS)
    command = room.start(*arguments(OPERATIONS[name], room), preexec_fn=limited_to(limit)).finish()
    if command.code not in (127, -signal.SIGSEGV) or starts_in(room, limit):
        fault.commands.append(command)
    return fault


def limited_to(bytes_):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))


def starts_in(room, limit):
    """Whether the dynamic linker can load ddbench and its libraries there: before that, nothing of ddbench runs."""
    return room("--version", preexec_fn=limited_to(limit)).code not in (127, -signal.SIGSEGV)


def in_the_middle(room, generator):
    whom, room_left = generator.choice(["launcher", 0, 1]), generator.choice([0, 1 << 20, 8 << 20, 64 << 20])
    command = room.start("run", "--gpus", "2", "--timeout", "10", *LONG)
    moment = generator.choice(["start-up", "steps"])
    fault = Fault(f"run, {whom if whom == 'launcher' else f'rank {whom}'} has {room_left >> 20} MiB more from {moment} on", commands=[command],
                  names=WORDS)
    wait_until(lambda: command.process.poll() is not None or (room.spools() if moment == "steps" else len(room.ranks()) == 2), 120)
    time.sleep(generator.uniform(0, 0.5))
    pid = command.process.pid if whom == "launcher" else room.ranks().get(whom)
    if pid and (size := size_of(pid)):
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_AS, (size + room_left, size + room_left))
    wait_until(lambda: command.process.poll() is not None, generator.uniform(2, 5))
    if command.process.poll() is None:  # it needed no more
        command.process.send_signal(signal.SIGINT)
    command.finish()
    return fault


def inject(room, generator, templates):
    fault = from_the_start(room, generator, templates) if generator.random() < 0.6 else in_the_middle(room, generator)
    fault.outcome = f"exit {fault.commands[0].code}" if fault.commands else "did not start"
    return fault
