"""`ddbench micro` on ranks of this machine: what it prints, stores and refuses."""

import json
import pathlib
import re
import signal

import pytest
from conftest import wait_until
from ports import free_port
from test_analysis import checked, refused, write

QUICK = ["--gpus", "2", "--min-bytes", "1K", "--max-bytes", "256K", "--factor", "16", "--seconds", "0.005", "--quiet"]
COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all"]


def test_every_collective_is_measured_and_verified(bench):
    table = checked(bench.ok("micro", *QUICK, "--json"), "micro")
    assert [row["operation"] for row in table["rows"]] == [name for name in COLLECTIVES for _ in range(3)]
    assert [row["bytes"] for row in table["rows"][:3]] == [1024, 16384, 262144]
    assert table["wrong"] == 0 and table["valid"]
    for row in table["rows"]:
        assert (row["in_place"] is None) == (row["operation"] == "all_to_all")
        for timing in filter(None, (row["out_of_place"], row["in_place"])):
            assert 2 <= len(timing["batches_ns"]) <= 5 and timing["iterations"] >= 1
            assert timing["algbw_gb_per_s"] == pytest.approx(row["bytes"] / timing["time_ns"])
    ceilings = {c["operation"]: c for c in table["ceilings"]}
    for ceiling in ("gemm", "copy"):
        assert 0 < ceilings[ceiling]["slowest_per_second"] <= ceilings[ceiling]["per_second"]
    assert {fit["function"] for fit in table["fits"]} == set(COLLECTIVES)
    assert table["transport"].startswith("tcp")
    assert json.loads(bench.ok("show", "--json").stdout) == table


def test_reports_have_all_that_it_measured(bench):
    bench.ok("micro", *QUICK, "--operations", "all_reduce,all_to_all,gemm,copy")
    assert checked(bench.ok("report", "--format", "json"), "micro")["ceilings"]
    assert bench.ok("report").stdout == bench.ok("show").stdout
    for format in ("markdown", "html"):
        text = bench.ok("report", "--format", format).stdout
        for part in ("out of place", "in place", "GEMM, float32", "GFLOP/s", "Latency and bandwidth"):
            assert part in text, part
        assert "not known" not in text


def test_its_text_is_read_as_nccl_tests_are(bench, tmp_path):
    text = bench.ok("micro", *QUICK, "--operations", "all_reduce").stdout
    head = [line for line in text.splitlines() if line.startswith("#") and "size" in line][0]
    assert head.split() == ["#", "size", "count", "type", "redop", "root"] + ["time", "algbw", "busbw", "#wrong"] * 2
    bench.ok("import", "nccl-tests", write(tmp_path / "out.txt", text), "--ranks", "2")
    imported = bench.rows("select bytes, transfer_ns from collective join run using (run_key) "
                          "where workload = 'nccl-tests' and case_json like '%in_place%'")
    measured = bench.rows("select bytes, transfer_ns from collective join run using (run_key) where workload = 'micro'")
    assert [row["bytes"] for row in imported] == [row["bytes"] for row in measured]
    for theirs, ours in zip(imported, measured):
        assert theirs["transfer_ns"] == pytest.approx(ours["transfer_ns"], rel=0.005)


def test_repetitions_are_compared_with_other_runs(bench):
    bench.ok("micro", *QUICK, "--operations", "all_reduce", "--repeat", "3", "--name", "a")
    bench.ok("micro", *QUICK, "--operations", "all_reduce", "--repeat", "3", "--name", "b")
    comparison = checked(bench.ok("compare", "name=a", "name=b", "--json"), "comparison")
    assert comparison["verdict"] == "repetitions"
    assert len(comparison["collectives"]) == 3
    assert all(row["b_over_a"]["ci_low"] > 0 for row in comparison["collectives"])


def test_one_rank_has_ceilings(bench):
    table = checked(bench.ok("micro", "--seconds", "0.005", "--quiet", "--json"), "micro")
    assert table["rows"] == [] and len(table["ceilings"]) == 2


@pytest.mark.parametrize("arguments,parts", [
    (["--operations", "all_gathering"], ["all_gathering", "reduce_scatter"]),
    (["--min-bytes", "2"], ["min_bytes"]),
    (["-b", "1M", "-e", "1K"], ["max_bytes", "1024"]),
    (["-e", "2G"], ["max_bytes", "1073741824"]),
    (["-e", "big"], ["--max-bytes", "big"]),
    (["-f", "1"], ["factor"]),
    (["--seconds", "0"], ["seconds"]),
    (["--gpus", "0"], ["gpus"]),
    (["--link", "fast"], ["fast"]),
    (["--repeat", "0"], ["--repeat"]),
])
def test_what_cannot_be_measured_is_refused(bench, arguments, parts):
    refused(bench("micro", "--gpus", "2", "--quiet", *arguments), *parts)
    assert not bench.db.exists()


@pytest.mark.parametrize("command", [["run", "--launcher", "env", "--repeat", 2], ["micro", "--launcher", "env", "--repeat", 2],
                                     ["gate", "--run", "--launcher env", "--launcher env"]])
@pytest.mark.parametrize("rank", [0, 1])
def test_ranks_that_others_started_serve_one_run(bench, command, rank):
    started = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": str(free_port() - 1)}
    refused(bench(*command, env=bench.environment | started, timeout=60), "--launcher env", "`ddbench sweep")
    assert not bench.db.exists()


def test_a_rank_that_is_alone_runs_again(bench):
    alone = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": str(free_port() - 1)}
    bench.ok("micro", "--launcher", "env", "--repeat", 2, "--seconds", "0.005", "--quiet", env=bench.environment | alone)
    assert bench.rows("select count(*) from run where state = 'done'")[0][0] == 2


def test_collectives_need_two_ranks(bench):
    refused(bench("micro", "--operations", "broadcast"), "one rank")


def test_more_memory_than_there_is(bench):
    memory_kib = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    ranks = memory_kib // (2 << 20) + 1  # of 2 GiB
    done = bench("micro", "--gpus", max(ranks, 2), "-e", "1G")
    assert done.returncode == 5 and "GB" in done.stderr
    assert not bench.db.exists()


def test_an_interrupt_keeps_what_was_measured(bench):
    process = bench.start("micro", "--gpus", "2", "--operations", "gemm,all_reduce", "--seconds", "1", "--quiet")
    wait_until(lambda: len(bench.workers()) == 2, 60, "both ranks run")
    wait_until(lambda: bench.db.exists() and bench.rows("select count(*) from step_value")[0][0] > 0, 60, "stored values")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    table = checked(bench.ok("show", "--json"), "micro")
    assert table["state"] == "interrupted" and table["ceilings"]
