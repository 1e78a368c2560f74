"""The meter against a known truth: the bus bandwidth of a large all-reduce over a shaped link is what a raw TCP stream
gets over that link, within 5%."""

import json
import os
import subprocess

import pytest

LINK_TRUTH = os.environ.get("DDBENCH_LINK_TRUTH", "build/release/tests/link_truth")


@pytest.mark.parametrize("link, mebibytes", [("1gbit", 64), ("100mbit", 64)])
def test_all_reduce_busbw_equals_raw_tcp(bench, link, mebibytes):
    done = subprocess.run([LINK_TRUTH, link, str(mebibytes)], capture_output=True, text=True, timeout=300,
                          env=bench.environment)
    if done.returncode == 5:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    print(figures)
    assert figures["busbw_gb_per_s"] == pytest.approx(figures["tcp_gb_per_s"], rel=0.05)
    nominal_gb_per_s = {"1gbit": 0.125, "100mbit": 0.0125}[link]
    assert 0.85 * nominal_gb_per_s < figures["tcp_gb_per_s"] < nominal_gb_per_s


def test_a_slower_link_shows_as_communication(bench):
    shown = {}
    for link in ("100mbit", "1gbit"):
        result = bench.run_json("--nodes", 2, "--gpus", 1, "--link", link, "--steps", 6, "--warmup", 1, "--no-baseline",
                                "--quiet")
        assert result["run"]["link"] == link
        assert "emulated-network" in result["run"]["provenance"]
        shown[link] = sum(c["time_ns"] * c["count"] for c in result["collectives"] if c["function"] == "all_reduce")
    assert 6 < shown["100mbit"] / shown["1gbit"] < 14
