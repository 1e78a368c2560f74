"""scaling, compare, import and db as a user drives them: published figures, and what a user gets wrong."""

import json
import re
import shutil

import pytest
from conftest import ROOT

FIXTURE = ROOT / "tests/fixtures/pytorch_ddp_benchmark.csv"


def schema(name):
    jsonschema = pytest.importorskip("jsonschema")
    return jsonschema.Draft7Validator(json.loads((ROOT / f"reports/schema/{name}.schema.json").read_text()))


def checked(done, name):
    document = json.loads(done.stdout)
    errors = [f"{'.'.join(map(str, e.absolute_path))}: {e.message}" for e in schema(name).iter_errors(document)]
    assert not errors, errors
    return document


def refused(done, *parts):
    """Exit 2, nothing on stdout, and words that say what is wrong."""
    assert done.returncode == 2, f"{done.args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.stdout == ""
    assert "internal error" not in done.stderr
    for part in parts:
        assert part in done.stderr, f"{part!r} is not in {done.stderr!r}"


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def published(bench):
    bench.ok("import", "table", FIXTURE)
    return bench


def test_published_figures_of_pytorch_ddp(published):
    curve = checked(published.ok("scaling", "--where", "workload=resnet50,strategy=ddp", "--baseline",
                                 "workload=resnet50,strategy=none", "--json"), "curve")
    assert [row["world_size"] for row in curve["rows"]] == [1, 2, 4, 8, 16]
    assert curve["rows"][4]["efficiency"]["value"] == pytest.approx(0.933, abs=5e-4)
    assert curve["rows"][4]["provenance"] == ["imported"]
    assert curve["missing"]["stragglers"]


def test_three_days_to_five_hours(bench, tmp_path):
    table = write(tmp_path / "t.csv", "gpus,nodes,global_batch,step_time_h\n1,1,256,72\n16,2,256,5\n")
    bench.ok("import", "table", table)
    row = checked(bench.ok("scaling", "--json"), "curve")["rows"][1]
    assert row["speedup"] == pytest.approx(14.4)
    assert row["efficiency"]["value"] == pytest.approx(0.90)
    assert row["serial_fraction"]["value"] == pytest.approx(0.0074, abs=5e-5)


def test_predictions_are_marked_beyond_twice_the_range(bench, tmp_path):
    rows = "".join(f"{n},{300 * n / (1 + 0.02 * (n - 1)) * f}\n" for n in (1, 2, 4, 8, 16) for f in (0.99, 1.0, 1.01))
    bench.ok("import", "table", write(tmp_path / "t.csv", "gpus,throughput\n" + rows))
    done = bench.ok("scaling", "--predict", "32,33")
    assert len(re.findall("EXTRAPOLATED", done.stdout)) == 1
    curve = checked(bench.ok("scaling", "--predict", "32,33", "--json"), "curve")
    assert [p["extrapolated"] for p in curve["predictions"]] == [False, True]
    assert curve["model"]["law"] == "usl"  # weak scaling has no serial fraction
    (sigma,) = [p for p in curve["model"]["parameters"] if p["name"] == "sigma"]
    assert sigma["ci_low"] <= 0.02 <= sigma["ci_high"]


def test_two_tiers_are_predicted_where_both_were_measured(bench, tmp_path):
    def rate(k, g):
        return 64 * g * k / (10 + 0.5 * (g - 1) / g + 6 * (k - 1) / k) * 1e3

    one_node = "gpus,nodes,batch_per_gpu,throughput\n" + "".join(f"{g},1,64,{rate(1, g)}\n" for g in (1, 2, 4, 8))
    bench.ok("import", "table", write(tmp_path / "t.csv", one_node))
    refused(bench("scaling", "--predict", "256"), "--predict 256: 32 nodes", "measure two or more nodes")
    assert "predictions" in json.loads(bench.ok("scaling", "--predict", "256", "--one-tier", "--json").stdout)
    bench.ok("db", "prune", "--where", "nodes=1", "--yes")
    two = "".join(f"{8 * k},{k},64,{rate(k, 8)}\n" for k in (2, 4))
    bench.ok("import", "table", write(tmp_path / "t.csv", one_node + two))
    curve = checked(bench.ok("scaling", "--predict", "256,32x8", "--json"), "curve")
    for prediction in curve["predictions"]:
        assert prediction["samples_per_s"] == pytest.approx(1_008_246, rel=0.05)
        assert prediction["ci_low"] < 1_008_246 < prediction["ci_high"]
    assert "serial fraction" not in json.dumps(curve["model"])


def test_global_batches_that_grow_are_one_weak_curve(bench, tmp_path):
    rows = "gpus,nodes,tensor_parallel,pipeline_parallel,global_batch,step_time_s\n" + "".join(
        f"{n},{n // 8},8,4,{6 * n},{2 + 0.1 * (n / 32 - 1) / (n / 32)}\n" for n in (128, 256, 512))
    bench.ok("import", "table", write(tmp_path / "t.csv", rows))
    curve = checked(bench.ok("scaling", "--predict", "1024", "--json"), "curve")
    assert curve["scaling"] == "weak"
    assert [row["global_batch"] for row in curve["rows"]] == [768, 1536, 3072]
    assert curve["predictions"][0]["samples_per_s"] == pytest.approx(6144 / (2 + 0.1 * 31 / 32), rel=0.002)


def test_skus_have_costs_and_a_cheapest_way_to_a_deadline(bench, tmp_path):
    table = write(tmp_path / "t.csv", "gpus,nodes,batch_per_gpu,sku,throughput\n"
                  "8,1,32,Standard_ND96asr_v4,2600\n16,2,32,Standard_ND96asr_v4,5000\n8,1,32,p4d.24xlarge,2500\n")
    bench.ok("import", "table", table)
    groups = checked(bench.ok("compare", "--by", "sku", "--epoch-samples", "1281167", "--epochs", "90", "--deadline", "10",
                              "--json"), "groups")
    costs = {c["offer"]: c for c in groups["costs"]}
    one = costs["1 x Standard_ND96asr_v4"]
    assert one["usd_per_million_samples"]["value"] == pytest.approx(27.197 / (2600 * 3600) * 1e6)
    assert one["usd_per_million_samples"]["ci_low"] is None and "3 runs" in one["missing"]["usd_per_million_samples.ci"]
    assert not one["meets_deadline"]
    assert groups["costs"][groups["cheapest_in_time"]]["offer"] == "2 x Standard_ND96asr_v4"
    cheaper = checked(bench.ok("compare", "--by", "sku", "--price", "p4d.24xlarge=10,spot=3,preemptions=0.05", "--json"),
                      "groups")
    assert {c["usd_per_h"] for c in cheaper["costs"]} == {10.0, 3.0, 27.197, 2 * 27.197, 2.99167, 2 * 2.99167}


def test_nccl_tests_output_becomes_latency_and_bandwidth(bench, tmp_path):
    lines = ["# Collective test starting: all_reduce_perf"]
    lines += [f"#  Rank {r:2} Group  0 Pid 1 on host device {r} [0x0f] NVIDIA H100" for r in range(8)]
    lines.append("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong")
    for power in range(10, 30):
        size = 1 << power
        us = 20 + size / 100e3  # 100 GB/s
        figures = f"{us:.2f} {size / us / 1e3:.2f} {1.75 * size / us / 1e3:.2f} 0"
        lines.append(f" {size} {size // 4} float sum -1 {figures} {figures}")
    bench.ok("import", "nccl-tests", write(tmp_path / "out.txt", "\n".join(lines)))
    groups = checked(bench.ok("compare", "--by", "workload_options.place", "--json"), "groups")
    assert groups["values"] == ["out_of_place", "in_place"]
    (fit, _) = groups["fits"]
    (regime,) = fit["regimes"]
    assert regime["latency_ns"]["value"] == pytest.approx(20000, rel=0.02)
    assert regime["ns_per_byte"]["value"] == pytest.approx(0.01, rel=0.02)


def test_comparing_two_runs(published):
    done = published.ok("compare", "workload=resnet50,strategy=none", "workload=resnet50,strategy=ddp,gpus_per_node=1", "--json")
    comparison = checked(done, "comparison")
    assert comparison["verdict"] == "one-change"
    assert comparison["figures"][0]["b_over_a"]["value"] == pytest.approx(0.100 / 0.097)


def test_stores_are_brought_together_and_twice_changes_nothing(published, tmp_path):
    other = tmp_path / "other.db"
    published.ok("db", "export", other, "--where", "workload=resnet50")
    first = json.loads(published.ok("db", "merge", published.db, "--db", other, "--json").stdout)
    assert (len(first["added"]), len(first["unchanged"])) == (18, 6)
    again = json.loads(published.ok("db", "merge", published.db, "--db", other, "--json").stdout)
    assert (len(again["added"]), len(again["unchanged"])) == (0, 24)
    assert "no problems" in published.ok("db", "check", "--db", other).stdout


def test_clashing_ids_are_named(published, tmp_path):
    other = tmp_path / "other.db"
    published.ok("db", "export", other)
    published.rows("update run set reason = 'another' where workload = 'resnet50' and strategy = 'none'")
    (clash,) = [r["id"] for r in published.rows("select id from run where reason = 'another'")]
    refused(published("db", "merge", published.db, "--db", other), clash, "reason", "nothing was merged")


def test_prune_lists_first_and_needs_yes(published):
    done = published.ok("db", "prune", "--where", "workload=resnet50")
    assert "nothing was deleted" in done.stdout
    assert published.rows("select count(*) from run")[0][0] == 24
    done = published.ok("db", "prune", "--where", "workload=resnet50", "--yes")
    assert re.search(r"deleted 6 run\(s\); the store went from [\d.]+ [kM]B to [\d.]+ [kM]B\n", done.stdout), done.stdout
    assert published.rows("select count(*) from run")[0][0] == 18
    for yes in ([], ["--yes"]):
        assert published.ok("db", "prune", "--older-than", "90d", *yes).stdout == "nothing to delete\n"
    (one, *_) = json.loads(published.ok("list", "--json").stdout)
    chosen = json.loads(published.ok("db", "prune", "--state", "failed,done", one["id"], "--json").stdout)
    assert chosen["runs"] == [one["id"]], "what follows the states is a run"
    refused(published("db", "prune", "--yes"), "--older-than")
    refused(published("db", "prune", "--older-than", "soon"), "90d")
    refused(published("db", "prune", "--state", "sleeping"), "sleeping")


@pytest.mark.parametrize("text,parts", [
    ("gpus,throughput\n1,100\n2,fast\n", ["line 3", "column 2 (throughput)", "fast"]),
    ("gpus,throughput\n1,100\n2,nan\n", ["line 3", "nan"]),
    ("gpus,throughput\n1,100,3\n", ["line 2", "3 cell(s)"]),
    ('gpus,throughput\n1,"100\n', ["line 2", "not closed"]),
    ("gpus\n1\n", ["metric"]),
    ("", ["no header"]),
    (b"g\x00p,u\n", ["NUL"]),
    ("step_time\n5\n", ["no unit"]),
])
def test_malformed_tables_are_named_and_nothing_is_kept(bench, tmp_path, text, parts):
    refused(bench("import", "table", write(tmp_path / "t.csv", text)), "t.csv", *parts)
    assert not bench.db.exists()


def test_tables_from_spreadsheets(bench, tmp_path):
    table = write(tmp_path / "t.csv", b"\xef\xbb\xbfgpus;throughput [images/s];note\r\n1;100;\"a; \"\"b\"\"\"\r\n2;190;\r\n")
    bench.ok("import", "table", table)
    assert json.loads(bench.rows("select case_json from run order by world_size")[0][0])["tags"] == {"note": 'a; "b"'}


@pytest.mark.parametrize("arguments,parts", [
    (["scaling"], ["not one curve", "workload", "resnet101", "--where"]),
    (["scaling", "--where", "workload=gpt"], ["no run", "workload=gpt"]),
    (["scaling", "--where", "colour=red"], ["colour"]),
    (["scaling", "--where", "nodes=many"], ["many"]),
    (["scaling", "--where", "nonsense"], ["nonsense"]),
    (["scaling", "--sweep", "nowhere"], ["nowhere"]),
    (["scaling", "--where", "workload=resnet50,strategy=ddp", "--baseline", "moon"], ["moon"]),
    (["scaling", "--where", "workload=resnet50,strategy=ddp", "--predict", "0"], ["--predict"]),
    (["scaling", "--skus", "/nowhere/skus.toml"], ["/nowhere/skus.toml"]),
    (["compare"], ["two references", "--by"]),
    (["compare", "last"], ["A and B"]),
    (["compare", "last", "nobody"], ["nobody"]),
    (["compare", "nobody", "nothing"], ["ddbench: nobody: no run", "\nnothing: no run"]),
    (["compare", "--by", "gpus"], ["did you mean gpus_per_node or world_size?"]),
    (["fit", "nosuch"], ['workload "nosuch" is not known']),
    (["fit"], ["--gpu-memory 16GB, or --sku NAME"]),
    (["compare", "last", "last", "--reference", "1gbit"], ["--reference needs --by"]),
    (["compare", "last", "last", "--samples", "1e9"], ["--samples needs --by"]),
    (["compare", "last", "last", "--price", "x=1"], ["--price needs --by"]),
    (["compare", "last", "last", "--restart-s", "9"], ["--restart-s needs --by"]),
    (["compare", "--by", "sku", "--samples", "1e9", "--node-mtbf-h", "-1"], ["--node-mtbf-h is -1"]),
    (["compare", "--by", "colour"], ["colour"]),
    (["compare", "--by", "sku", "--deadline", "3"], ["--deadline needs"]),
    (["compare", "--by", "sku", "--price", "x=y"], ["x=y"]),
    (["compare", "--by", "strategy", "--price", "DGX1V=10"], ["--price DGX1V=10", "none of the runs"]),
    (["db", "merge", "/nowhere/a.db"], ["/nowhere/a.db"]),
    (["db"], []),
    (["import"], []),
    (["import", "table", "/nowhere/t.csv"], ["/nowhere/t.csv"]),
    (["import", "nccl-tests", str(FIXTURE)], ["no results"]),
])
def test_impossible_questions(published, arguments, parts):
    refused(published(*arguments), *parts)


@pytest.mark.parametrize("command", [["scaling"], ["compare", "last", "last"], ["compare", "--by", "link"], ["batch"],
                                     ["db", "check"], ["db", "prune", "--invalid"]])
def test_a_store_that_is_not_there_or_empty(bench, tmp_path, command):
    refused(bench(*command), "results.db")
    assert not bench.db.exists()
    # Empty: made, and its only run deleted again.
    bench.ok("import", "table", write(tmp_path / "t.csv", "gpus,throughput\n1,100\n"))
    bench.ok("db", "prune", "--where", "gpus_per_node=1", "--yes")
    done = bench(*command)
    assert done.returncode == (0 if command[0] == "db" else 2), done.stderr


def test_one_run_of_one_step_has_figures_and_no_intervals(bench, tmp_path):
    bench.ok("import", "table", write(tmp_path / "t.csv", "gpus,throughput\n1,100\n"))
    curve = checked(bench.ok("scaling", "--json"), "curve")
    assert curve["model"] is None and "3 or more" in curve["missing"]["model"]
    assert curve["rows"][0]["efficiency"]["ci_low"] is None


def test_equal_repetitions_make_no_accident(bench, tmp_path):
    rows = "".join(f"{n},{100 * n}\n" for n in (1, 2, 4, 8) for _ in range(3))
    bench.ok("import", "table", write(tmp_path / "t.csv", "gpus,throughput\n" + rows))
    curve = checked(bench.ok("scaling", "--json", "--predict", "16"), "curve")
    assert curve["predictions"][0]["samples_per_s"] == pytest.approx(1600)


@pytest.mark.parametrize("toml,parts", [
    ("[[sku]]\nname = \"x\nprice", ["skus.toml:2"]),
    ("[[sku]]\nname = \"x\"\nprice_usd_per_h = \"cheap\"\n", ["skus.toml:3", "price_usd_per_h", "number"]),
    ("[[sku]]\nname = \"x\"\ncolour = 1\n", ["colour"]),
])
def test_malformed_catalogues_are_named(published, tmp_path, toml, parts):
    refused(published("compare", "--by", "sku", "--skus", write(tmp_path / "skus.toml", toml)), *parts)


def test_a_truncated_store_is_explained(published, tmp_path):
    broken = tmp_path / "broken.db"
    shutil.copy(published.db, broken)
    with open(broken, "r+b") as file:
        file.truncate(broken.stat().st_size // 2)
    for command in (["scaling"], ["batch"], ["compare", "--by", "link"], ["db", "merge", broken]):
        database = [] if command[0] == "db" else ["--db", broken]
        done = published(*command, *database)
        assert done.returncode in (1, 2) and "broken.db" in done.stderr and "internal error" not in done.stderr
    done = published("db", "check", "--db", broken)
    assert done.returncode in (1, 2)
    assert "broken.db" in done.stdout + done.stderr


LOOKS = [["show"], ["scaling", "--where", "workload=mlp"], ["compare", "last", "last"], ["compare", "--by", "link"],
         ["batch", "--where", "workload=mlp"], ["list"]]


def test_a_run_of_one_step(bench):
    bench.ok("run", "--gpus", "2", "--no-baseline", "--steps", "1", "--warmup", "0", "-O", "hidden=32", "--quiet")
    for look in LOOKS[:4]:
        json.loads(bench.ok(*look, "--json").stdout)
    refused(bench(*LOOKS[4]), "--target-loss")
    curve = checked(bench.ok(*LOOKS[1], "--json"), "curve")
    assert curve["rows"][0]["efficiency"]["ci_low"] is None


@pytest.mark.parametrize("damage", [
    "update step set duration_ns = 0",
    "update step set duration_ns = -5",
    "update step set duration_ns = 9223372036854775807, forward_ns = 9223372036854775807",
    "update step set loss = 9e999",
    "update collective set transfer_ns = -1, bytes = 0",
    "delete from step",
    "delete from rank",
    "update step_value set value = null",
    "update step_value set value = -9e999",
    "update run set started_wall_ns = -1, finished_wall_ns = 0",
    "update run set network = '', fingerprint = '', provenance = 0",
    "update run set baseline_id = id",
])
def test_stored_nonsense_is_survived(bench, damage):
    """Whatever a store holds: figures or words, never a crash, a NaN or an infinity."""
    bench.ok("run", "--gpus", "2", "--no-baseline", "--steps", "6", "--warmup", "1", "-O", "hidden=32", "--quiet")
    bench.rows("update run set case_json = json_set(case_json, '$.target_loss', 0.5)")
    bench.rows(damage)
    for look in LOOKS:
        done = bench(*look, "--json")
        assert done.returncode in (0, 1, 2), (damage, look, done.returncode, done.stderr)
        assert "internal error" not in done.stderr, (look, done.stderr)
        if done.returncode == 0:
            json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{look}: {word} in JSON"))
        else:
            assert done.stderr.strip()


def test_a_damaged_case_is_named(bench):
    bench.ok("run", "--no-baseline", "--steps", "2", "--warmup", "1", "-O", "hidden=32", "--quiet")
    bench.rows("update run set case_json = '{\"nodes\": \"many\"}'")
    for look in LOOKS:
        done = bench(*look)
        expected = (0,) if look == ["list"] else (1, 2)  # the others need the run
        assert done.returncode in expected and "internal error" not in done.stderr, done.stderr
        assert "results.db" in done.stderr and "cannot be read" in done.stderr, done.stderr
