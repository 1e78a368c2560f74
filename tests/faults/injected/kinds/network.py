"""Links between nodes, or between ranks and launcher, are cut: taken down, or every packet is lost; for a moment or for good."""

import subprocess
import time

from kinds.templates import LONG, SHORT, TINY, Impossible
from kinds.worlds import LIMITS
from promises import Fault
from room import processes, wait_until


def inside(pid):
    return ["nsenter", "--target", str(pid), "--net"]


def links(pid):
    shown = subprocess.run([*inside(pid), "ip", "-brief", "link"], capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0].split("@")[0] for line in shown if line.split()[0] != "lo"]


def cut(pid, link, how, heal=False):
    """Down, or silent: packets go to neighbours that nobody is, so that they are lost without an error."""
    if how == "down":
        subprocess.run([*inside(pid), "ip", "link", "set", link, "up" if heal else "down"], capture_output=True)
        return
    shown = subprocess.run([*inside(pid), "ip", "neigh", "show", "dev", link], capture_output=True, text=True).stdout
    for neighbour in {line.split()[0] for line in shown.splitlines()}:
        words = ["del", neighbour] if heal else ["replace", neighbour, "lladdr", "02:00:00:00:00:99", "nud", "permanent"]
        subprocess.run([*inside(pid), "ip", "neigh", *words, "dev", link], capture_output=True)


def hosts_of(room, templates):
    import two_hosts
    if reason := two_hosts.missing():
        raise Impossible(reason)

    def begin():
        folder = templates.base / "hosts"
        folder.mkdir()
        hosts = two_hosts.TwoHosts(folder)
        templates.stops.append(hosts.stop)
        return hosts
    hosts = templates.once("hosts", begin)
    room.pids_before |= set(processes())
    return hosts


def inject(room, generator, templates):
    remote, how = generator.random() < 0.4, generator.choice(["down", "silent"])
    pause_s = generator.choice([None, None, generator.uniform(0.05, 0.5), generator.uniform(1, 8)])
    moment, delay_s = generator.choice(["start", "steps", "end"]), generator.uniform(0, 0.6)
    arguments = SHORT if moment == "end" else LONG
    if moment == "end":
        arguments = ["--steps", "60", "--warmup", "2", "--data-delay", "2ms", *TINY]
    if remote:
        hosts = hosts_of(room, templates)
        host = generator.choice(hosts.hosts)
        command = room.start("run", *arguments, *LIMITS, "--nodes", 2, "--gpus", 1, *hosts.options, prefix=hosts.prefix)
    else:
        nodes, victim = generator.choice([2, 3]), generator.randint(0, 1)
        command = room.start("run", *arguments, *LIMITS, "--nodes", nodes, "--gpus", 1)
    fault = Fault(f"{'mpirun on two hosts' if remote else f'{nodes} nodes'}: a link is {how} at {moment} + {delay_s:.2f} s"
                  + (f" for {pause_s:.2f} s" if pause_s else " for good"), commands=[command])
    ended = lambda: command.process.poll() is not None
    ready = {"start": lambda: len(room.ranks()) >= 1, "steps": lambda: any(p.stat().st_size > 8000 for p in room.spools()), "end": room.spools}[moment]
    wait_until(lambda: ended() or ready(), 120)
    time.sleep(delay_s)
    pid = hosts.pids[host] if remote else room.ranks().get(victim)
    found = links(pid) if pid else []
    if not found:
        fault.what += " (no link was there)"
    else:
        cut(pid, found[0], how)
    try:
        if pause_s and found:
            time.sleep(pause_s)
            cut(pid, found[0], how, heal=True)
            if moment != "end":
                time.sleep(1)
                command.process.terminate()
        if not wait_until(ended, 40):  # nothing went over this link
            command.process.terminate()
        command.finish()
    finally:
        if remote and found:
            cut(pid, found[0], how, heal=True)
    judge(room, fault, command, healed=pause_s is not None and pause_s < 0.5)
    return fault


def judge(room, fault, command, healed):
    run = room.rows("select * from run")[0] if room.has_store() else None
    state = run["state"] if run else "not stored"
    fault.outcome = f"exit {command.code}, {state}"
    expected = {0: ("done",), 1: ("failed", "not stored"), 5: ("failed", "not stored"), 130: ("interrupted", "preempted")}
    if command.code in expected and state not in expected[command.code]:
        fault.problems.append(f"exit {command.code}, and the run is {state}: {command}")
    if state == "failed" and "rank" not in run["reason"] and "node" not in run["reason"]:
        fault.problems.append(f"the reason names neither a rank nor a node: {run['reason']}")
