"""Each kind of collective that torch.distributed offers over Gloo, several times over."""

import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
for _ in range(12):
    time.sleep(0.01)  # like a forward pass: it shows where a step begins
    data = torch.full((1000,), float(rank))
    dist.all_reduce(data)
    assert data[0] == sum(range(size))
    dist.broadcast(data, 0)
    dist.reduce(data, 0)
    parts = [torch.empty(500) for _ in range(size)]
    dist.all_gather(parts, torch.full((500,), float(rank)))
    assert [part[0] for part in parts] == list(range(size))
    dist.gather(torch.ones(250), [torch.empty(250) for _ in range(size)] if rank == 0 else None)
    dist.scatter(torch.empty(125), [torch.ones(125) for _ in range(size)] if rank == 0 else None)
    dist.barrier()
dist.destroy_process_group()
