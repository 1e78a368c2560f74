"""Dumps of PyTorch's Flight Recorder: who is missing from which collective."""

import json
import os
import pathlib
import pickle
import re

import pytest

from conftest import ROOT

SAMPLES = pathlib.Path(os.environ.get("DDBENCH_SAMPLES", ROOT.parent / "shared/samples")) / "flight_recorder"


def imported(bench, folder):
    return json.loads(bench.ok("import", "flight-recorder", "--json", folder).stdout)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of other projects are not here")
@pytest.mark.parametrize("job", ["gpu_error_1st", "lock_gil_1st"])
def test_exactly_the_ranks_with_a_fault_are_named(bench, job):
    truth = json.loads(re.search(r"Fault ranks: (.*)", (SAMPLES / job / "fault_injection.log").read_text())[1])
    found = imported(bench, SAMPLES / job)
    assert [rank["rank"] for rank in found["missing"]] == truth
    assert found["world_size"] == 16
    assert imported(bench, SAMPLES / job)["already_there"]
    shown = bench.ok("show", "last").stdout
    assert "provenance: imported" in shown
    assert f"ranks {truth[0]},{truth[1]} are missing" in shown


def operation(number, sequence, state="scheduled", name="nccl:all_reduce", group="0"):
    is_p2p = "send" in name or "recv" in name
    return {"record_id": number, "pg_id": int(group), "process_group": (group, "default_pg"), "profiling_name": name,
            "collective_seq_id": 0 if is_p2p else sequence, "p2p_seq_id": sequence if is_p2p else 0, "state": state,
            "is_p2p": is_p2p}


def dump(rank, operations, enqueued, completed, world_size=4):
    return {"version": "2.9", "nccl_version": "2.27.3",
            "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world_size)))}},
            "pg_status": {"0": {"last_enqueued_collective": enqueued, "last_started_collective": -1,
                                "last_completed_collective": completed}}, "entries": operations}


def write(folder, dumps, as_json=False):
    folder.mkdir(exist_ok=True)
    for rank, content in dumps.items():
        file = folder / (f"nccl_trace_rank_{rank}" + (".json" if as_json else ""))
        file.write_bytes(json.dumps(content).encode() if as_json else pickle.dumps(content, protocol=2))
    return folder


@pytest.mark.parametrize("as_json", [False, True])
def test_who_did_not_come_and_who_left_no_dump(bench, tmp_path, as_json):
    waiting = {rank: dump(rank, [operation(1, 7, "completed"), operation(2, 8)], 8, 7) for rank in range(3)}
    late = waiting | {3: dump(3, [operation(1, 7, "completed")], 7, 7)}
    found = imported(bench, write(tmp_path / "late", late, as_json))
    assert [rank["rank"] for rank in found["missing"]] == [3]
    assert "did not come to nccl:all_reduce #8 of group 0 (default_pg)" in found["missing"][0]["why"]
    found = imported(bench, write(tmp_path / "gone", waiting, as_json))
    assert [rank["rank"] for rank in found["missing"]] == [3] and "left no dump" in found["missing"][0]["why"]


def test_all_in_one_collective_and_nothing_pending(bench, tmp_path):
    inside = {rank: dump(rank, [operation(1, 8)], 8, 7) for rank in range(4)}
    found = imported(bench, write(tmp_path / "inside", inside))
    assert not found["missing"] and "ranks 0-3" in found["entered_by_all"][0]
    done = {rank: dump(rank, [operation(1, 8, "completed")], 8, 8) for rank in range(4)}
    assert imported(bench, write(tmp_path / "done", done))["verdict"] == "no operation was pending"


def test_a_name_that_is_no_utf8_is_told_of(bench, tmp_path):
    operations = [operation(1, 8, name="nccl:all_reduce\udcff")]
    inside = {rank: dump(rank, operations, 8, 7) for rank in range(4)}
    assert "nccl:all_reduce\ufffd" in imported(bench, write(tmp_path / "inside", inside))["entered_by_all"][0]
    late = inside | {3: dump(3, [operation(1, 7, "completed")], 7, 7)}
    assert "nccl:all_reduce\ufffd" in imported(bench, write(tmp_path / "late", late))["missing"][0]["why"]


def test_who_waits_for_a_peer_is_not_missing(bench, tmp_path):
    """1 waits for what 0 has to send; 2 waits for 1 in a collective; 0 does nothing."""
    dumps = {0: dump(0, [], 7, 7, 3), 1: dump(1, [operation(1, 3, name="nccl:recv 1<-0"), operation(2, 8)], 8, 7, 3),
             2: dump(2, [operation(1, 8)], 8, 7, 3)}
    assert [rank["rank"] for rank in imported(bench, write(tmp_path / "x", dumps))["missing"]] == [0]


def test_hostile_dumps_store_nothing(bench, tmp_path):
    whole = pickle.dumps(dump(0, [operation(1, 8)], 8, 7), protocol=2)
    hostile = {"runs_code": b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.", "empty": b"", "newer": pickle.dumps({}, protocol=5),
               "no_entries": pickle.dumps({"version": "2.9"}, protocol=2), "deep": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
               "long": b"\x80\x02X\xff\xff\xff\xffabc", "marks": b"\x80\x02(((eee.", "version": whole.replace(b"2.9", b"9.9"),
               "bomb": b"\x80\x02]X\x00\x00\x10\x00" + b"x" * (1 << 20) + b"q\x00" + b"ah\x00" * 1000 + b"e.", "json": b"{" * 1000}
    hostile |= {f"cut{i}": whole[:i] for i in range(1, len(whole), 37)}
    for name, content in hostile.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "_dump_0").write_bytes(content)
        refused = bench("import", "flight-recorder", folder, timeout=60)
        assert refused.returncode == 2 and "_dump_0" in refused.stderr, (name, refused.stdout, refused.stderr)
    assert not bench.db.exists() or not bench.rows("select * from run")


def test_auto_recognises_content(bench, tmp_path):
    folder = write(tmp_path / "x", {rank: dump(rank, [operation(1, 8)], 8, 7, 2) for rank in range(2)})
    assert json.loads(bench.ok("import", "auto", "--json", folder).stdout)["entered_by_all"]
    (tmp_path / "table").write_text("gpus,throughput\n1,100\n2,190\n")
    assert len(json.loads(bench.ok("import", "auto", "--json", tmp_path / "table").stdout)["added"]) == 2
    (tmp_path / "trace").write_text(json.dumps([{"name": "aten::mm", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": 1}]))
    assert json.loads(bench.ok("import", "auto", "--json", tmp_path / "trace").stdout)["ranks"] == 1
    (tmp_path / "notes").write_text("what we did on Monday")
    for arguments, why in (([tmp_path / "notes"], "no format that can be imported"),
                           ([tmp_path / "table", tmp_path / "trace"], "import them one after the other")):
        refused = bench("import", "auto", *arguments)
        assert refused.returncode == 2 and why in refused.stderr, refused.stderr
