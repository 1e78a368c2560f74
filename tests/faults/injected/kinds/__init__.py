"""One file for each category of faults. `inject(room, generator, templates)` of each does one and returns a promises.Fault."""

import importlib

from kinds.templates import Impossible, Templates

COUNTS = {"launcher": 200, "disk": 150, "writers": 100, "ranks": 300, "network": 100, "signals": 100, "squatters": 100, "memory": 50}


def inject(category, room, generator, templates):
    return importlib.import_module(f"kinds.{category}").inject(room, generator, templates)


__all__ = ["COUNTS", "Impossible", "Templates", "inject"]
