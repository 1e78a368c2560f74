"""Links of known rates: bandwidths, their ratios and their order are those of the links."""

import json
import os
import subprocess

import pytest
from attempts import up_to_three_attempts

LINK_TRUTH = os.environ.get("DDBENCH_LINK_TRUTH", "build/release/tests/link_truth")
MICRO = ["--workload", "micro", "-O", "operations=all_reduce", "-O", "min_bytes=1M", "-O", "max_bytes=4M", "-O", "factor=4",
         "-O", "seconds=1", "--quiet"]


def raw_tcp_gb_per_s(bench, link, mib):
    done = subprocess.run([LINK_TRUTH, link, str(mib)], capture_output=True, text=True, timeout=120, env=bench.environment)
    if done.returncode == 5:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["tcp_gb_per_s"]


def shaped(bench, *arguments, **options):
    done = bench(*arguments, **options)
    if done.returncode == 5 and "cannot be shaped" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, (done.args, done.stdout, done.stderr)
    return done


# 784-4096-4096-10: the second layer's gradient and its successor's make one bucket of 64 MiB; of 2048, of 16.
@pytest.mark.parametrize("link, nominal_gb_per_s, width, mib", [("1gbit", 0.125, 4096, 64), ("100mbit", 0.0125, 2048, 16)])
@up_to_three_attempts
def test_all_reduce_busbw_equals_raw_tcp(bench, link, nominal_gb_per_s, width, mib):
    before = raw_tcp_gb_per_s(bench, link, mib)
    result = bench.run_json("--nodes", 2, "--gpus", 1, "--link", link, "-O", f"hidden={width},{width}", "--batch-per-gpu", 2,
                            "--steps", 4, "--warmup", 1, "--no-baseline", "--quiet", timeout=300)
    # An undisturbed stream: the better one.
    tcp = max(before, raw_tcp_gb_per_s(bench, link, mib))
    assert 0.85 * nominal_gb_per_s < tcp < nominal_gb_per_s
    large = max((c for c in result["collectives"] if c["function"] == "all_reduce"), key=lambda c: c["bytes"])
    assert large["busbw"] == pytest.approx(tcp, rel=0.05)


@up_to_three_attempts
def test_a_slower_link_shows_as_communication(bench):
    shown = {}
    for link in ("100mbit", "1gbit"):
        result = json.loads(shaped(bench, "run", "--json", "--nodes", 2, "--gpus", 1, "--link", link, "--steps", 6,
                                   "--warmup", 1, "--no-baseline", "--quiet").stdout)
        shown[link] = sum(c["time_ns"] * c["count"] for c in result["collectives"] if c["function"] == "all_reduce")
    assert 6 < shown["100mbit"] / shown["1gbit"] < 14


@up_to_three_attempts
def test_links_are_ordered_and_their_ratio_is_theirs(bench):
    shaped(bench, "sweep", "--nodes", "2", "--link", "100mbit,1gbit,none", "--repeat", "2", *MICRO)
    groups = json.loads(bench.ok("compare", "--by", "network", "--reference", "veth@1gbit", "--json").stdout)
    for size in (1 << 20, 4 << 20):
        rows = {row["value"]: row for row in groups["collectives"] if row["bytes"] == size}
        assert rows["veth"]["transfer_ns"] < rows["veth@1gbit"]["transfer_ns"] < rows["veth@100mbit"]["transfer_ns"]
    ratio = rows["veth@100mbit"]["against_reference"]
    assert ratio["value"] == pytest.approx(10, rel=0.1)
    assert rows["veth@1gbit"]["busbw_gb_per_s"] == pytest.approx(0.119, rel=0.1)


@up_to_three_attempts
def test_training_distinguishes_the_networks(bench):
    shaped(bench, "sweep", "--nodes", "1,2", "--link", "100mbit,1gbit", "--repeat", "2", "--network", "ethernet",
           "--steps", "6", "--warmup", "1", "-O", "hidden=512,512", "--quiet")
    groups = json.loads(bench.ok("compare", "--by", "network", "--json").stdout)
    rows = {row["value"]: row for row in groups["rows"]}
    slow, fast = rows["veth@100mbit"], rows["veth@1gbit"]
    assert slow["exposed_communication_ns"] > fast["exposed_communication_ns"] > 0
    assert slow["efficiency"] < fast["efficiency"] < 1.2
    assert slow["samples_per_s"] < fast["samples_per_s"]


STRATEGIES = [["ddp"], ["ddp", "-S", "hook=fp16"], ["zero1"], ["zero2"], ["horovod"], ["mirrored"], ["ps", "-S", "servers=2"]]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=" ".join)
@up_to_three_attempts
def test_bytes_on_the_wire_are_those_of_the_theory(bench, strategy):
    """Counted by the kernel on the nodes' interfaces; the difference of two runs leaves out start and end."""
    sent = {}
    for steps in (4, 24):
        result = bench.run_json("--nodes", 3, "--strategy", *strategy, "--steps", steps, "--warmup", 0, "--batch-per-gpu", 2,
                                "--no-baseline", "--quiet")
        facts = result["environment"]["facts"]
        if "network.sent_bytes" not in facts:
            pytest.skip("this machine gives nodes no network of their own")
        sent[steps] = int(facts["network.sent_bytes"])
    measured = (sent[24] - sent[4]) / 20 / 3
    theory = float(facts["strategy.sent_bytes_per_step"])
    # Ethernet, IP and TCP headers, acknowledgements, negotiation.
    assert 0.99 * theory < measured < 1.1 * theory, facts["strategy.traffic"]
