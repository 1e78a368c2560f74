"""One `ddbench run` and what it says of itself. All of it goes to the file that $LOG names, too."""

import json
import os
import signal
import subprocess
import sys

# When the time is up SIGTERM comes to the run as well, which reports how far it got; no other begins.
sigterm_pending = []
signal.signal(signal.SIGTERM, lambda *_: sigterm_pending.append(True))


def last_line(text):
    return ([line for line in text.splitlines() if line.strip()] or ["it said nothing"])[-1].strip()


def why_not(done, reported):
    """Empty for a run that may be used."""
    run = reported["run"] if reported else {"reason": "", "invalid_reason": ""}
    if done.returncode == 0 and reported and run["valid"]:
        return ""
    return run["reason"] or run["invalid_reason"] or f"exit code {done.returncode}: {last_line(done.stderr)}"


def one_run(ddbench, *arguments, timeout_s=120):
    """What `ddbench run --json` reported; RuntimeError with the run's own reason when it failed or is invalid. $SKU names the machine's
    peaks. The store is that of $DDBENCH_DB unless the arguments name one."""
    command = [ddbench, "run", "--no-baseline", "--quiet", "--json", "--sku", os.environ.get("SKU", ""), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"not done after {timeout_s} s: {' '.join(command)}") from None
    if "LOG" in os.environ:
        with open(os.environ["LOG"], "a") as log:
            log.write(f"--- {' '.join(command)}: exit code {done.returncode}\n{done.stderr}{done.stdout}\n")
    reported = json.loads(done.stdout) if done.stdout.startswith("{") else None
    reason = why_not(done, reported)
    if sigterm_pending:
        sys.exit(f"SIGTERM received: {reason or 'a run was done'}")
    if reason:
        raise RuntimeError(reason)
    return reported


def mfu_text(run):
    return f"MFU {100 * run['mfu']:.1f}%" if run["mfu"] is not None else f"MFU not known: {run['missing'].get('mfu', 'no reason')}"
