"""What a Python program consists of: its script, and the modules beside it that it imported (core/run_case/program_files.h)."""

import os
import sys

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


def report_files_at_end():
    """Of a program without an optimizer, where this process records at all."""
    if os.path.exists("{}.{}.spool".format(os.environ.get("DDBENCH_SPOOL", ""), os.getpid())):
        report_files()
