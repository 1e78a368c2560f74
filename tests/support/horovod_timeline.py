"""Timelines as Horovod's rank 0 writes them (horovod/common/timeline.cc): a lane for each tensor, negotiation with a tick for
each rank, then the operation with its activities; tensors that are fused begin and end activities one after the other."""

import json

TYPES = {"float32": 4, "float16": 2, "int64": 8}


class Timeline:
    def __init__(self):
        self.events = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1_700_000_000_000_000}},
                       {"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}}]
        self.lanes = {}

    def lane(self, tensor):
        if tensor not in self.lanes:
            self.lanes[tensor] = len(self.lanes) + 1
            self.events.append({"name": "process_name", "ph": "M", "pid": self.lanes[tensor], "args": {"name": tensor}})
        return self.lanes[tensor]

    def begin(self, tensor, name, at):
        self.events.append({"ph": "B", "name": name, "ts": at, "pid": self.lane(tensor)})

    def end(self, tensor, at, **arguments):
        self.events.append({"ph": "E", "ts": at, "pid": self.lane(tensor)} | ({"args": arguments} if arguments else {}))

    def negotiation(self, tensor, begin, end, ready=(), operation="ALLREDUCE"):
        self.begin(tensor, "NEGOTIATE_" + operation, begin)
        for rank, at in ready:
            self.events.append({"ph": "X", "name": str(rank), "ts": at, "pid": self.lane(tensor), "dur": 0})
        self.end(tensor, end)

    def operation(self, shapes, begin, activities, end, name="ALLREDUCE", dtype="float32"):
        """`shapes`: by tensor; `activities`: (name, begin, end). What is fused follows a microsecond later each."""
        for i, tensor in enumerate(shapes):
            self.begin(tensor, name, begin + i)
        for activity, at, until in activities:
            for i, tensor in enumerate(shapes):
                self.begin(tensor, activity, at + i)
            for i, tensor in enumerate(shapes):
                self.end(tensor, until + i)
        for i, (tensor, shape) in enumerate(shapes.items()):
            self.end(tensor, end + i, dtype=dtype, shape=str(list(shape)))

    def text(self):
        return "[\n" + ",\n".join(json.dumps(event) for event in self.events) + "]"


def training(steps=12, ranks=4, cached=False, fused=True):
    """Two fused gradients and one by itself, of 4096, 1024 and 40 bytes; rank 2 is late by 3 ms. A step takes 20 ms."""
    timeline = Timeline()
    for step in range(steps):
        at = 20_000 * step
        for i, tensor in enumerate(("grad.weight", "grad.bias", "grad.head")):
            ready = [(rank, at + 1000 + 10 * rank + (3000 if rank == 2 else 0)) for rank in range(ranks)]
            timeline.negotiation(tensor, at + 1000, at + 4100 + i, () if cached and step > 0 else sorted(ready, key=lambda r: r[1]))
        inside = [("MEMCPY_IN_FUSION_BUFFER", at + 4300, at + 4400), ("NCCL_ALLREDUCE", at + 4500, at + 9500),
                  ("MEMCPY_OUT_FUSION_BUFFER", at + 9600, at + 9700)]
        timeline.operation({"grad.weight": (32, 32), "grad.bias": (256,)}, at + 4200, inside, at + 9800)
        timeline.operation({"grad.head": (10,)}, at + 10_000, [("NCCL_ALLREDUCE", at + 10_100, at + 10_600)], at + 10_700)
    return timeline
