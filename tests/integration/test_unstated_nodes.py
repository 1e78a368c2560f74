"""Imported tables that do not state how their GPUs sit in nodes."""

import csv

import pytest

from test_analysis import checked
from test_import import imported


def test_nodes_that_a_table_does_not_state_are_not_known(bench, tmp_path):
    table = tmp_path / "published.csv"
    table.write_text("gpus,workload,sku,batch_per_gpu,precision,throughput\n1,resnet50,a100,64,fp32,400\n"
                     "8,resnet50,a100,64,fp32,3000\n16,resnet50,a100,64,fp32,5600\n16,resnet50,a100,64,bf16,9000\n")
    sweep = imported(bench, "table", table)["sweep_id"]
    written = tmp_path / "written.csv"
    bench.ok("report", sweep, "--format", "csv", "-o", written)
    bench.use_store("other.db")
    imported(bench, "table", written)
    for row in csv.DictReader(written.open()):
        stated = row["world_size"] == "1"
        assert (row["nodes"], row["gpus_per_node"]) == (("1", "1") if stated else ("", ""))
    listed = checked(bench.ok("list", "--json"), "run_list")
    assert sorted((run["world_size"], run["nodes"], run["gpus_per_node"]) for run in listed if run["world_size"] == 1) == [(1, 1, 1)]
    assert {(run["nodes"], run["gpus_per_node"]) for run in listed if run["world_size"] > 1} == {(None, None)}
    price = ("--samples", "1e9", "--price", "a100=32,spot=10,preemptions=0.1")
    curve = checked(bench.ok("scaling", "--where", "precision=fp32", *price, "--json"), "curve")
    assert [row["nodes"] for row in curve["rows"]] == [1, None, None]
    groups = checked(bench.ok("compare", "--by", "precision", *price, "--json"), "groups")
    assert [row["nodes"] for row in groups["rows"] if row["world_size"] == 16] == [None, None]
    for costs in (curve["costs"], groups["costs"]):
        for row in costs:
            assert (row["nodes"] is None) == (row["usd_per_h"] is None) == (row["usd"] is None) == ("1 x a100" not in row["offer"]), row
            assert row["nodes"] or "does not state how its GPUs sit in nodes" in row["missing"]["usd_per_h"]
    assert "16 GPUs" in bench.ok("history", "--metric", "throughput").stdout
    refused = bench("scaling", "--where", "precision=fp32", "--baseline", "node")
    assert refused.returncode == 2 and "8 GPUs, 16 GPUs" in refused.stderr


HEADING = "gpus,nodes,gpus_per_node,workload,sku,batch_per_gpu,precision,link,throughput"


def curve_of(bench, tmp_path, rows, *options):
    table = tmp_path / "rows.csv"
    table.write_text("\n".join([HEADING, *rows]) + "\n")
    imported(bench, "table", table)
    return checked(bench.ok("scaling", "--where", "workload=resnet50", *options, "--json"), "curve")


def test_sizes_with_and_without_stated_nodes_are_kept_apart(bench, tmp_path):
    rows = ["1,1,1,resnet50,a100,64,fp32,,400", "8,,,resnet50,a100,64,fp32,,3000", "8,1,8,resnet50,a100,64,fp32,,3100",
            "16,2,8,resnet50,a100,64,fp32,,5600", "32,4,8,resnet50,a100,64,fp32,,11000"]
    deadline = ("--samples", "1e9", "--deadline", "100", "--price", "a100=32")
    curve = curve_of(bench, tmp_path, rows, *deadline)
    assert [(row["world_size"], row["nodes"], round(row["samples_per_s"])) for row in curve["rows"]] == [
        (1, 1, 400), (8, 1, 3100), (8, None, 3000), (16, 2, 5600), (32, 4, 11000)]
    assert curve["nodes_in_time"]["expected"]["nodes"] == 1
    often = checked(bench.ok("scaling", "--where", "workload=resnet50", *deadline, "--node-mtbf-h", "1e-6", "--json"), "curve")
    assert "interrupted so often" in often["nodes_in_time"]["missing"]["expected"]
    assert {row["expected_time_factor"] for row in often["costs"] if row["nodes"]} == {None}
    assert "interrupted so often" in bench.ok("scaling", "--where", "workload=resnet50", *deadline, "--node-mtbf-h", "1e-6").stdout
    groups = checked(bench.ok("compare", "--by", "nodes", "--json"), "groups")
    assert groups["values"] == ["1", "2", "4", ""]
    predicted = checked(bench.ok("scaling", "--where", "workload=resnet50", *deadline, "--predict", "64", "--json"), "curve")
    assert predicted["predictions"][0]["nodes"] is None and predicted["predictions"][0]["gpus_per_node"] is None
    assert [row["usd_per_h"] for row in predicted["costs"] if "64 GPUs" in row["offer"]] == [None]
    stated = checked(bench.ok("scaling", "--where", "workload=resnet50,nodes_not_stated=false", *deadline, "--predict", "64", "--one-tier", "--json"), "curve")
    assert [(row["nodes"], row["usd_per_h"]) for row in stated["costs"] if "64 GPUs" in row["offer"]] == [(8, 256)]
    sizes = checked(bench.ok("predict", "--validate", "last", "--json"), "validation")["sizes"]
    assert [size["samples_per_s"] for size in sizes][1:3] == pytest.approx([3100, 3000])
    assert [size["predicted"] for size in sizes[1:3]] == [None, None], "there is one smaller size; not from each other"


def test_predictions_of_sizes_without_stated_nodes(bench, tmp_path):
    rows = [f"{gpus},,,resnet50,a100,64,fp32,{link},{throughput}" for gpus, link, throughput in
            ((1, "", 400), (8, "", 3000), (16, "100gbit", 5600), (32, "100gbit", 11000))]
    curve = curve_of(bench, tmp_path, rows, "--predict", "64,16x8", "--samples", "1e9", "--price", "a100=32")
    assert [(found["gpus"], found["nodes"], found["gpus_per_node"]) for found in curve["predictions"]] == [(64, None, None), (128, 16, 8)]
    predicted = {row["nodes"]: row["usd_per_h"] for row in curve["costs"] if "EXTRAPOLATED" in row["offer"] or "predicted" in row["offer"]}
    assert predicted == {None: None, 16: 512}
    sizes = checked(bench.ok("predict", "--validate", "last", "--json"), "validation")["sizes"]
    assert [(size["nodes"], size["gpus_per_node"]) for size in sizes] == [(1, 1)] + 3 * [(None, None)]


def test_without_a_batch_scaling_is_neither_weak_nor_strong(bench, tmp_path):
    rows = ["1,1,1,resnet50,a100,,fp32,,400", "8,1,8,resnet50,a100,,fp32,,3000"]
    curve = curve_of(bench, tmp_path, rows)
    assert curve["scaling"] is None
    assert "batch is not known" in curve["rows"][1]["missing"]["serial_fraction"]
    assert bench.ok("scaling", "--where", "workload=resnet50").stdout.startswith("Scaling against 1 GPU")
    assert checked(bench.ok("show", "last", "--json"), "run")["run"]["scaling"] is None
