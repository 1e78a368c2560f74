"""SQLite exports of Nsight Systems, as `ddbench import nsys` reads them."""

import json
import os
import pathlib
import struct
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import nsys_export  # noqa: E402
import trace_reference  # noqa: E402

SAMPLE = pathlib.Path(os.environ.get("DDBENCH_SAMPLES", ROOT.parent / "shared/samples")) / "nsys/h100_2gpu_1s.sqlite"


def imported(bench, *arguments):
    return json.loads(bench.ok("import", "nsys", "--json", *arguments).stdout)


def expect_reference(bench, tmp_path, run, processes, step_range):
    """`processes`: (file, pid) of each rank. Each step of each rank, to the nanosecond."""
    for rank, (file, pid) in enumerate(processes):
        trace = tmp_path / f"kineto{rank}.json"
        trace.write_text(json.dumps(nsys_export.as_kineto(file, pid, step_range)))
        expected = trace_reference.breakdown(trace)
        rows = bench.rows("select step.* from step join run using (run_key) where id = ? and rank = ? order by step", run, rank)
        assert len(rows) == len(expected) > 0
        for number, row in zip(sorted(expected), rows):
            got = {"duration": row["duration_ns"], "communication": row["communication_ns"], "overlap": row["overlap_ns"],
                   "compute": sum(row[k + "_ns"] for k in ("forward", "backward", "optimizer", "other_compute")),
                   "exposed": row["exposed_transfer_ns"] + row["exposed_peer_wait_ns"], "copy": row["copy_ns"],
                   "host": row["host_ns"], "idle": row["idle_ns"]}
            assert got == {key: expected[number][key] for key in got}, (rank, number)


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the samples of other projects are not here")
def test_the_sample_equals_the_reference(bench, tmp_path):
    run = imported(bench, SAMPLE, "--step-range", "aten::einsum")
    assert (run["ranks"], run["world_size"], run["placement_known"]) == (2, 2, True)
    expect_reference(bench, tmp_path, run["run"], [(SAMPLE, 111), (SAMPLE, 112)], "aten::einsum")
    assert "no communication" in json.loads(bench.ok("show", "--json", run["run"]).stdout)["run"]["invalid_reason"]


def test_two_nodes_with_payloads_of_nccl(bench, tmp_path):
    files = []
    for node in range(2):
        export = nsys_export.Export(tmp_path / f"{'ab'[node]}.sqlite", host=f"node{1 - node}")
        nsys_export.training(export, 4000 + node, rank=1 - node, ranks=2, late=50_000 * node)
        files.append(export.close())
    run = imported(bench, *files, "--step-range", "step", "--batch-per-gpu", "8")
    assert (run["ranks"], run["world_size"], run["placement_known"]) == (2, 2, True)
    # Rank 0 is the process of the second file, according to NCCL's payload.
    expect_reference(bench, tmp_path, run["run"], [(files[1], 4001), (files[0], 4000)], "step")
    collective, = bench.rows("select collective.* from collective join run using (run_key) where id = ?", run["run"])
    assert (collective["function"], collective["bytes"], collective["count"]) == ("all_reduce", 1_000_000, 12)
    rank, = bench.rows("select rank.* from rank join run using (run_key) where id = ? and rank = 0", run["run"])
    assert (rank["node"], rank["host"]) == (0, "node0")
    shown = bench.ok("show", run["run"]).stdout
    assert "2 nodes × 1 GPU = 2 ranks" in shown and "provenance: imported" in shown
    row, = bench.rows("select step.* from step join run using (run_key) where id = ? and rank = 0 and step = 3", run["run"])
    assert (row["forward_ns"], row["backward_ns"], row["optimizer_ns"]) == (200_000, 300_000, 20_000)
    again = json.loads(bench.ok("import", "auto", "--json", *files).stdout)
    assert again["already_there"] and again["run"] == run["run"]


def test_one_node_without_payloads(bench, tmp_path):
    export = nsys_export.Export(tmp_path / "job.sqlite")
    for rank in range(2):
        nsys_export.training(export, 70 - rank, rank, 2, late=30_000 * rank, payloads=False, device=rank)
    run = imported(bench, export.close(), "--step-range", "step")
    shown = bench.ok("show", run["run"]).stdout
    assert "numbered by file and GPU" in shown and "do not say how many bytes" in shown
    # One file is one clock: the late rank keeps the other waiting for exactly so long.
    collective, = bench.rows("select collective.* from collective join run using (run_key) where id = ?", run["run"])
    assert (collective["count"], collective["peer_wait_ns"], collective["transfer_ns"]) == (12, 15_000, 270_000)


def test_communicators_that_nobody_distinguishes_are_not_joined(bench, tmp_path):
    export = nsys_export.Export(tmp_path / "job.sqlite")
    for rank in range(2):
        nsys_export.training(export, 70 + rank, rank, 2, payloads=False, device=rank)
        export.kernel(70 + rank, "ncclDevKernel_AllGather_RING_LL", 500, 600, None, stream=21, device=rank)
    run = imported(bench, export.close(), "--step-range", "step")
    assert "does not say of which communicator" in bench.ok("show", run["run"]).stdout
    assert all(row["peer_wait_ns"] == 0 for row in bench.rows("select * from step"))


def test_bytes_are_those_of_all_ranks(bench, tmp_path):
    """NCCL's payload has one rank's message, of which an all_gather has one for each."""
    export = nsys_export.Export(tmp_path / "job.sqlite")
    for rank, pid in enumerate((70, 71)):
        nsys_export.training(export, pid, rank, 2, device=rank)
        at = 4_000_007
        export.range(pid, "ncclAllGather", at + 420_000, at + 440_000,
                     nsys_export.payload(nsys_export.COLLECTIVE, struct.pack("<QQQ", 0xABCDEF, 500_000, 0)), registered=True)
        export.call(pid, "cudaLaunchKernelExC_v11060", at + 425_000, at + 430_000, 9001)
        export.kernel(pid, "ncclDevKernel_AllGather_RING_LL", at + 920_000, at + 940_000, 9001, stream=20, device=rank)
    run = imported(bench, export.close(), "--step-range", "step")
    rows = bench.rows("select collective.* from collective join run using (run_key) where id = ? order by function", run["run"])
    assert [(row["function"], row["bytes"], row["count"]) for row in rows] == [("all_gather", 1_000_000, 1), ("all_reduce", 1_000_000, 12)]


def test_a_communicator_of_before_the_recording_is_not_joined(bench, tmp_path):
    """Its collectives have no payload, and a stream of their own, though others have payloads."""
    export = nsys_export.Export(tmp_path / "job.sqlite")
    for rank, pid in enumerate((70, 71)):
        nsys_export.training(export, pid, rank, 2, device=rank)
        export.kernel(pid, "ncclDevKernel_AllGather_RING_LL", 4_920_000, 4_940_000 + 5000 * rank, None, stream=21, device=rank)
    run = imported(bench, export.close(), "--step-range", "step")
    shown = " ".join(bench.ok("show", run["run"]).stdout.split())
    assert "does not say of which communicator 1 of 13 collectives of a process are" in shown
    rows = bench.rows("select collective.* from collective join run using (run_key) where id = ? and function = 'all_gather'", run["run"])
    assert not any(row["peer_wait_ns"] for row in rows)


def test_helpers_are_no_ranks(bench, tmp_path):
    export = nsys_export.Export(tmp_path / "job.sqlite")
    for rank, pid in enumerate((70, 71)):
        nsys_export.training(export, pid, rank, 2, device=rank)
    export.copy(99, 1_000_000, 1_100_000, 1, 4096)
    export.kernel(98, "monitor", 1_000_000, 1_100_000, 1)
    run = imported(bench, export.close(), "--step-range", "step")
    assert (run["ranks"], run["world_size"]) == (2, 2)
    shown = " ".join(bench.ok("show", run["run"]).stdout.split())
    assert "98 of job.sqlite" in shown and "99 of job.sqlite" in shown and "are no ranks and were left out" in shown


def damaged(tmp_path, name, *statements):
    export = nsys_export.Export(tmp_path / f"{name}.sqlite")
    nsys_export.training(export, 7, 0, 1)
    for statement in statements:
        export.database.executescript(statement)
    return export.close()


def test_damaged_and_hostile_exports_store_nothing(bench, tmp_path):
    whole = damaged(tmp_path, "whole").read_bytes()
    files = {
        "empty": b"", "text": b"no database", "zeroed": b"\0" * 4096 + whole[4096:], "cut": whole[:len(whole) // 3],
        "pages": whole[:4096] + bytes(b ^ 0x5A for b in whole[4096:]),
    }
    paths = []
    for name, content in files.items():
        paths.append(tmp_path / f"{name}.sqlite")
        paths[-1].write_bytes(content)
    kernel = "CUPTI_ACTIVITY_KIND_KERNEL"
    paths += [
        damaged(tmp_path, "view", f"alter table {kernel} rename to k; create view {kernel} as select * from k"),
        damaged(tmp_path, "generated", f"drop table {kernel}; create table {kernel} (start integer, \"end\" integer, deviceId, "
                                       "globalPid integer as (zeroblob(1000000000)), demangledName)"),
        damaged(tmp_path, "virtual", "drop table StringIds; create virtual table StringIds using fts5(id, value)"),
        damaged(tmp_path, "no_strings", "drop table StringIds"),
        damaged(tmp_path, "no_column", f"alter table {kernel} drop column start"),
        damaged(tmp_path, "no_work", f"delete from {kernel}; delete from CUPTI_ACTIVITY_KIND_MEMCPY"),
        damaged(tmp_path, "backwards", f'update {kernel} set "end" = start - 1'),
        damaged(tmp_path, "far", f'update {kernel} set "end" = 9223372036854775807'),
        damaged(tmp_path, "texts", f"update {kernel} set start = 'x', \"end\" = -5"),
    ]
    for path in paths:
        refused = bench("import", "nsys", path)
        assert refused.returncode == 2 and path.name in refused.stderr, (path.name, refused.stderr)
    refused = bench("import", "nsys", damaged(tmp_path, "other"), "--step-range", "iteration")
    assert refused.returncode == 2 and "it has Optimizer.step#SGD.step" in refused.stderr
    for name, statement in {"short": "update NVTX_EVENTS set binaryData = x'0011'",
                            "long": "update NVTX_PAYLOAD_SCHEMA_ENTRIES set offset = 1000000",
                            "open": 'update NVTX_EVENTS set "end" = null'}.items():
        imported(bench, damaged(tmp_path, name, statement))
    assert len(bench.rows("select * from run")) == 3


def test_two_processes_of_one_rank_are_refused(bench, tmp_path):
    export = nsys_export.Export(tmp_path / "job.sqlite")
    for pid in (7, 8):
        nsys_export.training(export, pid, 0, 2)
    refused = bench("import", "nsys", export.close())
    assert refused.returncode == 2 and "it is of rank 0, and so is" in refused.stderr
