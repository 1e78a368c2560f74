"""What a rank of a PyTorch program trains, and on what: gradients, the order of samples, some of their values, and the GPU that it uses.

Ranks with the same order and the same values train on the same data; a pass with the order of the pass before shows that a sampler's
set_epoch() is not called. Reported as names (core/program/loader_epoch.h, core/program/rank_gpu.h) through ddbench_report() of
ddbench_inject.so. Bounded: the first passes, their first indices, a few values of their first batch.
"""

import hashlib
import operator
import os.path
import weakref

MOST_EPOCHS = 4
MOST_INDICES = 64
MOST_SAMPLES = 64  # of the first batch
MOST_VALUES = 2048  # of a tensor of it
MOST_TENSORS = 8
MOST_GRADIENTS = 4096
_FEWEST_KINDS = 3  # of samples in a tensor: labels of two classes are equal by chance

_report = None  # takes a name; True where it was recorded
_epochs = 0  # passes that were trained on
_newest = None  # the pass of the last batch; its iterator is not kept, as its workers end with it
_datasets = []  # that were trained on, as weak references


def _digest(text):
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class _Epoch:
    """One pass through a loader."""

    def __init__(self, batches):
        self.number = None  # once it was trained on
        self.order = _order_of(batches)
        self.samples = _length(getattr(batches, "_dataset", None))
        self.data = _identity(batches)
        self.dataset = -1  # its place in _datasets
        self.batches = _length(batches)
        self.taken = 0
        self.ended = False
        self.indices = []
        self.without_indices = False
        self.values = None
        self.reported = None

    def take_indices(self, batch):
        if self.without_indices or len(self.indices) >= MOST_INDICES:
            return
        try:
            batch = batch if isinstance(batch, (list, tuple)) else [batch]
            self.indices += [operator.index(each) for each in batch[:MOST_INDICES - len(self.indices)]]
        except TypeError:  # of an IterableDataset, or of the program's own kind
            self.without_indices = True
        if self.number is not None and len(self.indices) >= MOST_INDICES:
            self.report()

    def take_batch(self, batch):
        if self.values is None:
            self.values = [_values(each, self.indices) for each in _tensors(batch)]
        self.taken += 1
        if self.taken == self.batches:  # some loops do not ask for more
            self.end()

    def end(self):
        self.ended = True
        self.report()

    def begin_training(self, number):
        self.number = number
        self.dataset = _place_of(self.data)
        self.report()

    def report(self):
        indices = [] if self.without_indices else self.indices
        if self.number is None or self.reported == (len(indices), self.ended):
            return
        name = "loader: {} {} {} {} {} {} {} {}".format(
            self.number, self.samples, self.order, len(indices), _digest(repr(indices)) if indices else "-", self.dataset,
            "whole" if self.ended else "part", ",".join(self.values or ()))
        if _report(name):
            self.reported = (len(indices), self.ended)


def _identity(batches):
    """A weak reference to the data set, or to the sampler where it takes none (a list)."""
    for name in ("_dataset", "_index_sampler"):
        try:
            return weakref.ref(getattr(batches, name, None))
        except TypeError:
            pass
    return None


def _place_of(reference):
    data = reference() if reference is not None else None
    if data is None:
        return -1
    for place, known in enumerate(_datasets):
        if known() is data:
            return place
    _datasets.append(reference)
    return len(_datasets) - 1


def _length(dataset):
    try:
        return len(dataset)
    except Exception:
        return -1


def _order_of(batches):
    """By the names of the classes of PyTorch's samplers, which others derive from."""
    sampler = getattr(batches, "_index_sampler", None)
    for _ in range(3):  # samplers of batches have one of samples, and those of Accelerate the program's
        if sampler is None:
            break
        names = [each.__name__ for each in type(sampler).__mro__]
        if "DistributedSampler" in names:
            return "distributed" if getattr(sampler, "shuffle", False) is True else "fixed"
        if "RandomSampler" in names:
            return "shuffled"
        if "SequentialSampler" in names:
            return "fixed"
        sampler = getattr(sampler, "sampler", None) or getattr(sampler, "batch_sampler", None)
    return "-"


def _tensors(batch, depth=0):
    """What a batch consists of: tensors, arrays, lists of texts or numbers."""
    if hasattr(batch, "shape"):
        return [batch]
    if isinstance(batch, (list, tuple)) and batch and isinstance(batch[0], (str, int, float)):
        return [batch]
    if isinstance(batch, (list, tuple)):
        parts = batch
    elif callable(getattr(batch, "values", None)):
        parts = batch.values()
    else:
        return []
    found = []
    for part in parts if depth < 4 else ():
        found += _tensors(part, depth + 1)
        if len(found) >= MOST_TENSORS:
            break
    return found[:MOST_TENSORS]


_MOST_ROWS = 8  # of a list that are looked at


def samples_of(batch, default):
    """How many samples a batch of a loader has; `default`: as many as the loader puts into one, 0 where that is not known. A batch may be
    any object of the program, and none may make it fail."""
    try:
        return _samples(batch, default)
    except Exception:
        return default


def _rows(part):
    """The first dimension; None of what has none."""
    shape = getattr(part, "shape", None)
    return int(shape[0]) if shape is not None and len(shape) else None


def _samples(batch, default):
    """The first dimension of the first tensor; but a list of as many things as the loader puts into a batch has one for each sample, and
    so has a list within the batch of tensors that are no samples side by side: other dimensions than those of the batch."""
    known = {default}
    for depth in range(4):
        if getattr(batch, "shape", None) is not None:
            return default if _rows(batch) is None else _rows(batch)
        if isinstance(batch, (list, tuple)):
            if not batch:
                return default
            if len(batch) == default:
                columns = {_rows(part) for part in batch} if depth == 0 else {None}
                column = columns.pop()
                return column if not columns and column is not None and column < default else default
            parts = batch
        elif hasattr(batch, "values"):
            parts = list(batch.values()) if callable(batch.values) else []
            if not parts:
                return default
        else:
            return default
        first = {_rows(part) for part in parts[:_MOST_ROWS]}
        if depth == 0:
            known |= first
        elif parts is batch and getattr(batch[0], "shape", None) is not None:
            return first.pop() if len(first) == 1 and first <= known - {None} else len(batch)
        batch = parts[0]
    return default


def _is_running(rows, indices):
    """Whether the samples are numbered, or their keys are ("000000", "000001"): ranks with shards of their own count alike."""
    rows = [row[0] if isinstance(row, list) and len(row) == 1 else row for row in rows]
    if all(isinstance(row, str) for row in rows):
        shared = len(os.path.commonprefix(rows))
        rows = [row[shared:] for row in rows]
    try:
        numbers = [int(row) for row in rows]
    except (TypeError, ValueError, OverflowError):
        return False
    if any(not isinstance(row, str) and row != number for row, number in zip(rows, numbers)):
        return False
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) or numbers == indices[:len(numbers)]


def _values(tensor, indices=()):
    """A hash of some of its values, "-" where they hardly distinguish one set of samples from another."""
    try:
        if hasattr(tensor, "shape"):
            device = getattr(tensor, "device", "cpu")
            if getattr(device, "type", device) != "cpu" or len(tensor.shape) == 0:
                return "-"  # reading it would wait for the GPU
            some = tensor[:MOST_SAMPLES]
            some = some.reshape(some.shape[0], -1)
            most = max(1, MOST_VALUES // some.shape[0])
            rows = some[:, ::max(1, some.shape[1] // most)].tolist()
        else:
            rows = [each if isinstance(each, (int, float)) else each[:256] for each in tensor[:MOST_SAMPLES]]
        if not rows or _is_running(rows, list(indices)):
            return "-"
        texts = [repr(row) for row in rows]
        return _digest("\n".join(texts)) if len(set(texts)) >= _FEWEST_KINDS else "-"
    except Exception:
        return "-"


def begin(batches):
    """The iterator of a loader begins a pass. It may have had one before."""
    finish(batches)
    batches._ddbench_epoch = None


def _epoch_of(batches):
    epoch = getattr(batches, "_ddbench_epoch", None)
    if epoch is None and _epochs < MOST_EPOCHS:
        epoch = batches._ddbench_epoch = _Epoch(batches)
    return epoch


def finish(batches):
    """The pass will not go on."""
    _finish(getattr(batches, "_ddbench_epoch", None))


def end(batches):
    """The loader has no more batches."""
    epoch = getattr(batches, "_ddbench_epoch", None)
    if epoch is not None:
        epoch.end()


def _finish(epoch):
    if epoch is not None:
        epoch.report()


def take_indices(batches, indices):
    epoch = _epoch_of(batches)
    if epoch is not None:
        epoch.take_indices(indices)


def take_batch(batches, batch):
    global _newest
    _newest = _epoch_of(batches)
    if _newest is not None:
        _newest.take_batch(batch)


def trained():
    """A backward pass has ended: the loader of the last batch is one that the program trains on."""
    global _epochs
    if _newest is None or _newest.number is not None or _epochs >= MOST_EPOCHS:
        return
    number = _epochs
    _epochs += 1
    _newest.begin_training(number)


def report_rest():
    """Before the process ends."""
    _finish(_newest)


_gpu_reported = False


def report_gpu(torch, driver=None):
    """The GPU that is current on this thread, once; nothing before the program has chosen one. `driver`: libcuda."""
    global _gpu_reported
    if _gpu_reported or _report is None:
        return
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return
    import ctypes
    driver = driver or ctypes.CDLL("libcuda.so.1")  # PyTorch has loaded it
    device = ctypes.c_int()
    if driver.cuCtxGetDevice(ctypes.byref(device)) != 0:
        return
    uuid = (ctypes.c_ubyte * 16)()
    # The newer one distinguishes the parts of a GPU under MIG.
    of_gpu = getattr(driver, "cuDeviceGetUuid_v2", None) or driver.cuDeviceGetUuid
    if of_gpu(ctypes.byref(uuid), device) != 0:
        return
    bus = ctypes.create_string_buffer(32)
    known = driver.cuDeviceGetPCIBusId(bus, len(bus), device) == 0
    _gpu_reported = bool(_report("gpu: {} {}".format(bytes(uuid).hex(), bus.value.decode() if known else "")))


_gradients = ""  # as reported


def report_gradients(parallel):
    """What a DistributedDataParallel reduces: the bytes of each gradient, in the reverse order of the parameters. Backward passes end
    about in that order, and PyTorch fills buckets as gradients become ready."""
    global _gradients
    ignored = getattr(parallel, "parameters_to_ignore", ())
    trained = [one for name, one in parallel.module.named_parameters() if one.requires_grad and name not in ignored]
    if _report is None or not 0 < len(trained) <= MOST_GRADIENTS:
        return
    gradients = ", ".join(str(one.numel() * one.element_size()) for one in reversed(trained))
    if gradients == _gradients:
        return
    _gradients = "not measured: the program has several models" if _gradients else gradients
    _report("workload.gradient_bytes: " + _gradients)


def connect(report):
    global _report
    _report = report
