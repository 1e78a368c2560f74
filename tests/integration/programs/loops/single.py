"""One process: no collective shows its steps. Loads data itself or in --workers; --delay a sample."""

import argparse

import torch
from account import Account
from data import Digits, model

parser = argparse.ArgumentParser()
parser.add_argument("--samples", type=int, default=400)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--delay", type=float, default=0)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--crash-at", type=int, default=0)
parser.add_argument("--progress", action="store_true")
options = parser.parse_args()

net = model(options.hidden)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
loader = torch.utils.data.DataLoader(Digits(options.samples, options.delay), batch_size=options.batch, shuffle=True,
                                     num_workers=options.workers)
account = Account()
for epoch in range(options.epochs):
    for inputs, labels in account.batches(loader):
        with account.of("forward"):
            loss = torch.nn.functional.cross_entropy(net(inputs), labels)
        with account.of("optimizer"):
            optimizer.zero_grad()
        with account.of("backward"):
            loss.backward()
        with account.of("optimizer"):
            optimizer.step()
        schedule.step()
        account.step(len(inputs))
        if options.progress:
            print(f"\r{account.steps} steps", end="", flush=True)
        if account.steps == options.crash_at:
            raise RuntimeError(f"boom at step {account.steps}")
account.report()
