"""Figures against physical truth, measured with the real executable. The driver is that of tests/integration."""

import importlib.util
import pathlib

import attempts

_folder = pathlib.Path(__file__).resolve().parents[1] / "integration"
_spec = importlib.util.spec_from_file_location("driver", _folder / "conftest.py")
_driver = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_driver)

EXECUTABLE, ROOT, SMALL = _driver.EXECUTABLE, _driver.ROOT, _driver.SMALL
bench, wait_until = _driver.bench, _driver.wait_until


def pytest_terminal_summary(terminalreporter):
    lines = attempts.reports + _driver.skips(terminalreporter)
    attempts.reports = []
    _driver.summarize(terminalreporter, lines)
