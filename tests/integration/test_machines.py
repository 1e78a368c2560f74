"""Two machines, as far as one can be two: hosts with a network, a name and a kernel's boot id of their own."""

import json
import os

import pytest
import two_hosts
from conftest import EXECUTABLE
from test_launchers import CASE, check_placement, facts, ok, start


@pytest.fixture
def machines(bench):
    if two_hosts.missing(own_kernels=True):
        pytest.skip(two_hosts.missing(own_kernels=True))
    machines = two_hosts.TwoHosts(bench.tmp, own_kernels=True)
    yield machines
    machines.stop()


def test_each_machine_reports_what_it_counted(bench, machines):
    """The GPUs are those of a driver's library for tests (tests/support/nvml_on_host): no kernel of this run's runs on them."""
    ok(start(bench, *machines.prefix, EXECUTABLE, "run", *machines.options, *CASE, LD_LIBRARY_PATH=os.environ["DDBENCH_NVML_ON_HOST"]))
    assert check_placement(bench) == ["host1", "host1", "host2", "host2"]
    reported = {name.removeprefix("counted."): value for name, value in facts(bench).items() if name.startswith("counted.")}
    for node in ("node0", "node1"):
        assert int(reported[f"{node}.nic.eth0.sent_bytes"]) > 0 and int(reported[f"{node}.nic.eth0.received_bytes"]) > 0
        assert reported[f"{node}.gpu.0.throttled"] == "power cap"
    # The ranks' gradients cross the wire: each machine receives the bytes that the other sends, except for
    # messages of the launcher.
    sent, received = (int(reported["node0.nic.eth0.sent_bytes"]), int(reported["node1.nic.eth0.received_bytes"]))
    assert received == pytest.approx(sent, rel=0.3)
    energy_j = sum(float(reported[f"{node}.gpu.energy_j"]) for node in ("node0", "node1"))
    assert float(reported["gpu.energy_j"]) == pytest.approx(energy_j, rel=1e-4)
    samples = json.loads(bench.ok("show", "--json").stdout)["run"]["global_batch"] * 14
    assert float(reported["gpu.energy_j_per_sample"]) == pytest.approx(energy_j / samples, rel=1e-4)
    notes = json.loads(bench.ok("show", "--json").stdout)["notes"]
    assert [note[:16] for note in notes if "throttled" in note] == ["node 0 (host1): ", "node 1 (host2): "]
