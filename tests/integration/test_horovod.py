"""Horovod's timelines, as `ddbench import horovod` reads them."""

import gzip
import json
import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import horovod_timeline  # noqa: E402


def imported(bench, *arguments, format="horovod"):
    return json.loads(bench.ok("import", format, "--json", *arguments).stdout)


def collectives(bench, run):
    rows = bench.rows("select collective.* from collective join run using (run_key) where id = ? order by function, bytes", run)
    return [(row["function"], row["bytes"], row["count"], row["duration_ns"], row["transfer_ns"], row["peer_wait_ns"],
             row["peer_wait_resolved"], row["communicator_ranks"]) for row in rows]


def test_negotiation_is_apart_from_transfer(bench, tmp_path):
    file = tmp_path / "timeline.json"
    file.write_text(horovod_timeline.training().text())
    run = imported(bench, file, "--batch-per-gpu", "8", "--gpus-per-node", "2")
    assert (run["ranks"], run["world_size"], run["placement_known"]) == (1, 4, True)
    # The first of twelve steps has no begin. Rank 2 is ready at 4020 us, the others at 1000, 1010 and 1030;
    # 4101 is the median end. Fused tensors are one all_reduce, from Horovod's event for the last tensor to
    # the event that the first was done.
    assert collectives(bench, run["run"]) == [("all_reduce", 40, 12, 500_000, 500_000, 0, 0, 4),
                                              ("all_reduce", 5120, 12, 4_999_000, 4_999_000, 0, 0, 4),
                                              ("negotiate", 0, 36, 3_081_000, 81_000, 3_000_000, 1, 4)]
    rows = bench.rows("select step.* from step join run using (run_key) where id = ? order by step", run["run"])
    assert [row["duration_ns"] for row in rows] == [20_000_000] * 11
    # The union of 1000-4102, 4501-9500 and 10100-10600; copies are 4300-4401 and 9600-9701.
    assert {(row["communication_ns"], row["copy_ns"], row["overlap_ns"]) for row in rows} == {(8_601_000, 202_000, 0)}
    shown = " ".join(bench.ok("show", run["run"]).stdout.split())
    assert "3 of 3 tensors are reduced 12 times, once a step" in shown
    assert "rank 2 was the last to be ready in 100%, by a median of 2.99 ms" in shown
    assert "nothing that the program computed was recorded" in shown and "2 nodes × 2 GPUs = 4 ranks" in shown
    bench.ok("report", run["run"], "--format", "perfetto", "-o", tmp_path / "t.json")
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert imported(bench, packed, format="auto")["world_size"] == 4


def test_a_cache_names_no_ranks_and_a_file_may_be_cut_off(bench, tmp_path):
    file = tmp_path / "timeline.json"
    text = horovod_timeline.training(cached=True).text()
    file.write_text(text[:text.rindex("NCCL_ALLREDUCE")])  # killed: Horovod could not end its last event
    run = imported(bench, file)
    assert collectives(bench, run["run"])[-1][:3] == ("negotiate", 0, 36)
    shown = " ".join(bench.ok("show", run["run"]).stdout.split())
    assert "of 3 negotiations that name all ranks" in shown and "up to the last whole one" in shown
    assert "1 events begin or end outside of what was recorded" in shown
    no_names = horovod_timeline.training(cached=True)
    no_names.events = [event for event in no_names.events if event["ph"] != "X"]
    file.write_text(no_names.text())
    refused = bench("import", "horovod", file)
    assert refused.returncode == 2 and "state how many there are with --ranks" in refused.stderr
    run = imported(bench, file, "--ranks", "16")
    assert {row[6:] for row in collectives(bench, run["run"])} == {(0, 16)}


def test_steps_are_not_made_up(bench, tmp_path):
    timeline = horovod_timeline.Timeline()
    for i in range(40):  # a tensor comes again before the other was there
        tensor = "a" if i % 3 else "b"
        timeline.negotiation(tensor, 1000 * i, 1000 * i + 100, [(0, 1000 * i), (1, 1000 * i + 50)])
        timeline.operation({tensor: (8,)}, 1000 * i + 200, [], 1000 * i + 300, "REDUCESCATTER", "float16")
    file = tmp_path / "t.json"
    file.write_text(timeline.text())
    run = imported(bench, file)["run"]
    assert "once a step" not in bench.ok("show", run).stdout
    assert [row[:3] for row in collectives(bench, run)] == [("negotiate", 0, 40), ("reduce_scatter", 32, 40)]


def test_damaged_and_hostile_timelines_store_nothing(bench, tmp_path):
    file = tmp_path / "damaged.json"
    whole = horovod_timeline.training(steps=2).text()
    for text, message in (
            ("", "the file is empty"), ("hello", "no Chrome trace"), ("[]", "no negotiation"), ("[1, 2]", "it is no object"),
            ("[" * 100_000, "no negotiation"), (whole.replace('"ts": 4100', '"ts": "soon"'), "its ts is missing"),
            (whole.replace('"ts": 4100', '"ts": 1e300'), "its ts is missing"), (whole.replace('"ts": 4100', '"ts": 10'), "it ends what begins"),
            (whole.replace('"pid": 3', '"pid": "x"'), "its pid is missing"), (whole.replace('"name": "3"', '"name": "99999999"'), "rank 99999999 cannot be"),
            ('[' + '{"ph": "B", "name": "x", "ts": 1, "pid": 1},' * 20 + '{}]', "of one tensor are open"),
            ('[{"traceEvents": 1}', "no negotiation"), (json.dumps({"traceEvents": []}), "no negotiation")):
        file.write_text(text)
        refused = bench("import", "horovod", file, timeout=60)
        assert refused.returncode == 2 and message in refused.stderr and file.name in refused.stderr, (text[:80], refused.stderr)
    assert not bench.db.exists() or not bench.rows("select * from run")
    file.write_text(whole)
    refused = bench("import", "horovod", file, "--ranks", "2")
    assert refused.returncode == 2 and "it names rank 3, and --ranks is 2" in refused.stderr
    refused = bench("import", "horovod", file, file)
    assert refused.returncode == 2 and "name one file" in refused.stderr
