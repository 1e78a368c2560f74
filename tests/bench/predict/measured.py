#!/usr/bin/env python3
"""`ddbench predict` against runs on this machine.

For each workload and strategy: profile one node of two ranks; measure collectives between two nodes over each link with
`ddbench micro`; predict two nodes of one rank; then run them. Prints each error, the median and worst, and how many 95%
intervals hold the measured throughput. Both cores are shared by everything else that runs: start it on a quiet machine.

    tests/bench/predict/measured.py [DDBENCH] [--quick]
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
LINKS = ["100mbit", "1gbit", ""]
CASES = [(workload, strategy) for workload in ("mlp", "resnet18", "gpt2-nano") for strategy in ("ddp", "zero1")]
BATCH = {"mlp": "256", "resnet18": "8", "gpt2-nano": "8"}
MICRO = ["--operations", "all_reduce,reduce_scatter,all_gather,broadcast", "-b", "1K", "-e", "16M", "-f", "4"]
STEPS = {"mlp": "60", "resnet18": "16", "gpt2-nano": "24"}


class Bench:
    def __init__(self, program, directory):
        self.program, self.store = program, directory / "predict.db"

    def __call__(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--json", "--db", self.store], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise SystemExit(f"ddbench {' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout)

    def run(self, case, *arguments):
        workload, strategy = case
        report = self("run", "--workload", workload, "--strategy", strategy, "--batch-per-gpu", BATCH[workload],
                      "--bucket-mb", "1", "--steps", STEPS[workload], "--no-baseline", *arguments)
        return report["run"]["id"], report["samples_per_s"]


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    program = pathlib.Path(arguments[0] if arguments else ROOT / "build/release/bin/ddbench").resolve()
    cases, links = (CASES[:2], LINKS[:2]) if "--quick" in sys.argv else (CASES, LINKS)
    errors, covered = [], 0
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(program, pathlib.Path(directory))
        shaped = {link: (["--link", link] if link else []) for link in links}
        micro = {link: bench("micro", "--nodes", "2", "--gpus", "1", *MICRO, *option)["run"] for link, option in shaped.items()}
        for case in cases:
            profile, rate = bench.run(case, "--nodes", "1", "--gpus", "2")
            for link, option in shaped.items():
                (predicted,) = bench("predict", profile, "--nodes", "2", "--gpus", "1", "--network", micro[link])["predictions"]
                said = predicted["samples_per_s"]
                _, measured = bench.run(case, "--nodes", "2", "--gpus", "1", *option)
                errors.append(said["value"] / measured - 1)
                covered += said["ci_low"] <= measured <= said["ci_high"]
                print(f"{case[0]:10} {case[1]:6} {link or 'unshaped':9} recorded {rate:9.1f}  predicted {said['value']:9.1f} "
                      f"({said['ci_low']:.1f}-{said['ci_high']:.1f})  measured {measured:9.1f}  {100 * errors[-1]:+6.1f}%",
                      flush=True)
        for ranks in (64, 1024, 4096):
            begin = time.monotonic()
            asked = [program, "predict", profile, "--nodes", str(ranks), "--gpus", "1", "--link", "10gbit,20us", "--json",
                     "--db", bench.store]
            with subprocess.Popen(asked, stdout=subprocess.DEVNULL) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            print(f"{ranks} ranks: {time.monotonic() - begin:.2f} s, {usage.ru_maxrss / 1024:.0f} MiB")
    print(f"median |error| {100 * statistics.median(map(abs, errors)):.1f}%, worst {100 * max(map(abs, errors)):.1f}%, "
          f"{covered} of {len(errors)} intervals hold the measured throughput")


if __name__ == "__main__":
    main()
