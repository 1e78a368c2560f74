"""The marks in Python programs, by themselves: stand-ins take the place of PyTorch, DeepSpeed and their versions.

With real PyTorch: test_loops.py and test_scripts.py.
"""

import importlib
import sys
import types

import pytest
from conftest import ROOT


class Regions(list):
    """What the marks reported, as (phase, amount, identity)."""

    def __call__(self, phase, begin, amount, identity):
        self.append((phase, amount, identity))


@pytest.fixture
def marks(monkeypatch):
    """The modules without what other tests left in it, connected to a list."""
    monkeypatch.syspath_prepend(str(ROOT / "probes/python"))
    names = ("inputs", "files", "regions", "pytorch", "frameworks")
    modules = {name: importlib.reload(importlib.import_module("ddbench_" + name)) for name in names}
    modules["regions"].region = Regions()
    modules["regions"].torch = types.SimpleNamespace(is_grad_enabled=lambda: True)
    return types.SimpleNamespace(**modules)


def fails(*_arguments, **_named):
    raise RuntimeError("no mark may let this out")


class Model:
    def forward(self, batch):
        return batch + 1

    def train(self, mode=True):
        return self


class Optimizer:
    def __init__(self):
        self.param_groups = [{"lr": 0.5}]

    def step(self, closure=None):
        return closure

    def zero_grad(self):
        return "zero"


class Sgd(Optimizer):
    def step(self, closure=None):
        return ("stepped", closure)


def optimizer_of(marks):
    """One of a class that the marks know."""
    module = types.SimpleNamespace(Optimizer=type("Optimizer", (Optimizer,), {}))
    marks.pytorch.mark_optimizer(module)
    return type("Sgd", (module.Optimizer,), {"step": Sgd.step})()


def compilers():
    """torch as it says, in its versions, whether torch.compile traces the caller: (id, attributes, whether it does)."""
    yes, no = (lambda: True), (lambda: False)
    space = types.SimpleNamespace
    return [("1.13", {}, False), ("2.0", {"_utils": space()}, False),
            ("2.2", {"compiler": space(), "_utils": space(is_compiling=no)}, False),
            ("2.2 traces", {"compiler": space(), "_utils": space(is_compiling=yes)}, True),
            ("2.4", {"compiler": space(is_compiling=no)}, False), ("2.4 traces", {"compiler": space(is_compiling=yes)}, True)]


@pytest.mark.parametrize("attributes, traces", [case[1:] for case in compilers()], ids=[case[0] for case in compilers()])
def test_every_pytorch_runs_on_and_what_it_compiles_has_no_marks(marks, attributes, traces):
    """torch.compiler is older than its is_compiling()."""
    vars(marks.regions.torch).update(attributes)
    module = types.SimpleNamespace(DistributedDataParallel=type("DistributedDataParallel", (Model,), {"forward": Model.forward}))
    marks.pytorch.mark_parallel("DistributedDataParallel")(module)
    optimizer = optimizer_of(marks)
    assert module.DistributedDataParallel().forward(1) == 2
    assert optimizer.zero_grad() == "zero" and optimizer.step() == ("stepped", None)
    phases = [phase for phase, _, _ in marks.regions.region]
    assert phases == ([] if traces else [marks.regions.FORWARD, marks.regions.ZERO_GRAD, marks.regions.OPTIMIZER])


class Batches:
    """The iterator of a DataLoader."""

    def __init__(self, loader):
        self.left = list(loader.batches)

    def _next_index(self):
        return [0]

    def _reset(self, loader):
        self.left = list(loader.batches)

    def __next__(self):
        self._next_index()
        if not self.left:
            raise StopIteration
        return self.left.pop(0)

    def __iter__(self):
        return self

    @property
    def _dataset(self):
        return fails()


def loader_class():
    class DataLoader:
        batch_size = property(fails)
        dataset = property(fails)

        def __init__(self, batches):
            self.batches = batches

        def __iter__(self):
            return module._BaseDataLoaderIter(self)

    module = types.SimpleNamespace(DataLoader=DataLoader, _BaseDataLoaderIter=type("Iter", (Batches,), dict(vars(Batches))))
    return module


def loaded(marks):
    module = loader_class()
    marks.pytorch.mark_loader(module)
    return list(module.DataLoader([[1], [2]]))


def loaded_ahead(marks):
    module = loader_class()
    marks.frameworks.mark_loader_ahead("DataLoader")(module)
    return list(module.DataLoader([[1], [2]]))


def scaled(marks):
    module = types.SimpleNamespace(GradScaler=type("GradScaler", (), {"step": lambda self, optimizer: "skipped"}))
    marks.pytorch.mark_scaler(module)
    return module.GradScaler().step(Optimizer())


def engine_of(marks, model_step):
    """DeepSpeed's. `model_step`: what its own optimizer does in a step, if it has gathered enough gradients."""
    class DeepSpeedEngine:
        def backward(self, loss):
            return loss

        def step(self, at_boundary=True):
            return self._take_model_step() if at_boundary else "accumulated"

        def _take_model_step(self):
            return model_step()

    module = types.SimpleNamespace(DeepSpeedEngine=DeepSpeedEngine)
    marks.frameworks.mark_engine(module)
    return DeepSpeedEngine()


def distributed(marks):
    module = types.SimpleNamespace(DistributedDataParallel=type("DistributedDataParallel", (Model,), {"forward": Model.forward}))
    marks.pytorch.mark_distributed(module)
    return module.DistributedDataParallel().forward(1)


def switched(marks):
    module = types.SimpleNamespace(Module=type("Module", (Model,), {"train": Model.train}))
    marks.pytorch.mark_modules(module)
    return isinstance(module.Module().train(), Model)


def stepped(marks):
    optimizer = optimizer_of(marks)
    del optimizer.param_groups
    return optimizer.zero_grad(), optimizer.step()


@pytest.mark.parametrize("program, result", [
    (loaded, [[1], [2]]), (loaded_ahead, [[1], [2]]), (scaled, "skipped"), (distributed, 2), (switched, True),
    (stepped, ("zero", ("stepped", None))), (lambda marks: engine_of(marks, lambda: "done").step(), "done"),
    (lambda marks: engine_of(marks, lambda: "done").backward(3), 3)],
    ids=["loader", "loader ahead", "scaler", "parallel", "mode", "optimizer", "engine", "engine's backward"])
def test_what_fails_in_a_mark_is_not_seen_by_the_program(marks, monkeypatch, program, result):
    """Whatever the program's objects are, and even where nothing can be recorded."""
    monkeypatch.setitem(sys.modules, "torch", marks.regions.torch)
    marks.regions.region = fails
    del marks.regions.torch.is_grad_enabled
    assert program(marks) == result


def test_an_optimizer_of_a_class_that_takes_no_attributes(marks):
    class Meta(type):
        def __setattr__(cls, name, value):
            fails()

    module = types.SimpleNamespace(Optimizer=type("Optimizer", (Optimizer,), {}))
    marks.pytorch.mark_optimizer(module)
    assert Meta("Sealed", (module.Optimizer,), {"step": Sgd.step})().step() == ("stepped", None)


def rate_code(rate):
    return int(rate * 1e15 + 0.5) + 1


def test_the_groups_of_a_step_of_deepspeed_are_one_step(marks):
    """ZeRO steps an optimizer of PyTorch's once for each group of parameters, with gradient accumulation only in some steps."""
    optimizer = optimizer_of(marks)
    engine = engine_of(marks, lambda: [optimizer.step() for _ in range(3)])
    engine.step(at_boundary=False)
    engine.step()
    assert marks.regions.region == [(marks.regions.OPTIMIZER_CALL, 0, 0), (marks.regions.OPTIMIZER, rate_code(0.5), id(engine))]
    marks.regions.region.clear()
    engine._take_model_step()  # as a pipeline does
    optimizer.step()           # and the program by itself
    assert marks.regions.region == [(marks.regions.OPTIMIZER, rate_code(0.5), id(engine)), (marks.regions.OPTIMIZER, rate_code(0.5), id(optimizer))]


def test_a_step_of_deepspeed_that_fails_leaves_the_next_ones_as_they_are(marks):
    optimizer = optimizer_of(marks)
    with pytest.raises(RuntimeError):
        engine_of(marks, fails).step()
    optimizer.step()
    assert [phase for phase, _, _ in marks.regions.region] == [marks.regions.OPTIMIZER_CALL, marks.regions.OPTIMIZER]


class Tensor:
    def __init__(self, *shape):
        self.shape = shape


IMAGES = tuple(Tensor(3, 480 + i, 640) for i in range(5))
TARGETS = tuple({"boxes": Tensor(i + 1, 4)} for i in range(5))


@pytest.mark.parametrize("batch, default, samples", [
    (Tensor(5, 8), 8, 5), (Tensor(), 8, 8), ([Tensor(5, 8), Tensor(5)], 8, 5), ({"ids": Tensor(5, 8), "mask": Tensor(5, 8)}, 8, 5),
    ([Tensor(1, 8), Tensor(1)], 2, 1), ([Tensor(12), Tensor(9), Tensor(31)], 3, 3), ([(Tensor(3, 8, 8), 1)] * 4, 4, 4),
    ((IMAGES, TARGETS), 5, 5), ((IMAGES[:2], TARGETS[:2]), 5, 2), ((IMAGES[:4], TARGETS[:4]), 0, 4), ({"pixels": list(IMAGES)}, 0, 5),
    ([[Tensor(5, 8), Tensor(5, 8)], Tensor(5)], 8, 5), ([[Tensor(8, 2), Tensor(8, 2)], [Tensor(8), Tensor(8)]], 8, 8),
    ({"pair": (Tensor(5, 8), Tensor(5, 8)), "label": Tensor(5)}, 8, 5),
    ([], 8, 8), ({}, 8, 8), ("text", 8, 8), (None, 0, 0), (types.SimpleNamespace(shape="wide"), 7, 7)],
    ids=["tensor", "scalar", "columns", "dictionary", "as many columns as samples", "sequences", "samples", "detection", "last of detection", "no size known",
         "images of a dictionary", "pair and label", "pairs", "pair in a dictionary", "empty", "empty dictionary", "text", "nothing", "odd shape"])
def test_samples_of_a_batch(marks, batch, default, samples):
    """Lists of samples beside lists of what the samples consist of."""
    assert marks.inputs.samples_of(batch, default) == samples
