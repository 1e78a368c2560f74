"""A rank dies, hangs or is asked to end: at its start, in the rendezvous, in its first step, in a measured one, at the end of the run."""

import contextlib
import os
import signal
import time

from kinds.templates import LONG, TINY
from kinds.worlds import PLACEMENTS, started
from promises import Fault
from room import wait_until

SIGNALS = [signal.SIGKILL] * 4 + [signal.SIGSTOP] * 2 + [signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV]
MOMENTS = ("start-up", "rendezvous", "first step", "measured steps", "end of the run", "write")
LAUNCHERS = ["local"] * 4 + ["env"] * 2 + ["mpirun"] * 2 + ["srun"] * 2


def has_ended(commands):
    return commands[0].process.poll() is not None


def victim_pid(room, commands, launcher, rank):
    if launcher == "env" and rank > 0:
        return commands[rank].process.pid
    return room.ranks().get(rank)


def spooled(room, rank):
    sizes = []
    for path in room.temporary.glob(f"ddbench-[0-9]*/**/rank{rank}*.spool"):
        with contextlib.suppress(OSError):
            sizes.append(path.stat().st_size)
    return max(sizes, default=0)


def wait_for(moment, room, commands, launcher, rank, world, generator):
    """Until the moment, or the end of the run."""
    condition, delay_s = {
        "start-up": (lambda: True, 0.05),
        "rendezvous": (lambda: launcher == "env" or len(room.ranks()) == world, 0.4),
        "first step": (lambda: spooled(room, rank) > 0, 0.1),
        "measured steps": (lambda: spooled(room, rank) > 12_000, 0.6),
        "end of the run": (lambda: spooled(room, rank) > 0, 1.2),
    }[moment]
    wait_until(lambda: has_ended(commands) or victim_pid(room, commands, launcher, rank), 120)
    wait_until(lambda: has_ended(commands) or condition(), 120)
    time.sleep(generator.uniform(0, delay_s))


def inject(room, generator, templates):
    launcher = generator.choice(LAUNCHERS)
    nodes, gpus = generator.choice(PLACEMENTS[launcher])
    rank, number, moment = generator.randrange(nodes * gpus), generator.choice(SIGNALS), generator.choice(MOMENTS)
    at = generator.randint(1, 14)
    shim = None
    if moment == "write":
        number, shim = signal.SIGKILL, dict(FAULT_WHO=f"rank:{rank}", FAULT_ACTION=generator.choice(["kill", "torn-kill"]), FAULT_AT=str(at))
    ends_by_itself = moment in ("end of the run", "write")
    arguments = ["--steps", "40", "--warmup", "2", "--data-delay", "2ms", *TINY] if ends_by_itself else LONG
    fault = Fault(f"{launcher}, {nodes} x {gpus}, rank {rank}: {number.name} at {moment}{f' {at}' if shim else ''}")
    fault.commands = started(room, templates, launcher, nodes, gpus, arguments, shim)
    if launcher == "env":
        fault.deaths, fault.followers = {-int(number)}, fault.commands[1:]
    pid = None
    if not shim:
        wait_for(moment, room, fault.commands, launcher, rank, nodes * gpus, generator)
        pid = victim_pid(room, fault.commands, launcher, rank)
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
    fault.commands[0].finish()
    if pid and number == signal.SIGSTOP:  # a rank that somebody else has started is stopped until that one lets it go on
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    for command in fault.commands[1:]:
        command.finish()
    judge(room, fault, rank, certain=pid is not None and not ends_by_itself and number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV)
          and moment == "measured steps")
    return fault


def judge(room, fault, rank, certain):
    """Exit code and stored state agree, and a rank that died in the middle is named."""
    code = fault.commands[0].code
    runs = room.rows("select * from run") if room.has_store() else []
    state = runs[0]["state"] if runs else "not stored"
    fault.outcome = f"exit {code}, {state}"
    expected = {0: ("done",), 1: ("failed", "not stored"), 5: ("failed", "not stored"), 130: ("interrupted", "preempted")}
    if code in expected and state not in expected[code]:
        fault.problems.append(f"exit {code}, and the run is {state}: {fault.commands[0]}")
    if certain and code == 1 and f"rank {rank}" not in runs[0]["reason"]:
        fault.problems.append(f"the reason does not name rank {rank}: {runs[0]['reason']}")
    if certain and code == 0:
        fault.problems.append("a rank was killed, and the run is done")
