#!/usr/bin/env python3
"""The scripts of tests/integration/programs/loops by their own account and by ddbench's: a table.

Each script counts its steps and samples and times data, forward, backward and optimizer; ddbench's figures of the same run stand
beside them, and what recording cost by its own account. The scripts are as large as training is: LOOP_HIDDEN and LOOP_TIMES.

    python3 tests/bench/program/corpus.py [build directory] [python]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LOOPS = ROOT / "tests/integration/programs/loops"
SIZE = {"LOOP_HIDDEN": "1024", "LOOP_TIMES": "10"}


def corpus(python):
    """{name: (options, command)}"""
    script = lambda name, *rest: [python, str(LOOPS / f"{name}.py"), *rest]
    single = ("--hidden", "1024", "--batch", "64")
    torchrun = [python, "-m", "torch.distributed.run", "--nproc_per_node=2", "--master_port=29641"]
    return {
        "one process": ((), script("single", "--samples", "1600", *single)),
        "slow loader": ((), script("single", "--samples", "256", "--delay", "0.0005", *single)),
        "loader workers": ((), script("single", "--samples", "1600", "--workers", "2", *single)),
        "slow loader workers": ((), script("single", "--samples", "640", "--workers", "2", "--delay", "0.0005", *single)),
        "callbacks, closure": ((), script("trainer")),
        "two optimizers": ((), script("adversarial")),
        "tqdm": ((), script("bar")),
        "DDP, validation": (("--gpus", "2"), script("validation")),
        "DDP, no_sync": (("--gpus", "2"), script("accumulation")),
        "torchrun": ((), [*torchrun, "--redirects=1", "--tee=1", *script("accumulation")[1:]]),
        "mp.spawn": ((), script("spawned")),
        "shell": ((), ["sh", "-c", " ".join(script("single", "--samples", "800", *single)) + " | cat"]),
    }


def errors(run, accounts):
    """Of throughput and of each share, signed, in per cent and points: of the whole job, from its first begin to its last end."""
    elapsed = max(a["end"] for a in accounts) - min(a["begin"] for a in accounts) - max(a["between"] for a in accounts)
    rate = sum(a["samples"] for a in accounts) / elapsed
    facts, step_ns = run["environment"]["facts"], run["step_time_ns"]["value"]
    shares = {}
    for part in ("data", "forward", "backward", "optimizer"):
        own = sum(a["shares"][part] * (a["end"] - a["begin"] - a["between"]) for a in accounts) / len(accounts) / elapsed
        if own > 0:
            shares[part] = 100 * (float(facts.get(f"program.{part}_ns", 0)) / step_ns - own)
    return 100 * (run["samples_per_s"] / rate - 1), shares


def main():
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release"
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    print("script               steps own/ddbench  throughput  data  forward  backward  optimizer    step ms  recording")
    with tempfile.TemporaryDirectory() as name:
        environment = dict(os.environ, DDBENCH_DB=f"{name}/runs.db", CUDA_VISIBLE_DEVICES="", MASTER_PORT="29642", **SIZE)
        for title, (options, command) in corpus(python).items():
            done = subprocess.run([build / "bin/ddbench", "run", "--warmup", "0", "--json", *options, "--", *command], env=environment,
                                  capture_output=True, text=True)
            accounts = [json.loads(line.partition("ACCOUNT ")[2]) for line in done.stderr.splitlines() if "ACCOUNT " in line]
            if done.returncode != 0 or not accounts:
                print(f"{title:20} failed ({done.returncode}): {done.stderr[-300:]}")
                continue
            run = json.loads(done.stdout)
            rate, shares = errors(run, accounts)
            step_ns = run["step_time_ns"]["value"]
            reported = "  ".join(f"{shares[part]:+7.1f}" if part in shares else "      –" for part in ("data", "forward", "backward", "optimizer"))
            print(f"{title:20} {accounts[0]['steps']:>8}/{run['steps']['measured']:<8} {rate:+9.2f}%  {reported} {step_ns / 1e6:10.2f}  "
                  f"{run['probe_account_ns'] / 1e3:.0f} us, {100 * run['probe_account_ns'] / step_ns:.2f}%", flush=True)


if __name__ == "__main__":
    main()
