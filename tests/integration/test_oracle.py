"""The same training in PyTorch: same first parameters, same batches, same optimizer, so the same losses."""

import os
import sys

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch", reason="install python3-torch: it is what the losses are compared with")
sys.path.insert(0, str(ROOT / "tests/support"))
from pytorch_models import bert, gpt2, losses_of_torch, mlp, resnet, trace_of  # noqa: E402

TRACE = os.environ.get("DDBENCH_TRAINING_TRACE", "build/release/tests/training_trace")
STEPS = 50
MOMENTUM = 0.9


@pytest.mark.parametrize("name, model, batch, lr, options", [
    ("mlp", mlp, 64, 0.05, []),
    # Untrained residual networks are chaotic: at 0.01 PyTorch's own float32 and float64 part within 10 steps.
    ("resnet18", resnet, 32, 0.0003, ["image=32", "width=16"]),
    ("gpt2-nano", gpt2, 8, 0.1, []),
    ("bert-base", bert, 8, 0.1,
     ["layers=2", "hidden=64", "heads=4", "sequence=32", "vocabulary=50"]),
])
def test_losses_are_those_of_pytorch(tmp_path, name, model, batch, lr, options):
    torch.set_num_threads(1)
    trace = trace_of(TRACE, tmp_path, "cpu", "fp32", name, batch, STEPS, lr, MOMENTUM, options)
    assert len(trace.losses) == STEPS
    theirs = losses_of_torch(model, trace, lr, MOMENTUM)
    assert trace.losses[-1] < 0.96 * trace.losses[0], "nothing was learnt: the comparison would show little"
    for step, (ours, expected) in enumerate(zip(trace.losses, theirs)):
        assert ours == pytest.approx(expected, rel=1e-3), f"step {step}"
