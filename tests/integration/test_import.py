"""Formats of `ddbench import` that hold figures and no traces."""

import csv
import json
import os
import pathlib

from test_analysis import checked

COLUMNS = "workload,nodes,gpus_per_node,global_batch,step_time_ms,sku,tags.team"


def imported(bench, *arguments):
    return json.loads(bench.ok("import", *arguments, "--json").stdout)


def test_a_table_that_report_wrote(bench, tmp_path):
    first = tmp_path / "first.csv"
    first.write_text(f"{COLUMNS}\nresnet50,1,8,1024,150.5,a100,vision\nresnet50,2,8,1024,80.25,a100,vision\n")
    sweep = imported(bench, "table", first)["sweep_id"]
    written = tmp_path / "written.csv"
    bench.ok("report", sweep, "--format", "csv", "-o", written)
    bench.use_store("other.db")
    second = imported(bench, "table", written)
    assert len(second["added"]) == 2
    again = tmp_path / "again.csv"
    bench.ok("report", second["sweep_id"], "--format", "csv", "-o", again)
    rows = [sorted(csv.DictReader(path.open()), key=lambda row: row["nodes"]) for path in (written, again)]
    for column in ("workload", "nodes", "gpus_per_node", "global_batch", "scaling", "sku", "tags", "step_time_ns", "samples_per_s"):
        assert [row[column] for row in rows[0]] == [row[column] for row in rows[1]], column
    assert "says of its figures: imported" in bench.ok("show", second["added"][0]).stdout
    text = written.read_text()
    written.write_text(text.replace(",done,1,", ",failed,1,"))
    refused = bench("import", "table", written)
    assert refused.returncode == 2 and "no finished, valid run" in refused.stderr


def test_what_a_published_throughput_does_not_state_is_not_known(bench, tmp_path):
    table = tmp_path / "published.csv"
    table.write_text("gpus,nodes,workload,sku,throughput\n8,1,resnet50,h100,4500\n32,4,resnet50,h100,18000\n")
    imported(bench, "table", table)
    run = checked(bench.ok("show", "last", "--json"), "run")
    unknown = ("batch_per_gpu", "global_batch", "lr", "momentum", "seed", "bucket_bytes", "data")
    assert [run["run"][field] for field in unknown] == [None] * len(unknown)
    assert run["step_time_ns"]["value"] is None and run["step_distribution_ns"]["p50"] is None
    assert abs(run["samples_per_s"] - 18000) < 1
    assert all(entry["batch_per_gpu"] is None for entry in checked(bench.ok("list", "--json"), "run_list"))
    rows = checked(bench.ok("scaling", "--json"), "curve")["rows"]
    assert [row["step_time_ns"]["value"] for row in rows] == [None, None] and abs(rows[1]["efficiency"]["value"] - 1) < 1e-4
    shown = bench.ok("show", "last").stdout
    assert "batch 1" not in shown and "p50" not in shown and "ddbench did not record this run" in shown
    assert "step_time" not in bench.ok("report", "last", "--format", "prometheus").stdout
    written = tmp_path / "written.csv"
    bench.ok("report", "last", "--format", "csv", "-o", written)
    bench.use_store("other.db")
    imported(bench, "table", written)
    assert abs(json.loads(bench.ok("show", "last", "--json").stdout)["samples_per_s"] - 18000) < 1


def test_a_global_batch_of_a_model_spread_over_gpus(bench, tmp_path):
    table = tmp_path / "large.csv"
    table.write_text("gpus,gpus_per_node,tp,pp,cp,accumulation,global_batch,throughput\n768,8,4,3,1,4,2048,1000\n")
    run, = imported(bench, "table", table)["added"]
    case = json.loads(bench.rows("select case_json from run where id = ?", run)[0][0])
    assert (case["batch_per_gpu"], case["accumulate"]) == (32, 4)
    table.write_text("gpus,gpus_per_node,global_batch,throughput\n768,8,2048,1000\n")
    refused = bench("import", "table", table)
    assert refused.returncode == 2 and "2048" in refused.stderr


MEGATRON = """using world size: 16, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 2, pipeline-model-parallel size: 2
 [2025-04-13 23:41:12] iteration       10/    1000 | consumed samples:          160 | elapsed time per iteration (ms): 1147.6 | learning rate: 0.0E+00 | global batch size:    16 | lm loss: 1.082E+01 | loss scale: 8388608.0 |
some other line
 [2025-04-13 23:41:22] iteration       20/    1000 | consumed samples:          320 | elapsed time per iteration (ms): 430.0 | learning rate: 1.3E-04 | global batch size:    16 | lm loss: 7.399415E+00 | loss scale: 16384.0 |
 [2025-04-13 23:41:27] iteration       30/    1000 | consumed samples:          480 | elapsed time per iteration (ms): 450.0 | learning rate: 1.3E-04 | global batch size:    16 | lm loss: 7.1E+00 | loss scale: 16384.0 |
"""
DEEPSPEED = "".join(
    f"[2023-11-07 01:55:{second:02},711] [INFO] [timer.py:260:stop] epoch=0/micro_step={4 * step}/global_step={step}, "
    f"RunningAvgSamplesPerSec=25.0, CurrSamplesPerSec=25.7, MemAllocated=4.32GB, MaxMemAllocated=38.49GB\n"
    for step, second in ((10, 3), (20, 8), (30, 12)))
TITAN = "".join(
    f"[rank{rank}]:[titan] 2025-01-11 12:00:{second:02},500 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss: {8.5 - step / 10:.4f}  "
    f"\x1b[33mmemory: 10.2GiB(10.8%)  \x1b[34mtps: 5,432  \x1b[36mtflops: 100.2  \x1b[35mmfu: 30.1%\x1b[39m\n"
    for step, second in ((1, 1), (2, 3), (3, 4), (4, 5)) for rank in (0, 1))
COMPOSER = "".join(
    f"[batch={batch}/4800]:\n\t Train time/batch: {batch - 1}\n\t Train loss/train/total: 11.7\n"
    f"\t Train throughput/batches_per_sec: {rate}\n\t Train throughput/samples_per_sec: {256 * rate}\n"
    for batch, rate in ((1, 0.1), (2, 0.2), (3, 0.25)))
MLPERF = "noise\n" + "".join(
    ("1: " if step > 1 else "") + ":::MLLOG " + json.dumps(
        {"namespace": "", "time_ms": 1698000000000 + step, "event_type": "POINT_IN_TIME", "key": "tracked_stats",
         "value": {"train_step_time": seconds, "loss": 4.5}, "metadata": {"file": "a.py", "lineno": 3, "step": step}}) + "\n"
    for step, seconds in ((1, 0.9), (2, 0.5), (3, 0.4)))
MLPERF_RATES = "".join(
    ":::MLLOG " + json.dumps({"time_ms": time, "key": key, "value": value, "metadata": {"step": step}}) + "\n"
    for time, key, value, step in ((0, "global_batch_size", 512, 0), (2000, "throughput", 256.0, 1), (2500, "throughput", 1024.0, 2)))


def step_times_ms(bench, run):
    rows = bench.rows("select duration_ns from step join run using (run_key) where id = ? order by step", run)
    return [row[0] / 1e6 for row in rows]


def test_logs_of_training_programs(bench, tmp_path):
    """As their programs print them (lines of public logs, shortened)."""
    for name, text, options, expected in (
            ("megatron", MEGATRON, ["--gpus-per-node", "8"], [1147.6, 430, 450]),
            ("deepspeed", DEEPSPEED, ["--gpus", "8", "--global-batch", "32"], [500, 400]),
            ("torchtitan", TITAN, ["--gpus", "2"], [2000, 1000, 1000]),
            ("composer", COMPOSER, ["--gpus", "8"], [10000, 5000, 4000]),
            ("regex", "it 1 took 0.5 s\nit 2 took 0.25 s\n",
             ["--gpus", "1", "--regex", r"it (\d+) took ([0-9.]+) s", "--groups", "step,step_time_s"], [500, 250])):
        log = tmp_path / f"{name}.log"
        log.write_text(text)
        run, = imported(bench, "log", "--format", name, log, *options)["added"]
        assert step_times_ms(bench, run) == expected, name
        shown = bench.ok("show", run).stdout
        assert "only step times, throughput and losses are known" in shown and "provenance: imported" in shown
    case = json.loads(bench.rows("select case_json from run order by run_key limit 1")[0][0])
    assert (case["nodes"], case["gpus_per_node"], case["batch_per_gpu"]) == (2, 8, 4)
    assert case["strategy_options"] == {"tensor_parallel": "2", "pipeline_parallel": "2"}
    again = imported(bench, "log", "--format", "megatron", tmp_path / "megatron.log", "--gpus-per-node", "8")
    assert again["already_there"]
    # Recognised by its content; without --gpus-per-node it is another run, whose nodes are not known.
    run, = imported(bench, "auto", tmp_path / "megatron.log")["added"]
    assert "16 ranks, GPUs per node not known" in bench.ok("show", run).stdout


def test_logs_of_mlperf(bench, tmp_path):
    for name, text, expected in (("times", MLPERF, [900, 500, 400]), ("rates", MLPERF_RATES, [2000, 500])):
        log = tmp_path / f"{name}.log"
        log.write_text(text)
        run, = imported(bench, "mlperf", log, "--gpus", "8", "--gpus-per-node", "8")["added"]
        assert step_times_ms(bench, run) == expected
    shown = json.loads(bench.ok("show", "--json", run).stdout)
    assert shown["run"]["provenance"] == ["imported"]
    both = imported(bench, "mlperf", tmp_path / "times.log", tmp_path / "rates.log", "--gpus", "4")
    assert [len(file["added"]) for file in both["files"]] == [1, 1]
    for content in (MLPERF, "no log\n"):
        strange = tmp_path / os.fsdecode(b"a\xff.log")
        strange.write_text(content)
        named = json.loads(bench("import", "mlperf", strange, tmp_path / "rates.log", "--gpus", "2", "--json").stdout)
        assert "a\ufffd.log" in [pathlib.Path(file["file"]).name for file in named["files"] + named["refused"]]


def test_damaged_logs_store_nothing(bench, tmp_path):
    log = tmp_path / "damaged.log"

    def refused(text, message, *arguments):
        log.write_bytes(text if isinstance(text, bytes) else text.encode())
        process = bench("import", *arguments, log)
        assert process.returncode == 2 and message in process.stderr, (message, process.stderr)

    megatron = ("log", "--format", "megatron")
    refused("", "no line of a step", *megatron)
    refused(b"\0\xff" * 5000, "no line of a step", *megatron)
    refused(MEGATRON + MEGATRON, "line 7: step 10 follows step 30", *megatron)
    refused(MEGATRON.replace("430.0", "0.0"), "step 20 takes 0 ms", *megatron)
    refused(MEGATRON.replace("430.0", "1e300"), "which cannot be", *megatron)
    refused(MEGATRON.replace("size:    16", "size:    17"), "17 cannot be shared by 4 copies", *megatron)
    refused(MEGATRON.replace("using world size: 16", "x"), "state --gpus", *megatron)
    refused(MEGATRON.replace("using world size: 16", "x"), "state --gpus (an option of `ddbench import log`)", "auto")
    table = tmp_path / "a--gpus-table.csv"
    table.write_text("gpus,throughput\n1,--\n")
    process = bench("import", "auto", table)
    assert process.returncode == 2 and '"--" is not a number' in process.stderr and "option of" not in process.stderr, process.stderr
    refused(MEGATRON.replace("using world size: 16", "using world size: 99999999"), "too many", *megatron)
    refused(MEGATRON, "--warmup leaves out 3", *megatron, "--warmup", "3")
    refused(DEEPSPEED.splitlines()[0], "the time of a step needs two", "log", "--format", "deepspeed", "--gpus", "1")
    refused(":::MLLOG {\n", "line 1: what follows :::MLLOG is no JSON object", "mlperf", "--gpus", "1")
    refused("\n".join(MLPERF_RATES.splitlines()[:2]), "settles whether its throughput is of samples or of tokens", "mlperf", "--gpus", "1")
    refused(":::MLLOG " + "[" * 10000 + "\n", "is no JSON object", "mlperf", "--gpus", "1")
    refused("x\n", "no ECMAScript pattern", "log", "--format", "regex", "--regex", "(", "--groups", "step")
    refused("x\n", "has 1 groups and --groups 2", "log", "--format", "regex", "--regex", "(x)", "--groups", "step,loss")
    refused("x\n", "which is no number", "log", "--format", "regex", "--regex", "(x)", "--groups", "step")
    assert bench.rows("select count(*) from run")[0][0] == 0 if bench.db.exists() else True


def inspector_line(rank, sequence, time_us, size=65536, coll="AllReduce", ranks=2, id="0x9e7a479f95a66c", **more):
    """As documented in NVIDIA/nccl ext-profiler/inspector, format v4.0."""
    kind = "p2p" if coll in ("Send", "Recv") else "coll"
    return json.dumps({
        "header": {"id": id, "rank": rank, "n_ranks": ranks, "nnodes": 1},
        "metadata": {"inspector_output_format_version": "v4.0", "git_rev": "75e61acda-dirty",
                     "rec_mechanism": "nccl_profiler_interface", "dump_timestamp_us": 1749490229087081, "hostname": f"n{rank}",
                     "pid": 468528 + rank},
        f"{kind}_perf": {kind: coll, f"{kind}_sn": sequence, f"{kind}_msg_size_bytes": size, f"{kind}_exec_time_us": time_us,
                         f"{kind}_timing_source": "kernel_gpu"} | more}) + "\n"


def test_a_snapshot_of_nccl_inspector(bench, tmp_path):
    """Hand-built files in the documented format."""
    folder = tmp_path / "inspector"
    folder.mkdir()
    (folder / "n0.log").write_text("".join(inspector_line(0, i, 110 + 20 * i) for i in range(3)) + inspector_line(0, 9, 50, coll="Send"))
    (folder / "n1.log").write_text("".join(inspector_line(1, i, 100) for i in range(3)) +
                                   inspector_line(1, 3, 70, 4096, "AllGather", coll_algo="RING", coll_proto="LL") + '{"header": {"id"')
    run, = imported(bench, "nccl-inspector", folder)["added"]
    rows = bench.rows("select collective.* from collective join run using (run_key) where id = ? order by function", run)
    got = [(row["function"], row["bytes"], row["count"], row["duration_ns"], row["transfer_ns"], row["peer_wait_ns"]) for row in rows]
    assert got == [("all_gather", 8192, 1, 70000, 70000, 0), ("all_reduce", 65536, 3, 100000, 100000, 0),
                   ("send", 65536, 1, 50000, 50000, 0)]
    shown = " ".join(bench.ok("show", run).stdout.split())
    assert "a snapshot" in shown and "it may include a wait" in shown and "last line of 1 files is cut off" in shown and "RING LL" in shown
    assert imported(bench, "auto", folder)["already_there"]


def test_damaged_files_of_nccl_inspector_store_nothing(bench, tmp_path):
    log = tmp_path / "damaged.log"
    whole = inspector_line(0, 1, 10)
    for text, message in (("", "no call"), ("{]\n" + whole, "line 1: it is no JSON"), ("{}\n", "it has no header"),
                          (whole.replace('"rank": 0', '"rank": 2'), "rank is missing, or no number from 0 to 1"),
                          (whole.replace(": 65536", ": -1"), "coll_msg_size_bytes is missing, or no number"),
                          (whole.replace("us\": 10", "us\": 1e300"), "coll_exec_time_us"),
                          (whole.replace("coll_perf", "x"), "neither coll_perf nor p2p_perf"),
                          (whole + inspector_line(0, 1, 10, ranks=4), "has 4 ranks here and 2 before"),
                          ("[" * 100000 + "\n", "line 1"), ("\0" * 1000 + "\n", "line 1")):
        log.write_text(text)
        refused = bench("import", "nccl-inspector", log)
        assert refused.returncode == 2 and message in refused.stderr, (message, refused.stderr)
    assert not bench.db.exists() or bench.rows("select count(*) from run")[0][0] == 0


def ras_rank(rank, launched, **status):
    """As NVIDIA documents `ncclras -f json` (NCCL 2.28.7)."""
    return {"rank": rank, "host": f"172.16.64.{245 + rank // 2}", "pid": 1524344 + rank, "cuda_dev": rank % 2, "nvml_dev": rank % 2,
            "status": {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False, "abort_flag": False} | status,
            "collective_counts": {"Broadcast": 1, "Reduce": 0, "AllGather": 0, "ReduceScatter": 0, "AllReduce": launched}}


def ras_missing(rank, **status):
    place = {key: value for key, value in ras_rank(rank, 0).items() if key not in ("status", "collective_counts")}
    return place | {"status": {"unresponsive": True, "considered_dead": False} | status}


def ras_status(ranks, missing=(), **more):
    communicator = {"hash": "0xae94423cfbb2ef4a", "secondary_hash": "0xb7e7187447156001:0xb8242ed28a71381e",
                    "size": len(ranks) + len(missing), "ranks_count": len(ranks), "missing_ranks_count": len(missing),
                    "ranks": ranks, "missing_ranks": list(missing)}
    return {"nccl_version": "2.29.1", "cuda_runtime_version": 13000, "cuda_driver_version": 13000,
            "timestamp": "2025-12-19 13:06:53", "communicators_count": 1, "communicators": [communicator],
            "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}} | more


def test_a_snapshot_of_nccl_ras(bench, tmp_path):
    file = tmp_path / "ras.json"
    file.write_text(json.dumps(ras_status([ras_rank(0, 6650), ras_rank(1, 6649), ras_rank(2, 6650), ras_rank(3, 6650)])))
    working = imported(bench, "nccl-ras", file)
    assert working["findings"] == [] and working["world_size"] == 4
    assert working["unequal"] == ["of all_reduce in communicator 0xae94423cfbb2ef4a of 4 ranks, ranks 1 have launched 6649 and the "
                                  "others 6650"]
    shown = " ".join(bench.ok("show", working["added"][0]).stdout.split())
    assert "2 nodes × 2 GPUs = 4 ranks" in shown and "a snapshot: what NCCL 2.29.1's RAS reported at 2025-12-19 13:06:53" in shown
    assert "1 communicator of 4 ranks: 6650 all_reduce, 1 broadcast launched" in shown and "unequal numbers are usual" in shown
    # NCCL 2.28.9 leaves a comma out.
    text = json.dumps(ras_status([ras_rank(0, 7), ras_rank(1, 7, async_error=6)], [ras_missing(3), ras_missing(2, considered_dead=True)]),
                      indent=2)
    file.write_text("OK\n" + text.replace('"nvml_dev": 1,\n          "status": {\n            "unresponsive"',
                                          '"nvml_dev": 1\n          "status": {\n            "unresponsive"'))
    broken = imported(bench, "auto", file)
    where = "of the 4 of communicator 0xae94423cfbb2ef4a"
    assert broken["findings"] == [
        f"rank 2 {where} (GPU 0, process 1524346 on 172.16.64.246) is considered dead: nothing reaches its process",
        f"rank 3 {where} (GPU 1, process 1524347 on 172.16.64.246) does not answer",
        f"rank 1 {where} (GPU 1, process 1524345 on 172.16.64.245) reports an error of a remote process"]
    assert "failed" in bench.ok("show", broken["added"][0]).stdout and imported(bench, "nccl-ras", file)["already_there"]
    assert "does not answer" in bench.ok("import", "nccl-ras", file).stdout


def test_damaged_snapshots_of_nccl_ras_store_nothing(bench, tmp_path):
    file = tmp_path / "ras.json"
    whole = json.dumps(ras_status([ras_rank(0, 7)], [ras_missing(1)]))
    for text, message in (
            ("", "is empty"), ("{", "no valid JSON"), ("{" * 100_000, "no valid JSON"), (whole + whole, "more than one document"),
            ("{}", "no communicators"), ('{"event": "PEER_DEAD"}', "an event of `ncclras -m`"),
            ("Job summary\n===\n\nCommunicators... (0.00s)\n", "`ncclras -f json` prints what can be imported"),
            ("hello", "does not begin with {"), (json.dumps(ras_status([], communicators=[])), "it has no communicator"),
            (whole.replace('"size": 2', '"size": 0'), "communicators[0].size is missing, or no integer from 1"),
            (whole.replace('"size": 2', '"size": 99999999999'), "communicators[0].size"),
            (whole.replace('"rank": 1', '"rank": 2'), "communicators[0].missing_ranks[0].rank is missing, or no integer from 0 to 1"),
            (whole.replace('"rank": 1', '"rank": 0'), "has rank 0 twice"), (whole.replace('"AllReduce": 7', '"AllReduce": -7'), "is no count"),
            (whole.replace('"async_error": 0', '"async_error": "x"'), "communicators[0].ranks[0].status.async_error"),
            (whole.replace('"communicators": [', '"communicators": [1, '), "communicators[0] is no object"),
            (json.dumps({"communicators": {}}), "communicators is missing, or no list")):
        file.write_text(text)
        refused = bench("import", "nccl-ras", file, timeout=60)
        assert refused.returncode == 2 and message in refused.stderr and file.name in refused.stderr, (text[:60], refused.stderr)
    assert not bench.db.exists() or bench.rows("select count(*) from run")[0][0] == 0


def test_an_efficiency_that_is_hardly_possible_is_flagged(bench):
    (bench.tmp / "t.csv").write_text("gpus,throughput\n1,100\n2,400\n4,430\n")
    bench.ok("import", "table", bench.tmp / "t.csv")
    shown = " ".join(bench.ok("scaling").stdout.split())
    assert "2 GPUs: an efficiency of 200.0% is hardly possible: check that the baseline did the same work" in shown
    assert "4 GPUs: an efficiency" not in shown, "107.5% may be"


def test_a_list_says_how_many_runs_it_leaves_out(bench):
    (bench.tmp / "t.csv").write_text("gpus,throughput\n" + "".join(f"{gpus},{100 * gpus}\n" for gpus in range(1, 26)))
    bench.ok("import", "table", bench.tmp / "t.csv")
    listed = bench.ok("list").stdout
    assert len([line for line in listed.splitlines() if " done " in line]) == 20
    assert "20 of 25 runs, newest first; --limit 0 shows all" in listed
    assert "1 of 25 runs" in bench.ok("list", "--limit", 1, "--host", bench.rows("select owner_host from run")[0][0]).stdout
    assert "--limit 0" not in bench.ok("list", "--limit", 0).stdout


def test_costs_are_shown_where_a_compared_run_has_a_sku(bench):
    (bench.tmp / "t.csv").write_text("nodes,gpus_per_node,network,sku,throughput\n"
                                     "2,1,fast,,200\n2,1,slow,,150\n4,1,fast,p4d.24xlarge,390\n")
    bench.ok("import", "table", bench.tmp / "t.csv")
    compared = bench.ok("compare", "--by", "network").stdout
    assert "1 run(s) of cases with one network only are left out" in " ".join(compared.split())
    assert "Cost" not in compared and "catalogue" not in compared
    assert "Cost" in bench.ok("compare", "--by", "network", "--samples", "1e6").stdout
