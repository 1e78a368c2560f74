"""Marks in PyTorch's training loops, from inside the program: what it spends in loading data, backward and optimizer.

Nothing is imported for it: each mark is put on when the program imports the module that has the function. Each wrapper
keeps the arguments, the result and the exceptions of what it wraps, and reports it through ddbench_region() of
ddbench_inject.so (probes/preload/marks/ddbench.h), one call at its end. Of nested calls of one kind only the outermost counts.
"""

import atexit
import functools
import os
import sys
import time

import ddbench_inputs as inputs

DATA, FORWARD, BACKWARD, OPTIMIZER, ZERO_GRAD, EVALUATION, SAVE, TRAIN_MODE, EVAL_MODE, OPTIMIZER_CALL = range(10)

_now = time.monotonic_ns
_region = None  # ddbench_region
_torch = None  # once the program imports it
_MARK = "__ddbench_mark__"


def _is_compiling():
    """Whether torch.compile traces the caller: what it traces must hold no call that it cannot trace. torch.compiler is older than
    its is_compiling(), which came with PyTorch 2.3; before, the function was elsewhere, if anywhere."""
    asked = getattr(getattr(_torch, "compiler", None), "is_compiling", None)
    if asked is None:
        asked = getattr(getattr(_torch, "_utils", None), "is_compiling", None)
    return asked is not None and asked()


def _none(args):
    return 0


def _record(phase, begin, amount, identity):
    _region(phase, begin, amount, identity)


def _outermost(phase, original, identity, amount=_none, record=_record):
    """`original`, marked. `identity`: of the object that distinguishes its loop from others; `amount`: of the phase."""
    inside = False

    @functools.wraps(original)
    def marked(*args, **kwargs):
        nonlocal inside
        if _is_compiling() or inside:
            return original(*args, **kwargs)
        inside = True
        begin = _now()
        try:
            return original(*args, **kwargs)
        finally:
            inside = False
            try:
                record(phase, begin, amount(args), identity(args))
            except Exception:  # of arguments that only the program understands
                pass

    setattr(marked, _MARK, True)
    return marked


_steps_done = [0]  # of optimizers


def _optimizer(args):
    if _steps_done[0] == 0:
        report_files()
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


_rates_in_engine = [None]  # of the optimizers' steps within one of DeepSpeed's, as _learning_rate()


def _record_step(phase, begin, rate, optimizer):
    if _rates_in_engine[0] is None:
        _region(phase, begin, rate, optimizer)
    else:
        _rates_in_engine[0].append(rate)


def _mark(owner, name, phase, identity=_none, amount=_none, record=_record):
    original = getattr(owner, name, None)
    if original is not None and not hasattr(original, _MARK):
        setattr(owner, name, _outermost(phase, original, identity, amount, record))


def _quietly(function, *args):
    """What is recorded beside the marks never makes a program fail."""
    try:
        function(*args)
    except Exception:
        pass


def _batch_size(loader):
    try:
        return int(loader.batch_size or 0)
    except Exception:  # one of the program's own kind
        return 0


def _record_batch(loader, begin, batch):
    _region(DATA, begin, inputs.samples_of(batch, _batch_size(loader)), id(getattr(loader, "dataset", None)))


def _record_loading(begin, samples, source, dataset):
    """`dataset`: as `source` calls it, which may be of the program's own kind."""
    _region(DATA, begin, samples, id(getattr(source, dataset, None)))


_loading_ahead = [False]  # by a loader that gives its program the batch before


def _mark_loader_ahead(class_name):
    """Accelerate's, which loads a batch before it gives the one before: a batch belongs to the step that gets it."""
    def mark(module):
        owner = getattr(module, class_name)
        original = owner.__iter__

        @functools.wraps(original)
        def __iter__(self):
            batches = iter(original(self))
            try:
                while True:
                    begin = _now()
                    _loading_ahead[0] = True
                    try:
                        batch = next(batches)
                    except StopIteration:
                        return
                    finally:
                        _loading_ahead[0] = False
                    _quietly(_record_batch, self, begin, batch)
                    yield batch
            finally:
                if hasattr(batches, "close"):
                    batches.close()

        owner.__iter__ = __iter__

    return mark


def _mark_indices(iterator):
    next_index = iterator._next_index
    reset = iterator._reset

    @functools.wraps(next_index)
    def _next_index(self):
        indices = next_index(self)
        _quietly(inputs.take_indices, self, indices)
        return indices

    @functools.wraps(reset)
    def _reset(self, *args, **kwargs):
        _quietly(inputs.begin, self)
        return reset(self, *args, **kwargs)

    iterator._next_index = _next_index
    iterator._reset = _reset


def _mark_loader(module):
    iterator = module._BaseDataLoaderIter
    original = iterator.__next__
    loading = False  # a batch, perhaps through other loaders

    def __next__(self):
        nonlocal loading
        if loading:
            return original(self)
        loading = True
        begin = _now()
        try:
            batch = original(self)
        except StopIteration:
            _quietly(inputs.end, self)
            raise
        finally:
            loading = False
        _quietly(inputs.take_batch, self, batch)
        if not _loading_ahead[0]:
            _quietly(_record_loading, begin, inputs.samples_of(batch, getattr(self, "_ddbench_batch", 0)), self, "_dataset")
        return batch

    iterator.__next__ = functools.wraps(original)(__next__)
    _quietly(_mark_indices, iterator)
    start = module.DataLoader.__iter__

    @functools.wraps(start)
    def __iter__(self):
        begin = _now()
        batches = start(self)
        if not _loading_ahead[0]:
            _quietly(_record_loading, begin, 0, self, "dataset")
        try:
            batches._ddbench_batch = _batch_size(self)
        except Exception:
            pass
        return batches

    module.DataLoader.__iter__ = __iter__


def _mark_optimizer(module):
    optimizer = module.Optimizer
    prepare = optimizer.__init__

    @functools.wraps(prepare)
    def __init__(self, *args, **kwargs):
        prepare(self, *args, **kwargs)
        _quietly(_mark, type(self), "step", OPTIMIZER, _optimizer, _learning_rate, _record_step)

    optimizer.__init__ = __init__
    _mark(optimizer, "zero_grad", ZERO_GRAD)


def _mark_backward(module):
    original = module.backward

    @functools.wraps(original)
    def backward(*args, **kwargs):
        result = original(*args, **kwargs)
        _quietly(inputs.trained)
        return result

    module.backward = backward
    _mark(module, "backward", BACKWARD)


def _mark_scaler(module):
    """Its step counts also where it finds an overflow and leaves the optimizer's out: the program counts it as well."""
    original = module.GradScaler.step
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def step(self, optimizer, *args, **kwargs):
        begin = _now()
        steps = _steps_done[0]
        result = original(self, optimizer, *args, **kwargs)
        if _steps_done[0] == steps:
            _quietly(_region, OPTIMIZER, begin, 0, id(optimizer))
        return result

    setattr(step, _MARK, True)
    module.GradScaler.step = step


def _mark_engine_step(owner, name):
    """ZeRO calls the optimizer's step once for each group of parameters: all of them are one step. Where it only accumulates gradients
    it calls none, and no step ends."""
    original = getattr(owner, name, None)
    if original is None or hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def step(self, *args, **kwargs):
        if _is_compiling() or _rates_in_engine[0] is not None:
            return original(self, *args, **kwargs)
        begin = _now()
        rates = _rates_in_engine[0] = []
        try:
            return original(self, *args, **kwargs)
        finally:
            _rates_in_engine[0] = None
            if rates:
                _quietly(_region, OPTIMIZER, begin, rates[0], id(self))
            else:
                _quietly(_region, OPTIMIZER_CALL, begin, 0, 0)

    setattr(step, _MARK, True)
    setattr(owner, name, step)


def _mark_engine(module):
    """DeepSpeed's: its backward reduces the gradients behind PyTorch's, and its step clips them before the optimizer's."""
    _mark(module.DeepSpeedEngine, "backward", BACKWARD)
    _mark_engine_step(module.DeepSpeedEngine, "step")
    _mark_engine_step(module.DeepSpeedEngine, "_take_model_step")  # which its pipelines call without step()


_WITHOUT_LOSS = 1  # of a forward pass


def _mark_accelerated(module):
    """Accelerate's optimizer, which decides whether PyTorch's is called at all."""
    _mark(module.AcceleratedOptimizer, "step", OPTIMIZER_CALL)
    _mark(module.AcceleratedOptimizer, "zero_grad", OPTIMIZER_CALL)


def _mark_strategy(module):
    """Lightning's: of what lies between a batch and backward, a large part are its own hooks."""
    _mark(module.Strategy, "training_step", FORWARD)


def _record_forward(begin):
    _region(FORWARD if _torch.is_grad_enabled() else EVALUATION, begin, 0, _WITHOUT_LOSS)


def _mark_parallel(class_name):
    def mark(module):
        owner = getattr(module, class_name)
        original = owner.forward
        inside = False

        @functools.wraps(original)
        def forward(self, *args, **kwargs):
            nonlocal inside
            if _is_compiling() or inside:
                return original(self, *args, **kwargs)
            inside = True
            begin = _now()
            try:
                return original(self, *args, **kwargs)
            finally:
                inside = False
                _quietly(_record_forward, begin)

        owner.forward = forward

    return mark


def _report_gpu():
    torch = sys.modules.get("torch")
    if torch is not None:
        _quietly(inputs.report_gpu, torch)


def _mark_distributed(module):
    """Before the wrapper is made as well: NCCL refuses ranks that share a GPU there."""
    _mark_parallel("DistributedDataParallel")(module)
    owner = module.DistributedDataParallel
    prepare = owner.__init__

    @functools.wraps(prepare)
    def __init__(self, *args, **kwargs):
        _report_gpu()
        prepare(self, *args, **kwargs)
        _quietly(inputs.report_gradients, self)

    owner.__init__ = __init__


def _mark_modules(module):
    original = module.Module.train
    inside = False

    @functools.wraps(original)
    def train(self, mode=True):
        nonlocal inside
        if _is_compiling() or inside:
            return original(self, mode)
        inside = True
        try:
            return original(self, mode)
        finally:
            inside = False
            _quietly(_region, TRAIN_MODE if mode else EVAL_MODE, 0, 0, 0)

    module.Module.train = train


_MOST_FILES = 256
_reported_by = [0]  # process that has reported its files


def _folder_of_program():
    """Of the script, or what the package of a module (python -m) lies in."""
    main = sys.modules.get("__mp_main__") or sys.modules.get("__main__")
    path = os.path.realpath(main.__file__)
    spec = getattr(main, "__spec__", None)
    for _ in range(1 + (spec.name.count(".") if spec is not None else 0)):
        path = os.path.dirname(path)
    return path


def _files_of_program(folder):
    """Its script and the modules that it imported from that folder, relative to it: neither Python's nor installed ones."""
    library = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
    files = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            continue
        path = os.path.realpath(path)
        name = os.path.relpath(path, folder)
        parts = name.split(os.sep)
        if parts[0] == os.pardir or path.startswith(library) or "site-packages" in parts or "dist-packages" in parts:
            continue
        files.add(name)
    return sorted(files)[:_MOST_FILES]


def report_files():
    """What the program consists of, once: an edited script is another case."""
    if _reported_by[0] == os.getpid():
        return
    try:
        import ctypes
        report = getattr(ctypes.PyDLL(None), "ddbench_program_file", None)
        folder = _folder_of_program()
        for name in _files_of_program(folder) if report is not None else ():
            if not report(os.fsencode(folder), os.fsencode(name)):
                return
        _reported_by[0] = os.getpid()
    except Exception:  # an interactive program has no file
        pass


tell_files = report_files  # copies of an older ddbench.py beside scripts call it so


def _report_files_at_end():
    """Of a program without an optimizer, where this process records at all."""
    if os.path.exists("{}.{}.spool".format(os.environ.get("DDBENCH_SPOOL", ""), os.getpid())):
        report_files()


# By the module that has them once it is imported, from PyTorch 1.13 to 2.x.
_MARKS = {
    "torch.utils.data.dataloader": _mark_loader,
    "torch.autograd": _mark_backward,
    "torch.optim.optimizer": _mark_optimizer,
    "torch.cuda.amp.grad_scaler": _mark_scaler,
    "torch.amp.grad_scaler": _mark_scaler,
    "torch.nn.parallel.distributed": _mark_distributed,
    "torch.distributed.fsdp.fully_sharded_data_parallel": _mark_parallel("FullyShardedDataParallel"),
    "deepspeed.runtime.engine": _mark_engine,
    "accelerate.optimizer": _mark_accelerated,
    "accelerate.data_loader": _mark_loader_ahead("DataLoaderShard"),
    "lightning.pytorch.strategies.strategy": _mark_strategy,
    "pytorch_lightning.strategies.strategy": _mark_strategy,
    "torch.nn.modules.module": _mark_modules,
    "torch.serialization": lambda module: _mark(module, "save", SAVE),
}


class _Loader:
    """A module's own loader, and its marks once it is loaded."""

    def __init__(self, loader, mark):
        self._loader = loader
        self._mark = mark

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            if _connect():
                self._mark(module)
        except Exception:  # another PyTorch than those known: its loop has no such mark
            pass


class _Finder:
    """First in sys.meta_path; finds nothing by itself."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        mark = _MARKS.get(name)
        if mark is None:
            return None
        for finder in sys.meta_path:
            if finder is _Finder or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, mark)
                return spec
        return None


def _connect():
    """Whether ddbench_inject.so is there to record."""
    global _region, _torch
    _torch = sys.modules.get("torch")
    if _region is not None:
        return True
    import ctypes  # not before a program wants PyTorch, which needs it anyway
    # Without giving up the interpreter's lock: the call is shorter than that.
    region = getattr(ctypes.PyDLL(None), "ddbench_region", None)
    if region is None:
        return False
    region.argtypes = (ctypes.c_int, ctypes.c_longlong, ctypes.c_ulonglong, ctypes.c_ulonglong)
    region.restype = None
    _region = region
    name = getattr(ctypes.PyDLL(None), "ddbench_report", None)
    if name is not None:
        name.argtypes, name.restype = (ctypes.c_char_p,), ctypes.c_int
        inputs.connect(lambda text: name(text.encode()) != 0)
    report = getattr(ctypes.PyDLL(None), "ddbench_mark_cost", None)
    if report is not None:
        report.argtypes, report.restype = (ctypes.c_longlong,), None
        report(_cost_of_a_mark())
    return True


def _cost_of_a_mark():
    """Nanoseconds, without what ddbench_region() does and counts itself: of an unknown phase that is nothing."""
    def nothing(of):
        pass

    def shortest(function):
        rounds = []
        for _ in range(5):
            begin = _now()
            for _ in range(16):
                function(nothing)
            rounds.append(_now() - begin)
        return min(rounds) // 16

    return max(0, shortest(_outermost(-1, nothing, lambda args: id(args[0]))) - shortest(nothing))


class _OwnModule:
    """Last in sys.meta_path: `import ddbench`, where the program's Python has none installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "ddbench":
            return None
        import importlib.util
        return importlib.util.spec_from_file_location(name, os.path.join(os.path.dirname(os.path.abspath(__file__)), "ddbench.py"))


def install():
    sys.meta_path.append(_OwnModule)
    atexit.register(_quietly, inputs.report_rest)
    atexit.register(_report_files_at_end)
    sys.meta_path.insert(0, _Finder)
