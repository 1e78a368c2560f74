"""The short form of the campaign in tests/faults/injected: faults of fixed seeds that do not depend on how fast the machine is."""

import os
import subprocess
import sys

import pytest
from conftest import EXECUTABLE, ROOT

CAMPAIGN = ROOT / "tests/faults/injected"
sys.path.insert(0, str(CAMPAIGN))

import isolation

pytestmark = pytest.mark.skipif(bool(isolation.missing()), reason=isolation.missing() or "possible")


@pytest.mark.parametrize("category, numbers", [("launcher", [1, 9, 11]), ("disk", [1, 10, 14]), ("squatters", [4, 10, 12])])
def test_promises_hold_after_a_fault(category, numbers):
    chosen = [word for number in numbers for word in ("--only", str(number))]
    done = subprocess.run([sys.executable, CAMPAIGN / "campaign.py", "--category", category, "--workers", "1", *chosen],
                          capture_output=True, text=True, env=dict(os.environ, DDBENCH_EXECUTABLE=EXECUTABLE))
    assert done.returncode == 0, done.stdout + done.stderr
