#!/usr/bin/env python3
"""What `ddbench predict` says of another batch and another bucket size, against runs with these on the GPU. The
recorded run is repeated at the end, and what it moved is printed. Exit code 1 when a prediction is off by more than 5 %.

    predicted.py DDBENCH        $DDBENCH_DB is the store of the runs
"""

import json
import subprocess
import sys

from one_run import last_line, one_run

ALLOWED = 0.05
GPT2 = ["--workload", "gpt2-124m", "--precision", "bf16", "--optimizer", "adamw", "--lr", "0.0003", "--steps", 40, "--warmup", 10]
TWO_RANKS = ["--gpus", 2, "--share-gpus"]
MLP = ["-O", "hidden=1024,1024,1024,1024,1024,1024", *TWO_RANKS, "--steps", 100, "--warmup", 10]  # layers of 4 MiB
MICRO = [*TWO_RANKS, "--operations", "all_reduce", "-b", "1M", "-e", "32M", "--quiet"]
# The options of each run, what is recorded, and the changes that are predicted from it.
CASES = {
    "gpt2-124m bf16": (GPT2, {"--batch-per-gpu": 8}, [{"--batch-per-gpu": 4}, {"--batch-per-gpu": 16}]),
    # Large buckets are cut between gradients into sizes that lie between the recorded ones; small ones are joined to unknown sizes.
    "mlp of 2 ranks, large buckets": (MLP, {"--batch-per-gpu": 256, "--bucket-mb": 25}, [{"--bucket-mb": 10}, {"--bucket-mb": 1}]),
    "mlp of 2 ranks": (MLP, {"--batch-per-gpu": 256, "--bucket-mb": 1},
                       [{"--bucket-mb": 10}, {"--bucket-mb": 25}, {"--batch-per-gpu": 512}]),
}


def flat(options):
    return [word for option in options.items() for word in option]


def answer(ddbench, *arguments):
    done = subprocess.run([ddbench, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"ddbench {' '.join(map(str, arguments))}: {last_line(done.stderr)}")
    return json.loads(done.stdout)


def case(ddbench, name, options, recorded, changes):
    """Texts, and how many were off."""
    measure = lambda change: one_run(ddbench, "--device", "cuda", *options, *flat({**recorded, **change}))
    record = measure({})
    # Larger buckets need what collectives of their sizes cost.
    network = ["--network", answer(ddbench, "micro", "--device", "cuda", *MICRO)["run"]] if recorded.get("--bucket-mb") == 1 else []
    texts, off = [], 0
    for change in changes:
        prediction = answer(ddbench, "predict", record["run"]["id"], *flat(change), *network)["predictions"][0]
        said, measured = prediction["samples_per_s"], measure(change)["samples_per_s"]
        error = said["value"] / measured - 1
        off += abs(error) > ALLOWED
        texts.append(f"{' '.join(map(str, flat(change)))[2:]}: {said['value']:.0f} ({said['ci_low']:.0f} to {said['ci_high']:.0f}) "
                     f"beside {measured:.0f} ({100 * error:+.1f}%)")
        print(texts[-1], flush=True)
    again = measure({})["samples_per_s"] / record["samples_per_s"] - 1
    return f"{name}, samples/s predicted beside measured: {', '.join(texts)}; recorded again {100 * again:+.1f}%", off


def main(ddbench):
    texts, wrong = [], 0
    for name, (options, recorded, changes) in CASES.items():
        try:
            text, off = case(ddbench, name, options, recorded, changes)
        except RuntimeError as error:
            text, off = f"{name}: {error}", 1
        texts.append(text)
        wrong += off
    print("; ".join(texts))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
