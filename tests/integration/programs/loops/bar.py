"""A progress bar of tqdm's around the loader, as most scripts have one."""

import torch
from account import Account
from data import Digits, model
from tqdm import tqdm

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loader = torch.utils.data.DataLoader(Digits(480), batch_size=16)
account = Account()
for epoch in range(2):
    with tqdm(account.batches(loader), total=len(loader), desc=f"epoch {epoch}", mininterval=0) as bar:
        for inputs, labels in bar:
            with account.of("forward"):
                loss = torch.nn.functional.cross_entropy(net(inputs), labels)
            with account.of("backward"):
                loss.backward()
            with account.of("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            account.step(len(inputs))
            bar.set_postfix(loss=loss.item())
account.report()
