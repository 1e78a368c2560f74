"""A data set that takes its time, and a model that takes its own: both as large as tests/bench/program/corpus.py wants them."""

import os
import time

import torch


class Digits(torch.utils.data.Dataset):
    def __init__(self, samples, delay_s=0.0):
        self.samples, self.delay_s = samples * int(os.environ.get("LOOP_TIMES", 1)), delay_s

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        if self.delay_s:
            time.sleep(self.delay_s)
        return torch.full((784,), index / self.samples), index % 10


def model(hidden=int(os.environ.get("LOOP_HIDDEN", 64))):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return torch.nn.Sequential(torch.nn.Linear(784, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 10))
