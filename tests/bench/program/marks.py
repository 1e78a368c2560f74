#!/usr/bin/env python3
"""What the marks inside of a Python program (probes/python) cost a step, by direct account.

A loop with next to nothing to compute makes every call that is marked: a batch of a DataLoader, a backward pass, zero_grad and
a step of the optimizer. Its processor time a step, with ddbench's recording object, is taken with and without the marks, in
turns; the difference is what they cost, whatever the size of the model.

    python3 tests/bench/program/marks.py [rounds] [build directory]
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LOOP = """
import time, torch
torch.set_num_threads(1)
weight = torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([weight], lr=0.01)
loader = torch.utils.data.DataLoader(torch.ones(4000), batch_size=1)
for _ in loader: pass
begin = time.process_time()
for batch in loader:
    optimizer.zero_grad()
    (weight * batch).sum().backward()
    optimizer.step()
print((time.process_time() - begin) / 4000 * 1e6)
"""


def processor_us(library, directory, marks):
    environment = dict(os.environ, LD_PRELOAD=str(library), DDBENCH_SPOOL=str(directory / "rank0"), DDBENCH_RUN_ID="marks",
                       DDBENCH_TORCH_OPERATORS="0",  # what these cost is overhead.py's
                       RANK="0", LOCAL_RANK="0", PYTHONPATH=str(library.parent / "python") if marks else "")
    return float(subprocess.run([sys.executable, "-c", LOOP], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    build = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "build/release"
    library = build / "lib/ddbench/ddbench_inject.so"
    if not library.exists():
        sys.exit(f"{library} is missing: build the release preset first")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        pairs = [(processor_us(library, directory, False), processor_us(library, directory, True)) for _ in range(rounds)]
    added = [marked - plain for plain, marked in pairs]
    print(f"a step takes {statistics.median(plain for plain, _ in pairs):.1f} us of processor, and the marks "
          f"{statistics.median(added):.1f} us more ({min(added):.1f} to {max(added):.1f})")


if __name__ == "__main__":
    main()
