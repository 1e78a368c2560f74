"""The meter against a known truth: the bus bandwidth of a large all-reduce over a shaped link is what a raw TCP stream
gets over that link, within 5%."""

import json
import os
import subprocess

import pytest
from conftest import undisturbed

LINK_TRUTH = os.environ.get("DDBENCH_LINK_TRUTH", "build/release/tests/link_truth")


def raw_tcp_gb_per_s(bench, link):
    done = subprocess.run([LINK_TRUTH, link, "64"], capture_output=True, text=True, timeout=120, env=bench.environment)
    if done.returncode == 5:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["tcp_gb_per_s"]


@pytest.mark.parametrize("link, nominal_gb_per_s", [("1gbit", 0.125), ("100mbit", 0.0125)])
def test_all_reduce_busbw_equals_raw_tcp(bench, link, nominal_gb_per_s):
    def measure():
        before = raw_tcp_gb_per_s(bench, link)
        # 784-4096-4096-10: the second layer's gradient and its successor's make one bucket of 64 MiB.
        result = bench.run_json("--nodes", 2, "--gpus", 1, "--link", link, "-O", "hidden=4096,4096", "--batch-per-gpu", 2,
                                "--steps", 4, "--warmup", 1, "--no-baseline", "--quiet", timeout=300)
        # What a stream gets that nothing else on the machine holds up: the better one.
        return result, max(before, raw_tcp_gb_per_s(bench, link))

    result, tcp = undisturbed(measure)
    (facts,) = bench.rows("select facts_json from run")[0]
    assert json.loads(facts)["network.tcp_congestion_control"] == "reno", "whatever this machine prefers"
    assert 0.85 * nominal_gb_per_s < tcp < nominal_gb_per_s
    large = max((c for c in result["collectives"] if c["function"] == "all_reduce"), key=lambda c: c["bytes"])
    assert large["bytes"] > 64 << 20
    assert large["busbw"] == pytest.approx(tcp, rel=0.05)


def test_a_slower_link_shows_as_communication(bench):
    shown = {}
    for link in ("100mbit", "1gbit"):
        result = bench.run_json("--nodes", 2, "--gpus", 1, "--link", link, "--steps", 6, "--warmup", 1, "--no-baseline",
                                "--quiet")
        assert result["run"]["link"] == link
        assert "emulated-network" in result["run"]["provenance"]
        shown[link] = sum(c["time_ns"] * c["count"] for c in result["collectives"] if c["function"] == "all_reduce")
    assert 6 < shown["100mbit"] / shown["1gbit"] < 14
