"""Traces of PyTorch's profiler, as `ddbench import kineto` reads them."""

import collections
import gzip
import json
import os
import pathlib
import random
import sys

import pytest

from conftest import Bench, ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import chakra_trace  # noqa: E402
import trace_reference  # noqa: E402

SAMPLES = pathlib.Path(os.environ.get("DDBENCH_SAMPLES", ROOT.parent / "shared/samples")) / "kineto"
SAMPLE_JOBS = [["nccl_args_1rank.json.gz"], ["two_ranks_rank0.json.gz", "two_ranks_rank1.json.gz"],
               ["rank_missing.json.gz"], ["distributed_info_missing.json.gz"], ["no_gpu.json.gz"],
               ["mi250_rocm62.json.gz"], ["h100_bert_small.json.gz"]]


def imported(bench, *arguments):
    return json.loads(bench.ok("import", "kineto", "--json", *arguments).stdout)


def rows_of(bench, run, rank):
    return bench.rows("select step.* from step join run using (run_key) where id = ? and rank = ? order by step", run,
                      rank)


def expect_reference(bench, run, files):
    """Each step of each rank, to the nanosecond."""
    expected = [trace_reference.breakdown(file) for file in files]
    common = sorted(set.intersection(*(set(steps) for steps in expected)))
    assert common
    for rank, steps in enumerate(expected):
        rows = rows_of(bench, run, rank)
        assert len(rows) == len(common)
        for number, row in zip(common, rows):
            want = steps[number]
            got = {"duration": row["duration_ns"], "communication": row["communication_ns"], "overlap": row["overlap_ns"],
                   "compute": sum(row[k + "_ns"] for k in ("forward", "backward", "optimizer", "other_compute")),
                   "exposed": row["exposed_transfer_ns"] + row["exposed_peer_wait_ns"], "copy": row["copy_ns"],
                   "data_wait": row["data_wait_ns"], "host": row["host_ns"], "idle": row["idle_ns"]}
            assert got == {key: want[key] for key in got}, (rank, number)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of other projects are not here")
@pytest.mark.parametrize("names", SAMPLE_JOBS, ids=lambda names: names[0].split(".")[0])
def test_samples_equal_the_reference(bench, names):
    files = [SAMPLES / name for name in names]
    expect_reference(bench, imported(bench, *files)["run"], files)


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """The traces that PyTorch itself wrote on two ranks, which ddbench recorded meanwhile: recorded.db beside them."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("profiled")
    recorder = Bench(tmp_path_factory.mktemp("recorded"))
    recorder.ok("run", "--gpus", 2, "--warmup", 2, "--no-baseline", "--", sys.executable,
                ROOT / "tests/integration/programs/profiled.py", folder, timeout=300)
    recorder.ok("report", "--format", "perfetto", "-o", folder.parent / "recorded.perfetto")
    return folder


def collectives_of(perfetto):
    """By rank and step: names, in order. This PyTorch's profiler does not report the bytes of Gloo's
    collectives."""
    events = [event for event in json.loads(perfetto.read_text())["traceEvents"] if event.get("cat") == "communication"]
    found = collections.defaultdict(list)
    for event in sorted(events, key=lambda event: event["ts"]):
        found[event["pid"], event["args"].get("step")].append(event["name"])
    return found


def test_ddbench_and_the_profiler_saw_the_same_collectives(bench, profiled):
    """How long they and all else took is for tests/calibration/test_imports.py."""
    run = imported(bench, profiled)["run"]
    bench.ok("report", run, "--format", "perfetto", "-o", bench.tmp / "imported.perfetto")
    recorded, ours = collectives_of(profiled.parent / "recorded.perfetto"), collectives_of(bench.tmp / "imported.perfetto")
    for rank in (1, 2):
        for step in range(5):  # of six; the profiler may stop before Gloo's thread has reported the last one
            assert ours[rank, step] == recorded[rank, step + 2] != [], (rank, step)
    flows = [event for event in json.loads((bench.tmp / "imported.perfetto").read_text())["traceEvents"] if "bind_id" in event]
    assert {(event["pid"], event.get("flow_in", False) or event["flow_out"]) for event in flows} == {(1, True), (2, True)}


def test_traces_of_real_pytorch_equal_the_reference(bench, profiled):
    files = [profiled / "rank0.json", profiled / "rank1.json"]
    run = imported(bench, profiled)
    assert (run["ranks"], run["world_size"]) == (2, 2)
    expect_reference(bench, run["run"], files)
    # The profiler may stop before Gloo's thread has reported the last step's collective.
    rows = [row for rank in range(2) for row in rows_of(bench, run["run"], rank)[:-1]]
    assert all(row["forward_ns"] > 0 and row["backward_ns"] > 0 and row["optimizer_ns"] > 0 for row in rows)
    assert all(row["communication_ns"] > 0 for row in rows)
    shown = bench.ok("show", run["run"]).stdout
    assert "provenance: imported" in shown
    assert "aligned by their collectives, to ±" in shown
    again = imported(bench, *reversed(files))
    assert again["already_there"] and again["run"] == run["run"]


def test_an_imported_trace_is_a_run_like_any_other(bench, profiled):
    run = imported(bench, profiled, "--name", "before", "--batch-per-gpu", "32")["run"]
    other = profiled.parent / "other"
    other.mkdir(exist_ok=True)
    for rank in range(2):  # the same, a step later
        text = (profiled / f"rank{rank}.json").read_text()
        (other / f"rank{rank}.json").write_text(text.replace("ProfilerStep#1\"", "warm-up\""))
    later = imported(bench, other, "--name", "after", "--batch-per-gpu", "32")["run"]
    assert bench("compare", run, later).returncode in (0, 3, 4)
    shown = json.loads(bench.ok("show", "--json", run).stdout)
    assert shown["run"]["provenance"] == ["imported"]
    for form in ("html", "markdown", "perfetto", "csv"):
        bench.ok("report", run, "--format", form, "-o", bench.tmp / f"report.{form}")
    assert bench.ok("db", "check").returncode == 0


def test_chakra_traces_have_what_the_run_has(bench, tmp_path):
    for rank in range(2):
        write(tmp_path / "traces", f"rank{rank}.json", gpu_trace(rank, 2, late=50 * rank))
    run = imported(bench, tmp_path / "traces", "--gpus-per-node", "2")["run"]
    bench.ok("report", run, "--format", "chakra", "-o", tmp_path / "chakra")
    assert json.loads((tmp_path / "chakra/ddbench.comm_groups.json").read_text()) == {"1": [0, 1]}
    for rank in range(2):
        metadata, nodes = chakra_trace.nodes_of(tmp_path / f"chakra/ddbench.{rank}.et")
        assert metadata["id"] == b"0.0.4"  # field 1 of GlobalMetadata is its version
        assert [node["id"] for node in nodes] == list(range(1, 49)) and all(set(n["waits_for"]) < set(range(n["id"])) for n in nodes)
        forward, backward, reduced, optimizer = nodes[4:8]  # of the second step
        assert [node["name"] for node in nodes[4:8]] == [b"sgemm", b"dgrad", b"all_reduce", b"adam"]
        assert [node["type"] for node in nodes[4:8]] == [4, 4, 7, 4]
        assert (reduced["attributes"]["comm_type"], reduced["attributes"]["comm_size"], reduced["attributes"]["pg_name"]) == (0, 1_000_000, "1")
        assert reduced["attributes"]["duration_ns"] == (300 - 50 * rank) * 1000 and forward["length_us"] == 200
        assert forward["waits_for"] == [4] and backward["waits_for"] == [5]
        # The collective waits for the forward pass, as backward goes on beside it; the optimizer for the collective's end.
        assert reduced["waits_for"] == [3, 5] and optimizer["waits_for"] == [6, 7]
    for arguments in (["-o", "-"], ["-o", tmp_path / "traces/rank0.json"], ["-o", "/proc/nowhere/x"]):
        assert bench("report", run, "--format", "chakra", *arguments).returncode == 2, arguments


def kernel(name, begin, length, stream=7, correlation=None, **arguments):
    arguments |= {"stream": stream, "device": 0} | ({"correlation": correlation} if correlation is not None else {})
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": begin, "dur": length, "args": arguments}


def on_cpu(name, begin, length, category="cpu_op", **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": begin, "dur": length, "args": arguments}


def gpu_trace(rank, world_size, offset=0.0, late=0.0, steps=12):
    """Backward computes beside an all_reduce that every rank reaches at 600 + its lateness and that ends at 900 for all."""
    events = []
    for step in range(steps):
        at = offset + 1000 * step + 0.125
        events += [on_cpu(f"ProfilerStep#{step + 3}", at, 999.5, "user_annotation"),
                   on_cpu("aten::mm", at + 10, 50, **{"Sequence number": step}),
                   on_cpu("cudaLaunchKernel", at + 20, 5, "cuda_runtime", correlation=10 * step),
                   on_cpu("autograd::engine::evaluate_function: MmBackward0", at + 300, 200, **{
                       "Sequence number": step, "Fwd thread id": 1}),
                   on_cpu("cudaLaunchKernel", at + 310, 5, "cuda_runtime", correlation=10 * step + 1),
                   on_cpu("ncclLaunch", at + 400, 5, "cuda_runtime", correlation=10 * step + 2),
                   on_cpu("Optimizer.step#SGD.step", at + 910, 50, "user_annotation"),
                   on_cpu("cudaLaunchKernel", at + 915, 5, "cuda_runtime", correlation=10 * step + 3),
                   kernel("sgemm", at + 100, 200, correlation=10 * step),
                   kernel("dgrad", at + 400, 300, correlation=10 * step + 1),
                   kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 600 + late, 300 - late, 20, 10 * step + 2, **{
                       "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 250000, "Out msg nelems": 250000,
                       "Group size": world_size, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}),
                   kernel("adam", at + 950, 20, correlation=10 * step + 3)]
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world_size},
            "traceEvents": events}


def write(folder, name, trace):
    folder.mkdir(exist_ok=True)
    with (gzip.open if name.endswith(".gz") else open)(folder / name, "wt") as file:
        json.dump(trace, file)
    return folder / name


def test_passes_collectives_and_clocks_of_two_ranks(bench, tmp_path):
    folder = tmp_path / "traces"
    write(folder, "a.json", gpu_trace(0, 2, late=50))
    write(folder, "b.json.gz", gpu_trace(1, 2, offset=5e6 / 1e3))  # a clock that is 5 ms off
    run = imported(bench, folder)["run"]
    shown = json.loads(bench.ok("show", "--json", run).stdout)
    for rank in range(2):
        row = rows_of(bench, run, rank)[5]
        assert (row["forward_ns"], row["backward_ns"], row["optimizer_ns"], row["other_compute_ns"]) == (
            200_000, 300_000, 20_000, 0)
        assert row["overlap_ns"] == (100_000 if rank == 1 else 50_000)
        assert row["duration_ns"] == 999_500
    collective = shown["collectives"][0]
    assert (collective["function"], collective["bytes"], collective["count"]) == ("all_reduce", 1_000_000, 12)
    clock = bench.rows("select * from rank order by rank")[1]
    # Each end bounds the other's begin, 250 us before and after.
    readings = {key: clock[key] for key in clock.keys() if "offset" in key or "uncertainty" in key}
    assert any(abs(abs(value) - 5_000_000) <= 300_000 for value in readings.values() if value), readings


def test_which_ranks_share_a_node_is_known_or_said_to_be_unknown(bench, tmp_path):
    for rank in range(2):  # each process sees only its own GPU
        write(tmp_path, f"rank{rank}.json", gpu_trace(rank, 2))
    run = imported(bench, tmp_path)
    assert not run["placement_known"]
    shown = bench.ok("show", run["run"]).stdout
    assert "2 ranks, GPUs per node not known" in shown
    assert "1 node" not in shown
    bench.ok("db", "prune", "--where", "nodes_not_stated=true", "--yes")
    run = imported(bench, tmp_path, "--gpus-per-node", "1")
    assert run["placement_known"] and "2 nodes × 1 GPU = 2 ranks" in bench.ok("show", run["run"]).stdout
    refused = bench("import", "kineto", tmp_path, "--gpus-per-node", "3")
    assert refused.returncode == 2 and "does not divide the 2 ranks" in refused.stderr


def test_what_is_not_of_one_job_is_refused(bench, tmp_path):
    first = write(tmp_path / "x", "rank0.json", gpu_trace(0, 2))
    cases = {"and so is": gpu_trace(0, 2), "number of ranks is 4": gpu_trace(1, 4),
             "they are not of one recording": gpu_trace(1, 2, offset=1e9)}
    late = gpu_trace(1, 2)
    for event in late["traceEvents"]:
        event["name"] = event["name"].replace("ProfilerStep#", "ProfilerStep#90")
    cases["no step (ProfilerStep#) is in the traces of all ranks"] = late
    other = gpu_trace(1, 2)
    other["distributedInfo"]["backend"] = "gloo"
    cases["the backend is gloo here and nccl there"] = other
    for what, trace in cases.items():
        second = write(tmp_path / "x", "second.json", trace)
        refused = bench("import", "kineto", first, second)
        assert refused.returncode == 2 and what in refused.stderr, (what, refused.stderr)
    nameless = gpu_trace(1, 2)
    del nameless["distributedInfo"]
    refused = bench("import", "kineto", first, write(tmp_path / "x", "trace.json", nameless))
    assert refused.returncode == 2 and "does not say which rank" in refused.stderr
    assert not bench.db.exists() or not bench.rows("select * from run")


def test_missing_ranks_and_lost_kernels_are_reported(bench, tmp_path):
    trace = gpu_trace(3, 8)
    trace["traceEvents"] = [e for e in trace["traceEvents"] if not (e["name"] == "dgrad" and e["ts"] < 3000)]
    shown = " ".join(bench.ok("show", imported(bench, write(tmp_path / "x", "t.json", trace))["run"]).stdout.split())
    assert "the traces of 1 of 8 ranks are here" in shown
    assert "3 kernels were launched and are not in the traces" in shown


def test_damaged_and_hostile_traces_store_nothing(bench, tmp_path):
    folder = tmp_path / "x"
    whole = json.dumps(gpu_trace(0, 1, steps=2)).encode()
    packed = gzip.compress(whole)
    draw = random.Random(7)
    damaged = {"empty": b"", "no_json": b"hello", "array_of_numbers": b"[1, 2, 3]", "nothing": b'{"traceEvents": []}',
               "times": whole.replace(b'"dur": 200', b'"dur": -200'), "far": whole.replace(b"1000.125", b"9e14"),
               "words": whole.replace(b'"ts": 0.125', b'"ts": "soon"'), "deep": b"[" * 100_000,
               "text": b'{"traceEvents": [{"ph": "X", "name": "' + b"x" * 1000, "rank": whole.replace(b'"rank": 0', b'"rank": 7'),
               "packed": packed[:-20], "packed_damage": packed[:40] + b"\xff" * 8 + packed[48:], "head": packed[:5]}
    damaged |= {f"cut{i}": whole[:draw.randrange(1, len(whole) - 2)] for i in range(8)}
    for name, content in damaged.items():
        folder.mkdir(exist_ok=True)
        file = folder / f"{name}.json"
        file.write_bytes(content)
        refused = bench("import", "kineto", file, timeout=60)
        assert refused.returncode == 2, (name, refused.stdout, refused.stderr)
        assert file.name in refused.stderr, (name, refused.stderr)
    assert not bench.db.exists() or not bench.rows("select * from run")
