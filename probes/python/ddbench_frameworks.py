"""Marks in what trains with PyTorch: DeepSpeed, Accelerate and Lightning. Each function takes the module that it marks."""

import functools

import ddbench_pytorch as pytorch
import ddbench_regions as regions


def _mark_engine_step(owner, name):
    """ZeRO calls the optimizer's step once for each group of parameters: all of them are one step. Where it only accumulates gradients
    it calls none, and no step ends."""
    original = getattr(owner, name, None)
    if original is None or hasattr(original, regions.MARK):
        return

    @functools.wraps(original)
    def step(self, *args, **kwargs):
        if regions.is_compiling() or pytorch.rates_in_engine[0] is not None:
            return original(self, *args, **kwargs)
        begin = regions.now()
        rates = pytorch.rates_in_engine[0] = []
        try:
            return original(self, *args, **kwargs)
        finally:
            pytorch.rates_in_engine[0] = None
            if rates:
                regions.quietly(regions.region, regions.OPTIMIZER, begin, rates[0], id(self))
            else:
                regions.quietly(regions.region, regions.OPTIMIZER_CALL, begin, 0, 0)

    setattr(step, regions.MARK, True)
    setattr(owner, name, step)


def mark_engine(module):
    """DeepSpeed's: its backward reduces the gradients behind PyTorch's, and its step clips them before the optimizer's."""
    regions.mark(module.DeepSpeedEngine, "backward", regions.BACKWARD)
    _mark_engine_step(module.DeepSpeedEngine, "step")
    _mark_engine_step(module.DeepSpeedEngine, "_take_model_step")  # which its pipelines call without step()


def mark_accelerated(module):
    """Accelerate's optimizer, which decides whether PyTorch's is called at all."""
    regions.mark(module.AcceleratedOptimizer, "step", regions.OPTIMIZER_CALL)
    regions.mark(module.AcceleratedOptimizer, "zero_grad", regions.OPTIMIZER_CALL)


def mark_loader_ahead(class_name):
    """Accelerate's, which loads a batch before it gives the one before: a batch belongs to the step that gets it."""
    def mark(module):
        owner = getattr(module, class_name)
        original = owner.__iter__

        @functools.wraps(original)
        def __iter__(self):
            batches = iter(original(self))
            try:
                while True:
                    begin = regions.now()
                    pytorch.loading_ahead[0] = True
                    try:
                        batch = next(batches)
                    except StopIteration:
                        return
                    finally:
                        pytorch.loading_ahead[0] = False
                    regions.quietly(pytorch.record_batch, self, begin, batch)
                    yield batch
            finally:
                if hasattr(batches, "close"):
                    batches.close()

        owner.__iter__ = __iter__

    return mark


def mark_strategy(module):
    """Lightning's: of what lies between a batch and backward, a large part are its own hooks."""
    regions.mark(module.Strategy, "training_step", regions.FORWARD)
