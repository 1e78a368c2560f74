"""What a loop says of itself, to compare ddbench with: its steps, its samples, and where its time went."""

import contextlib
import json
import os
import time


class Account:
    def __init__(self):
        self.steps = self.samples = 0
        self.seconds = dict.fromkeys(("data", "forward", "backward", "optimizer"), 0.0)
        self.between = 0.0  # evaluation, checkpoints
        self.begin = time.monotonic()

    @contextlib.contextmanager
    def of(self, part):
        begin = time.monotonic()
        yield
        self.seconds[part] += time.monotonic() - begin

    @contextlib.contextmanager
    def outside(self):
        begin = time.monotonic()
        yield
        self.between += time.monotonic() - begin

    def batches(self, loader):
        iterator = iter(loader)
        while True:
            begin = time.monotonic()
            batch = next(iterator, None)
            if batch is None:
                return
            self.seconds["data"] += time.monotonic() - begin
            yield batch

    def step(self, samples):
        self.steps += 1
        self.samples += samples

    def report(self):
        """One line in one write: ranks that share a pipe do not mix theirs, as two writes of an unbuffered print() would.

        The throughput of a job is that of its slowest path: from the first begin to the last end of its ranks.
        """
        elapsed = time.monotonic() - self.begin - self.between
        account = json.dumps({"steps": self.steps, "samples": self.samples, "samples_per_s": self.samples / elapsed,
                              "begin": self.begin, "end": self.begin + self.between + elapsed, "between": self.between,
                              "shares": {part: seconds / elapsed for part, seconds in self.seconds.items()}})
        os.write(1, f"ACCOUNT {account}\n".encode())
