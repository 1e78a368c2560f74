#!/usr/bin/env python3
"""PyTorch Lightning as its users write it: knows nothing of ddbench, which starts one process a node. Each node has one GPU, or they
share one."""

import os

import pytorch_lightning
import torch
from pytorch_lightning.plugins.environments import LightningEnvironment
from torch.utils.data import DataLoader, TensorDataset


class Mlp(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(784, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))

    def training_step(self, batch, _):
        inputs, labels = batch
        return torch.nn.functional.cross_entropy(self.net(inputs), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    gpu = torch.cuda.is_available()
    data = TensorDataset(torch.randn(64 * 64, 784), torch.randint(10, (64 * 64,)))
    trainer = pytorch_lightning.Trainer(accelerator="gpu" if gpu else "cpu", devices=1, num_nodes=int(os.environ.get("WORLD_SIZE", 1)),
                                        strategy="ddp", plugins=[LightningEnvironment()], max_epochs=1, logger=False,
                                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Mlp(), DataLoader(data, batch_size=32))


if __name__ == "__main__":
    main()
