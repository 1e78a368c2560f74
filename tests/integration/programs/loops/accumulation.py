"""Three micro-batches a step through no_sync, with a validation that no mode announces."""

import contextlib

import torch
import torch.distributed as dist
from account import Account
from data import Digits, model
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
net = DistributedDataParallel(model())
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loader = torch.utils.data.DataLoader(Digits(720), batch_size=8, drop_last=True)
account = Account()
for micro, (inputs, labels) in enumerate(account.batches(loader)):
    last = micro % 3 == 2
    with contextlib.nullcontext() if last else net.no_sync():
        with account.of("forward"):
            loss = torch.nn.functional.cross_entropy(net(inputs), labels) / 3
        with account.of("backward"):
            loss.backward()
    account.samples += len(inputs)
    if not last:
        continue
    with account.of("optimizer"):
        optimizer.step()
        optimizer.zero_grad()
    account.step(0)
    if account.steps % 4 == 0:
        with account.outside(), torch.no_grad():
            dist.all_reduce(net(torch.ones(64, 784)).mean())
account.report()
dist.destroy_process_group()
