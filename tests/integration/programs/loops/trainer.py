"""A trainer with callbacks: backward in a closure of the optimizer's step, a sanity check before training, a scaler."""

import torch
from account import Account
from data import Digits, model


class Trainer:
    def __init__(self, net, callbacks):
        self.net, self.callbacks = net, callbacks
        self.optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        self.scaler = torch.cuda.amp.GradScaler(enabled=False)

    def call(self, hook):
        for callback in self.callbacks:
            getattr(callback, hook, lambda trainer: None)(self)

    def closure(self, batch):
        inputs, labels = batch["inputs"], batch["labels"]
        loss = torch.nn.functional.cross_entropy(self.net(inputs), labels)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.samples = len(inputs)
        return loss

    def fit(self, loader, epochs):
        self.call("on_begin")
        for _ in range(epochs):
            self.net.train()
            for batch in loader:
                self.optimizer.step(lambda: self.closure(batch))
                self.call("on_step")
            self.call("on_epoch")


class Validate:
    def __init__(self, loader):
        self.loader = loader

    def on_begin(self, trainer):
        self.on_epoch(trainer)

    def on_epoch(self, trainer):
        trainer.net.eval()
        with torch.inference_mode():
            for batch in self.loader:
                trainer.net(batch["inputs"])


class Count:
    account = Account()

    def on_step(self, trainer):
        self.account.step(trainer.samples)


def as_names(rows):
    return {"inputs": torch.stack([row[0] for row in rows]), "labels": torch.tensor([row[1] for row in rows])}


def loader_of(samples, batch):
    return torch.utils.data.DataLoader(Digits(samples), batch_size=batch, collate_fn=as_names)


Trainer(model(), [Count(), Validate(loader_of(64, 32))]).fit(loader_of(150, 16), 2)
Count.account.tell()
