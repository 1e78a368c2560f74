"""Where the steps of a training loop are, said by the loop itself: for loops without an optimizer of PyTorch's.

    import ddbench
    for batch in batches:
        with ddbench.phase("forward"): ...
        ddbench.step()

Under `ddbench run` each call takes about a microsecond; otherwise nothing happens. One file without dependencies: where it is not
installed for your Python, copy it beside your script.
"""

import contextlib
import sys
import time

_PHASES = {"data": 0, "forward": 1, "backward": 2, "optimizer": 3, "zero_grad": 4, "evaluation": 5, "save": 6}
_OPTIMIZER_CALL = 9
_functions = {}


def _function(name, *arguments):
    """Of ddbench_inject.so; None where that is not preloaded."""
    if name not in _functions:
        function = None
        try:
            import ctypes
            function = getattr(ctypes.PyDLL(None), name, None)
            if function is not None:
                function.restype = None
                function.argtypes = [getattr(ctypes, argument) for argument in arguments]
        except Exception:  # a Python without ctypes
            pass
        _functions[name] = function
    return _functions[name]


def step():
    """The step of this rank ends, and the next begins. What lies before the first call belongs to no step."""
    mark = _function("ddbench_step")
    if mark is None:
        return
    mark()
    marks = sys.modules.get("ddbench_marks")
    if marks is not None:
        report = getattr(marks, "report_files", None) or getattr(marks, "tell_files", None)  # of an older ddbench
        if report is not None:
            report()  # once


def learning_rate(rate):
    """The learning rate (0 to 1000) of the step that goes on, for loops without an optimizer of PyTorch's; before step()."""
    rate = float(rate)
    region = _function("ddbench_region", "c_int", "c_longlong", "c_ulonglong", "c_ulonglong")
    if region is not None and 0 <= rate <= 1000:
        region(_OPTIMIZER_CALL, time.monotonic_ns(), int(rate * 1e15 + 0.5) + 1, 0)


@contextlib.contextmanager
def phase(name, samples=0):
    """What is done within is this part of the step: "data" (with the samples of the batch), "forward", "backward", "optimizer",
    "zero_grad"; or belongs to none: "evaluation", "save". The end of "optimizer" ends a step where nobody calls step()."""
    if name not in _PHASES:
        raise ValueError(f"{name!r} is no phase of a step: there are {', '.join(_PHASES)}")
    number = _PHASES[name]
    begin = time.monotonic_ns()
    try:
        yield
    finally:
        region = _function("ddbench_region", "c_int", "c_longlong", "c_ulonglong", "c_ulonglong")
        if region is not None:
            region(number, begin, samples, 0)
