"""Two optimizers that take turns, as a GAN has them."""

import torch
from account import Account
from data import Digits, model

generator, critic = model(), model()
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-4)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-4)
account = Account()
for inputs, _ in account.batches(torch.utils.data.DataLoader(Digits(192), batch_size=16)):
    for net, optimizer in ((critic, of_critic), (generator, of_generator)):
        with account.of("forward"):
            loss = net(inputs).square().mean()
        with account.of("optimizer"):
            optimizer.zero_grad()
        with account.of("backward"):
            loss.backward()
        with account.of("optimizer"):
            optimizer.step()
    account.step(len(inputs))
account.report()
