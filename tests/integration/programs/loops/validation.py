"""DDP with a sampler, a scheduler and a validation after each epoch; rank 0 writes a checkpoint on request."""

import sys

import torch
import torch.distributed as dist
from account import Account
from data import Digits, model
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
net = DistributedDataParallel(model())
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
training, validation = Digits(320), Digits(96)
sampler = DistributedSampler(training)
loader = DataLoader(training, batch_size=16, sampler=sampler)
check = DataLoader(validation, batch_size=32)
account = Account()
for epoch in range(3):
    sampler.set_epoch(epoch)
    net.train()
    for inputs, labels in account.batches(loader):
        with account.of("optimizer"):
            optimizer.zero_grad(set_to_none=True)
        with account.of("forward"):
            loss = torch.nn.functional.cross_entropy(net(inputs), labels)
        with account.of("backward"):
            loss.backward()
        with account.of("optimizer"):
            optimizer.step()
        account.step(len(inputs))
    with account.outside():
        net.eval()
        with torch.no_grad():
            correct = sum((net(inputs).argmax(1) == labels).float().sum() for inputs, labels in check)
        dist.all_reduce(correct)
        if dist.get_rank() == 0 and len(sys.argv) > 1:
            torch.save(net.module.state_dict(), sys.argv[1])
account.report()
dist.destroy_process_group()
