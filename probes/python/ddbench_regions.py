"""What a mark is: it reports a part of a program's step, from its begin to now, through ddbench_region() of ddbench_inject.so
(probes/preload/marks/ddbench.h). A wrapper keeps the arguments, the result and the exceptions of what it wraps, and makes one call at
its end. Of nested calls of one kind only the outermost counts.
"""

import functools
import sys
import time

import ddbench_inputs as inputs

DATA, FORWARD, BACKWARD, OPTIMIZER, ZERO_GRAD, EVALUATION, SAVE, TRAIN_MODE, EVAL_MODE, OPTIMIZER_CALL = range(10)
now = time.monotonic_ns
region = None  # ddbench_region(phase, begin, amount, identity) of ddbench_inject.so, once connect() has found it
torch = None  # once the program imports it
MARK = "__ddbench_mark__"  # attribute of what is marked


def is_compiling():
    """Whether torch.compile traces the caller: what it traces must hold no call that it cannot trace. torch.compiler is older than
    its is_compiling(), which came with PyTorch 2.3; before, the function was elsewhere, if anywhere."""
    asked = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    if asked is None:
        asked = getattr(getattr(torch, "_utils", None), "is_compiling", None)
    return asked is not None and asked()


def _none(args):
    return 0


def _record(phase, begin, amount, identity):
    region(phase, begin, amount, identity)


def outermost(phase, original, identity, amount=_none, record=_record):
    """`original`, marked. `identity`: of the object that distinguishes its loop from others; `amount`: of the phase."""
    inside = False

    @functools.wraps(original)
    def marked(*args, **kwargs):
        nonlocal inside
        if is_compiling() or inside:
            return original(*args, **kwargs)
        inside = True
        begin = now()
        try:
            return original(*args, **kwargs)
        finally:
            inside = False
            try:
                record(phase, begin, amount(args), identity(args))
            except Exception:  # of arguments that only the program understands
                pass

    setattr(marked, MARK, True)
    return marked


def mark(owner, name, phase, identity=_none, amount=_none, record=_record):
    original = getattr(owner, name, None)
    if original is not None and not hasattr(original, MARK):
        setattr(owner, name, outermost(phase, original, identity, amount, record))


def quietly(function, *args):
    """What is recorded beside the marks never makes a program fail."""
    try:
        function(*args)
    except Exception:
        pass


def connect():
    """Whether ddbench_inject.so is there to record."""
    global region, torch
    torch = sys.modules.get("torch")
    if region is not None:
        return True
    import ctypes  # not before a program wants PyTorch, which needs it anyway
    # Without giving up the interpreter's lock: the call is shorter than that. Only the one that ends a measuring window waits, for the GPU.
    found = getattr(ctypes.PyDLL(None), "ddbench_region", None)
    if found is None:
        return False
    found.argtypes = (ctypes.c_int, ctypes.c_longlong, ctypes.c_ulonglong, ctypes.c_ulonglong)
    found.restype = None
    region = found
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
            begin = now()
            for _ in range(16):
                function(nothing)
            rounds.append(now() - begin)
        return min(rounds) // 16

    return max(0, shortest(outermost(-1, nothing, lambda args: id(args[0]))) - shortest(nothing))
