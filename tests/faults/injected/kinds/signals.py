"""Each subcommand gets a signal at a random moment."""

import signal
import time

from kinds.templates import SHORT, TABLE, TINY
from promises import Fault

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGUSR1]
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
SUBCOMMANDS = {
    "run": ["run", "--gpus", "2", "--steps", "200", "--data-delay", "2ms", *TINY],
    "run of a program": ["run", "--gpus", "2", "--no-baseline", "--quiet", "--", "sh", "-c", "sleep 0.5; echo said"],
    "sweep": ["sweep", "--nodes", "1", "--gpus", "1,2", *SHORT[:4], "-O", "hidden=16", "--quiet"],
    "micro": ["micro", "--gpus", "2", "--operations", "all_reduce", "-e", "64K", "--seconds", "0.01", "--quiet"],
    "show": ["show", "kept"],
    "list": ["list"],
    "report": ["report", "kept"],
    "gate": ["gate", "--baseline", "kept", "--candidate", "kept"],
    "history": ["history"],
    "baseline set": ["baseline", "set", "main", "kept"],
    "doctor": ["doctor"],
    "scaling": ["scaling"],
    "predict": ["predict", "kept", "--gpus", "1,2,4"],
    "advise": ["advise", "kept"],
    "diagnose": ["diagnose", "kept"],
    "batch": ["batch"],
    "fit": ["fit", "gpt2-124m"],
    "compare": ["compare", "kept", "saved"],
    "import table": ["import", "table", "{stores}/table.csv"],
    "import auto": ["import", "auto", "{stores}/table.csv"],
    "db merge": ["db", "merge", "{stores}/other.db"],
    "db export": ["db", "export", "{stores}/exported.db"],
    "db prune": ["db", "prune", "--where", "workload=mlp", "--yes"],
    "db recover": ["db", "recover"],
    "db check": ["db", "check"],
    "explain": ["explain", "peer", "wait"],
    "completion": ["completion", "bash"],
}


def undisturbed_s(room, templates, name, arguments):
    def measure():
        began = time.monotonic()
        done = room(*arguments)
        return time.monotonic() - began, done.code
    return templates.once(f"seconds of {name}", lambda: templates.apart(room, lambda: (prepare(room, templates, name), measure())[1]))


def prepare(room, templates, name):
    templates.place(room, "killed" if name == "db recover" else "runs")
    (room.stores / "table.csv").write_text(TABLE.replace("bert", "imported"))
    room.add_others(room.stores / "table.csv")


def inject(room, generator, templates):
    name, number = generator.choice(list(SUBCOMMANDS)), generator.choice(SIGNALS)
    arguments = [word.replace("{stores}", str(room.stores)) for word in SUBCOMMANDS[name]]
    length_s, code = undisturbed_s(room, templates, name, arguments)
    prepare(room, templates, name)
    delay_s = generator.uniform(0, 1.1) * length_s
    fault = Fault(f"{name}, {number.name} after {delay_s:.3f} s of {length_s:.3f} s", deaths={-int(number)})
    command = room.start(*arguments)
    fault.commands.append(command)
    time.sleep(delay_s)
    command.process.send_signal(number)
    command.finish()
    fault.outcome = f"exit {command.code}" if not isinstance(command.code, int) or command.code >= 0 else "ended by the signal"
    if command.code not in (code, 130, -int(number)) and not (number not in ENDING and command.code == 0):
        fault.problems.append(f"undisturbed it ends with {code}: {command}")
    if name.startswith("run") and command.code == 130 and room.has_store():
        state = room.rows("select state from run order by started_wall_ns desc limit 1")[0]["state"]
        if state not in ("interrupted", "preempted"):
            fault.problems.append(f"exit 130, and the run is {state}")
    return fault
