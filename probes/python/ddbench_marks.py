"""Marks in training loops, from inside the program. Nothing is imported for them: each mark is put on when the program imports the
module that has the function.
"""

import atexit
import os.path
import sys

import ddbench_files as files
import ddbench_frameworks as frameworks
import ddbench_inputs as inputs
import ddbench_pytorch as pytorch
import ddbench_regions as regions

# By the module that has them once it is imported, from PyTorch 1.13 to 2.x.
_MARKS = {
    "torch.utils.data.dataloader": pytorch.mark_loader,
    "torch.autograd": pytorch.mark_backward,
    "torch.optim.optimizer": pytorch.mark_optimizer,
    "torch.cuda.amp.grad_scaler": pytorch.mark_scaler,
    "torch.amp.grad_scaler": pytorch.mark_scaler,
    "torch.nn.parallel.distributed": pytorch.mark_distributed,
    "torch.distributed.fsdp.fully_sharded_data_parallel": pytorch.mark_parallel("FullyShardedDataParallel"),
    "deepspeed.runtime.engine": frameworks.mark_engine,
    "accelerate.optimizer": frameworks.mark_accelerated,
    "accelerate.data_loader": frameworks.mark_loader_ahead("DataLoaderShard"),
    "lightning.pytorch.strategies.strategy": frameworks.mark_strategy,
    "pytorch_lightning.strategies.strategy": frameworks.mark_strategy,
    "torch.nn.modules.module": pytorch.mark_modules,
    "torch.serialization": pytorch.mark_saving,
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
            if regions.connect():
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
    atexit.register(regions.quietly, inputs.report_rest)
    atexit.register(files.report_files_at_end)
    sys.meta_path.insert(0, _Finder)


# ddbench.py calls it so, and copies of an older one beside scripts.
report_files = tell_files = files.report_files
