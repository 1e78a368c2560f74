"""Two passes of DistributedDataParallel over a data set; the argument is how its ranks choose their samples."""

import sys

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

sampling = sys.argv[1]
torch.distributed.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(96, 8), torch.arange(96) % 7)
sampler = None if sampling == "all" else DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler, shuffle=sampler is None, num_workers=1 if sampling == "workers" else 0)
validation = DataLoader(data, batch_size=8)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 7))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(2):
    for samples, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(samples), labels).backward()
        optimizer.step()
    with torch.no_grad():  # on all samples on each rank, as programs do
        for samples, labels in validation:
            model.module(samples)
