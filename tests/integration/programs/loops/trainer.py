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
        with self.account.of("forward"):
            loss = torch.nn.functional.cross_entropy(self.net(inputs), labels)
        self.optimizer.zero_grad()
        with self.account.of("backward"):
            self.scaler.scale(loss).backward()
        self.samples = len(inputs)
        return loss

    def fit(self, loader, epochs):
        self.call("on_begin")
        self.account = Account()
        for _ in range(epochs):
            self.net.train()
            for batch in self.account.batches(loader):
                self.step(batch)
                self.call("on_step")
            with self.account.outside():
                self.call("on_epoch")

    def step(self, batch):
        """Of the optimizer is what its step takes beside the closure's passes."""
        seconds = self.account.seconds
        passes_s = seconds["forward"] + seconds["backward"]
        with self.account.of("optimizer"):
            self.optimizer.step(lambda: self.closure(batch))
        seconds["optimizer"] -= seconds["forward"] + seconds["backward"] - passes_s


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
    def on_step(self, trainer):
        trainer.account.step(trainer.samples)


def as_names(rows):
    return {"inputs": torch.stack([row[0] for row in rows]), "labels": torch.tensor([row[1] for row in rows])}


def loader_of(samples, batch):
    return torch.utils.data.DataLoader(Digits(samples), batch_size=batch, collate_fn=as_names)


trainer = Trainer(model(), [Count(), Validate(loader_of(64, 32))])
trainer.fit(loader_of(150, 16), 2)
trainer.account.report()
