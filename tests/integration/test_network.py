"""Networks compared, by collectives alone and in training. The figures are held against the links in tests/calibration."""

import json

import pytest
from test_analysis import checked, refused

MICRO = ["--workload", "micro", "-O", "operations=all_reduce", "-O", "min_bytes=1M", "-O", "max_bytes=8M", "-O", "factor=8",
         "-O", "seconds=0.1", "--quiet"]


def shaped(bench, *arguments, **options):
    done = bench(*arguments, **options)
    if done.returncode == 5 and "cannot be shaped" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, (done.args, done.stdout, done.stderr)
    return done


def test_repetitions_over_links_are_interleaved_and_compared(bench):
    shaped(bench, "sweep", "--nodes", "2", "--link", "100mbit,1gbit,none", "--repeat", "3", *MICRO)
    groups = checked(bench.ok("compare", "--by", "network", "--reference", "veth@1gbit", "--json"), "groups")
    links = [json.loads(row["case_json"])["link"] for row in bench.rows("select case_json from run order by started_wall_ns")]
    assert links == ["100mbit", "1gbit", ""] * 3, "repetitions are interleaved"
    assert set(groups["values"]) == {"veth@1gbit", "veth@100mbit", "veth"}
    for size in (1 << 20, 8 << 20):
        rows = {row["value"]: row for row in groups["collectives"] if row["bytes"] == size}
        ratio = rows["veth@100mbit"]["against_reference"]
        assert 0 < ratio["ci_low"] < ratio["value"] < ratio["ci_high"] and ratio["method"]
    assert "infiniband" not in json.dumps(groups)


def test_training_is_compared_by_network(bench):
    done = shaped(bench, "sweep", "--nodes", "1,2", "--link", "100mbit,1gbit", "--repeat", "3", "--network", "ethernet",
                  "--steps", "6", "--warmup", "1", "-O", "hidden=512,512", "--json", "--quiet")
    table = checked(done, "scaling")
    assert [(row["nodes"], row["link"]) for row in table["rows"]] == [(1, ""), (2, "100mbit"), (2, "1gbit")]
    groups = checked(bench.ok("compare", "--by", "network", "--json"), "groups")
    rows = {row["value"]: row for row in groups["rows"]}
    for network in ("veth@100mbit", "veth@1gbit"):
        assert all(rows[network][field] > 0 for field in ("exposed_communication_ns", "efficiency", "samples_per_s"))
    ratios = [row["against_reference"] for row in groups["rows"] if row["against_reference"]["value"]]
    assert ratios and all(ratio["ci_low"] is not None for ratio in ratios)
    text = bench.ok("compare", "--by", "network").stdout
    assert "busbw" in text and "exposed" in text


def test_a_link_is_what_was_asked_for(bench):
    result = json.loads(shaped(bench, "run", "--json", "--nodes", 2, "--link", "1gbit", "--steps", 4, "--warmup", 1,
                               "--no-baseline", "--quiet").stdout)
    assert result["run"]["link"] == "1gbit" and "emulated-network" in result["run"]["provenance"]
    facts = result["environment"]["facts"]
    assert facts["network.link_rate"] == "1gbit"
    assert facts["network.tcp_congestion_control"] == "reno", "whatever this machine prefers"


def test_what_is_not_proved_is_not_called_infiniband(bench):
    refused_network = bench("sweep", "--nodes", "1,2", "--network", "ib,ethernet", "--quiet")
    assert refused_network.returncode == 5
    assert "InfiniBand" in refused_network.stderr and "doctor" in refused_network.stderr
    assert not bench.db.exists()
    refused(bench("sweep", "--nodes", "2", "--network", "pigeon"), "pigeon", "ib or ethernet")

    bench.ok("run", "--nodes", "2", "--no-baseline", "--steps", "4", "--warmup", "1", "-O", "hidden=32", "--quiet")
    bench.rows("update run set network = '', case_json = json_set(case_json, '$.requested_network', 'ib')")
    groups = checked(bench.ok("compare", "--by", "network", "--json"), "groups")
    assert groups["values"] == ["not proved"]
    assert any("not proved" in note for note in groups["notes"])
