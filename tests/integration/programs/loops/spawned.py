"""Starts its own ranks, as torch.multiprocessing does."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from account import Account
from data import Digits, model
from torch.nn.parallel import DistributedDataParallel


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    net = DistributedDataParallel(model())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    account = Account()
    for inputs, labels in account.batches(torch.utils.data.DataLoader(Digits(192), batch_size=16)):
        with account.of("forward"):
            loss = torch.nn.functional.cross_entropy(net(inputs), labels)
        with account.of("backward"):
            loss.backward()
        with account.of("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        account.step(len(inputs))
    account.report()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("MASTER_PORT", "29517"))
    mp.spawn(train, args=(2,), nprocs=2)
