"""ddbench's workloads in PyTorch, to train what training_trace.cpp has trained: same first parameters, same batches, same optimizer."""

import json
import subprocess

import torch

F = torch.nn.functional


def mlp(p, x):
    layers = len(p) // 2
    for i in range(layers):
        x = F.linear(x, p[f"layer{i}.weight"], p[f"layer{i}.bias"])
        x = F.relu(x) if i + 1 < layers else x
    return x


def resnet(p, x, side=32):
    """resnet18 and resnet50, with the stem for 32 x 32 images."""
    def conv(name, x, stride=1):
        rows = p[name + ".weight"]
        kernel = round((rows.shape[1] / x.shape[1]) ** 0.5)
        weight = rows.view(rows.shape[0], kernel, kernel, x.shape[1]).permute(0, 3, 1, 2)
        return F.conv2d(x, weight, stride=stride, padding=kernel // 2)

    def norm(name, x):
        return F.batch_norm(x, None, None, p[name + ".weight"], p[name + ".bias"], training=True)

    x = x.view(x.shape[0], side, side, 3).permute(0, 3, 1, 2)
    x = F.relu(norm("bn1", conv("conv1", x)))
    for name in dict.fromkeys(".".join(parameter.split(".")[:2]) for parameter in p if parameter.startswith("layer")):
        stride = 2 if name.endswith(".0") and name != "layer1.0" else 1
        bottleneck = name + ".conv3.weight" in p
        y = F.relu(norm(name + ".bn1", conv(name + ".conv1", x, 1 if bottleneck else stride)))
        y = norm(name + ".bn2", conv(name + ".conv2", y, stride if bottleneck else 1))
        if bottleneck:
            y = norm(name + ".bn3", conv(name + ".conv3", F.relu(y)))
        if name + ".downsample.0.weight" in p:
            x = norm(name + ".downsample.1", conv(name + ".downsample.0", x, stride))
        x = F.relu(x + y)
    return F.linear(x.mean((2, 3)), p["fc.weight"], p["fc.bias"])


def attend(qkv, heads, causal):
    batch, sequence, width = qkv.shape
    q, k, v = (part.view(batch, sequence, heads, -1).transpose(1, 2) for part in qkv.split(width // 3, 2))
    scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones(sequence, sequence, device=qkv.device).triu(1).bool(), float("-inf"))
    return (scores.softmax(3) @ v).transpose(1, 2).reshape(batch, sequence, -1)


def linear(p, name, x):
    return F.linear(x, p[name + ".weight"], p[name + ".bias"])


def layer_norm(p, name, x, epsilon):
    return F.layer_norm(x, x.shape[-1:], p[name + ".weight"], p[name + ".bias"], epsilon)


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))


def gpt2(p, tokens, heads=4):
    x = p["wte.weight"][tokens] + p["wpe.weight"][: tokens.shape[1]]
    for i in range(sum(name.endswith("ln_1.weight") for name in p)):
        h = f"h.{i}."
        a = attend(linear(p, h + "attn.c_attn", layer_norm(p, h + "ln_1", x, 1e-5)), heads, causal=True)
        x = x + linear(p, h + "attn.c_proj", a)
        m = gelu_tanh(linear(p, h + "mlp.c_fc", layer_norm(p, h + "ln_2", x, 1e-5)))
        x = x + linear(p, h + "mlp.c_proj", m)
    return F.linear(layer_norm(p, "ln_f", x, 1e-5), p["wte.weight"])


def bert(p, tokens, heads=4):
    words = p["embeddings.word_embeddings.weight"]
    x = words[tokens] + p["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    x = layer_norm(p, "embeddings.LayerNorm", x + p["embeddings.token_type_embeddings.weight"][0], 1e-12)
    for i in range(sum(name.endswith("intermediate.dense.weight") for name in p)):
        h = f"encoder.layer.{i}."
        a = attend(linear(p, h + "attention.self.qkv", x), heads, causal=False)
        x = layer_norm(p, h + "attention.output.LayerNorm", x + linear(p, h + "attention.output.dense", a), 1e-12)
        m = linear(p, h + "output.dense", F.gelu(linear(p, h + "intermediate.dense", x)))
        x = layer_norm(p, h + "output.LayerNorm", x + m, 1e-12)
    x = F.gelu(linear(p, "cls.predictions.transform.dense", x))
    x = layer_norm(p, "cls.predictions.transform.LayerNorm", x, 1e-12)
    return F.linear(x, words, p["cls.predictions.bias"])


class Trace:
    """What training_trace has written: first parameters, batches and losses."""

    def __init__(self, directory, batch):
        about = json.loads((directory / "trace.json").read_text())
        self.losses = about["losses"]
        self.data = bytearray((directory / "trace.bin").read_bytes())
        self.at = 0
        self.parameters = {name: self.take((rows, columns) if rows > 1 else (columns,), torch.float32)
                           for name, rows, columns in about["parameters"]}
        self.batches = [(self.take((batch, about["features"]), torch.int32 if about["tokens"] else torch.float32),
                         self.take((batch, about["labels"]), torch.int32)) for _ in self.losses]
        assert self.at == len(self.data)

    def take(self, shape, kind):
        count = torch.Size(shape).numel()
        taken = torch.frombuffer(self.data, dtype=kind, count=count, offset=self.at).view(shape)
        self.at += 4 * count
        return taken


def trace_of(program, directory, device, precision, workload, batch, steps, lr, momentum, options):
    subprocess.run([program, device, precision, directory, workload, str(batch), str(steps), str(lr), str(momentum), *options], check=True)
    return Trace(directory, batch)


def losses_of_torch(model, trace, lr, momentum, device="cpu", precision="fp32"):
    """With "bf16" under autocast, as PyTorch's users train in it; "fp32" is that, and no TF32."""
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    parameters = {name: value.to(device, copy=True).requires_grad_() for name, value in trace.parameters.items()}
    optimizer = torch.optim.SGD(parameters.values(), lr=lr, momentum=momentum)
    losses = []
    for inputs, labels in trace.batches:
        inputs = inputs.to(device)
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            logits = model(parameters, inputs if inputs.is_floating_point() else inputs.long())
            loss = F.cross_entropy(logits.flatten(0, -2), labels.to(device).flatten().long(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
