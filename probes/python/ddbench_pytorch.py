"""Marks in PyTorch from 1.13 to 2.x: what a loop spends in loading data, backward, the optimizer and evaluations. Each function takes
the module that it marks.
"""

import functools
import sys

import ddbench_files as files
import ddbench_inputs as inputs
import ddbench_regions as regions

loading_ahead = [False]  # by a loader that gives its program the batch before
rates_in_engine = [None]  # of the optimizers' steps within one of DeepSpeed's, as _learning_rate()
_steps_done = [0]  # of optimizers
_WITHOUT_LOSS = 1  # of a forward pass


def _batch_size(loader):
    try:
        return int(loader.batch_size or 0)
    except Exception:  # one of the program's own kind
        return 0


def record_batch(loader, begin, batch):
    regions.region(regions.DATA, begin, inputs.samples_of(batch, _batch_size(loader)), id(getattr(loader, "dataset", None)))


def _record_loading(begin, samples, source, dataset):
    """`dataset`: as `source` calls it, which may be of the program's own kind."""
    regions.region(regions.DATA, begin, samples, id(getattr(source, dataset, None)))


def _mark_indices(iterator):
    next_index = iterator._next_index
    reset = iterator._reset

    @functools.wraps(next_index)
    def _next_index(self):
        indices = next_index(self)
        regions.quietly(inputs.take_indices, self, indices)
        return indices

    @functools.wraps(reset)
    def _reset(self, *args, **kwargs):
        regions.quietly(inputs.begin, self)
        return reset(self, *args, **kwargs)

    iterator._next_index = _next_index
    iterator._reset = _reset


def mark_loader(module):
    iterator = module._BaseDataLoaderIter
    original = iterator.__next__
    loading = False  # a batch, perhaps through other loaders

    def __next__(self):
        nonlocal loading
        if loading:
            return original(self)
        loading = True
        begin = regions.now()
        try:
            batch = original(self)
        except StopIteration:
            regions.quietly(inputs.end, self)
            raise
        finally:
            loading = False
        regions.quietly(inputs.take_batch, self, batch)
        if not loading_ahead[0]:
            regions.quietly(_record_loading, begin, inputs.samples_of(batch, getattr(self, "_ddbench_batch", 0)), self, "_dataset")
        return batch

    iterator.__next__ = functools.wraps(original)(__next__)
    regions.quietly(_mark_indices, iterator)
    start = module.DataLoader.__iter__

    @functools.wraps(start)
    def __iter__(self):
        begin = regions.now()
        batches = start(self)
        if not loading_ahead[0]:
            regions.quietly(_record_loading, begin, 0, self, "dataset")
        try:
            batches._ddbench_batch = _batch_size(self)
        except Exception:
            pass
        return batches

    module.DataLoader.__iter__ = __iter__


def _optimizer(args):
    if _steps_done[0] == 0:
        files.report_files()
        _report_gpu()
    _steps_done[0] += 1
    return id(args[0])


def _learning_rate(args):
    """Of an optimizer's first group, as ddbench_region() takes it; 0 where it is not known, or lies on a GPU, which reading it
    would wait for."""
    try:
        rate = args[0].param_groups[0]["lr"]
        if not isinstance(rate, (int, float)):
            if rate.device.type != "cpu":
                return 0
            rate = float(rate)
        return int(rate * 1e15 + 0.5) + 1 if 0 <= rate <= 1000 else 0
    except Exception:
        return 0


def _record_step(phase, begin, rate, optimizer):
    if rates_in_engine[0] is None:
        regions.region(phase, begin, rate, optimizer)
    else:
        rates_in_engine[0].append(rate)


def mark_optimizer(module):
    optimizer = module.Optimizer
    prepare = optimizer.__init__

    @functools.wraps(prepare)
    def __init__(self, *args, **kwargs):
        prepare(self, *args, **kwargs)
        regions.quietly(regions.mark, type(self), "step", regions.OPTIMIZER, _optimizer, _learning_rate, _record_step)

    optimizer.__init__ = __init__
    regions.mark(optimizer, "zero_grad", regions.ZERO_GRAD)


def mark_scaler(module):
    """Its step counts also where it finds an overflow and leaves the optimizer's out: the program counts it as well."""
    original = module.GradScaler.step
    if hasattr(original, regions.MARK):
        return

    @functools.wraps(original)
    def step(self, optimizer, *args, **kwargs):
        begin = regions.now()
        steps = _steps_done[0]
        result = original(self, optimizer, *args, **kwargs)
        if _steps_done[0] == steps:
            regions.quietly(regions.region, regions.OPTIMIZER, begin, 0, id(optimizer))
        return result

    setattr(step, regions.MARK, True)
    module.GradScaler.step = step


def mark_backward(module):
    original = module.backward

    @functools.wraps(original)
    def backward(*args, **kwargs):
        result = original(*args, **kwargs)
        regions.quietly(inputs.trained)
        return result

    module.backward = backward
    regions.mark(module, "backward", regions.BACKWARD)


def _record_forward(begin):
    regions.region(regions.FORWARD if regions.torch.is_grad_enabled() else regions.EVALUATION, begin, 0, _WITHOUT_LOSS)


def mark_parallel(class_name):
    def mark(module):
        owner = getattr(module, class_name)
        original = owner.forward
        inside = False

        @functools.wraps(original)
        def forward(self, *args, **kwargs):
            nonlocal inside
            if regions.is_compiling() or inside:
                return original(self, *args, **kwargs)
            inside = True
            begin = regions.now()
            try:
                return original(self, *args, **kwargs)
            finally:
                inside = False
                regions.quietly(_record_forward, begin)

        owner.forward = forward

    return mark


def _report_gpu():
    torch = sys.modules.get("torch")
    if torch is not None:
        regions.quietly(inputs.report_gpu, torch)


def mark_distributed(module):
    """Before the wrapper is made as well: NCCL refuses ranks that share a GPU there."""
    mark_parallel("DistributedDataParallel")(module)
    owner = module.DistributedDataParallel
    prepare = owner.__init__

    @functools.wraps(prepare)
    def __init__(self, *args, **kwargs):
        _report_gpu()
        prepare(self, *args, **kwargs)
        regions.quietly(inputs.report_gradients, self)

    owner.__init__ = __init__


def mark_modules(module):
    original = module.Module.train
    inside = False

    @functools.wraps(original)
    def train(self, mode=True):
        nonlocal inside
        if regions.is_compiling() or inside:
            return original(self, mode)
        inside = True
        try:
            return original(self, mode)
        finally:
            inside = False
            regions.quietly(regions.region, regions.TRAIN_MODE if mode else regions.EVAL_MODE, 0, 0, 0)

    module.Module.train = train


def mark_saving(module):
    regions.mark(module, "save", regions.SAVE)
