"""`ddbench predict` and `advise`: a recorded run replayed on other sizes, and what they refuse."""

import contextlib
import json
import math
import shutil
import sqlite3

import pytest
from conftest import ROOT, Bench


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A store with a run of one node."""
    bench = Bench(tmp_path_factory.mktemp("predict"))
    bench.ok("run", "--workload", "mlp", "--nodes", "1", "--gpus", "2", "--bucket-mb", "1", "--steps", "24",
             "--no-baseline", "--quiet", "--name", "profile")
    return bench


def checked(done, name):
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(done.stdout)
    schema = json.loads((ROOT / f"reports/schema/{name}.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(document)
    return document


def rates(document):
    return [prediction["samples_per_s"]["value"] for prediction in document["predictions"]]


def test_a_replay_of_the_run_itself_is_the_run(recorded):
    report = checked(recorded.ok("predict", "profile", "--json"), "prediction")
    assert report["replay_over_recorded"] > 0
    (own,) = report["predictions"]
    assert own["step_time_ns"]["value"] == pytest.approx(report["replay_over_recorded"] * report["recorded_step_time_ns"])
    assert report["modelled_over_recorded"] is None
    assert (own["nodes"], own["gpus_per_node"]) == (1, 2)
    assert own["samples_per_s"]["ci_low"] < own["samples_per_s"]["value"] < own["samples_per_s"]["ci_high"]
    assert own["provenance"] == ["predicted"]


def test_a_network_that_nobody_knows_is_not_crossed(recorded):
    done = recorded("predict", "profile", "--nodes", "2", "--gpus", "1")
    assert done.returncode == 2
    assert "ddbench micro --nodes 2" in done.stderr and "--link" in done.stderr


def test_a_specified_link_decides_where_it_is_slow(recorded):
    def at(*arguments):
        return checked(recorded.ok("predict", "profile", "--gpus", "1", *arguments, "--json"), "prediction")

    slow, fast = (rates(at("--nodes", "2", "--link", link))[0] for link in ("10mbit,50us", "100mbit,50us"))
    assert slow < rates(at("--nodes", "2", "--link", "10mbit,50us", "-S", "hook=fp16"))[0] < fast
    assumed = " ".join(at("--nodes", "2", "--link", "10mbit,50us", "-S", "hook=fp16")["assumptions"])
    assert "converting them takes" in assumed and "as measured in the run" in assumed
    many = at("--nodes", "2,64,4096", "--link", "10mbit,50us")
    assert [p["nodes"] for p in many["predictions"]] == [2, 64, 4096]
    steps = [p["step_time_ns"]["value"] for p in many["predictions"]]
    assert steps == sorted(steps)
    text = recorded.ok("predict", "profile", "--nodes", "2", "--gpus", "1", "--link", "1gbit,50us").stdout
    assert "2 x 1" in text


def test_advice_is_ranked_and_leaves_out_what_gains_nothing(recorded):
    report = checked(recorded.ok("advise", "profile", "--json"), "advice")
    gains = [advice["gain"]["value"] for advice in report["advice"]]
    assert gains == sorted(gains, reverse=True)
    assert all(advice["gain"]["ci_low"] > 0 for advice in report["advice"])
    tried = len(report["advice"]) + len(report["no_gain"]) + len(report["not_known"])
    assert tried >= 7
    sizes = [tried["bytes"] for tried in report["buckets"]]
    assert sizes == sorted(sizes) and 1 << 20 in sizes, "the run's own size is among those that were tried"
    text = recorded.ok("advise", "profile").stdout
    assert "What to change first" in text and "(best)" in text


def test_the_critical_path_is_a_chain_through_the_step(recorded):
    path = checked(recorded.ok("advise", "profile", "--json"), "advice")["critical_path"]
    assert sum(path["parts_ns"].values()) == pytest.approx(path["step_time_ns"], rel=1e-6)
    assert [rank["rank"] for rank in path["ranks"]] == [0, 1]
    assert {one["name"] for one in path["collectives"]} == {"all_reduce of bucket 0", "all_reduce of bucket 1"}
    operators = [one["path_ns"] for one in path["operators"]]
    assert operators == sorted(operators, reverse=True)
    assert sum(operators) <= sum(rank["path_ns"] for rank in path["ranks"]) * 1.001, "operators are own work of ranks"
    for one in path["ranks"] + path["collectives"] + path["operators"]:
        assert 0 <= one["slack_ns"] <= path["step_time_ns"] * 1.5
        assert one["steps_on_path"] < 1 or one["slack_ns"] < 1000, "what is always on the path has no slack"
    text = recorded.ok("advise", "profile").stdout
    assert "Critical path across ranks" in text and "all_reduce of bucket 1" in text
    assert "Critical path across ranks" in recorded.ok("report", "profile", "--format", "html").stdout


def on_two_nodes(bench, bucket_mb):
    return checked(bench.ok("predict", "profile", "--nodes", "2", "--gpus", "1", "--link", "100mbit,50us", "--bucket-mb", bucket_mb, "--json"),
                   "prediction")


def test_buckets_hold_whole_gradients(recorded):
    """Each bucket of the MLP ends with the weights of a layer, which no smaller bucket divides."""
    recorded_mb, smaller = on_two_nodes(recorded, "1"), on_two_nodes(recorded, "0.5")
    assert rates(smaller) == rates(recorded_mb)
    assert "ready evenly" not in " ".join(smaller["assumptions"])


def test_buckets_that_are_split_are_split_on_an_assumption(recorded, tmp_path):
    bench = Bench(tmp_path)
    bench.ok("run", "--workload", "gpt2-nano", "--nodes", "1", "--gpus", "2", "--steps", "4", "--no-baseline", "--quiet", "--name", "profile")
    assert "ready evenly" in " ".join(on_two_nodes(bench, "0.5")["assumptions"])
    assert "ready evenly" not in " ".join(on_two_nodes(bench, "25")["assumptions"])
    # A run of an older ddbench.
    with contextlib.closing(sqlite3.connect(bench.db)) as store, store:
        store.execute("update run set facts_json = json_remove(facts_json, '$.\"workload.gradient_bytes\"')")
    assert "as divisible" in " ".join(on_two_nodes(bench, "0.5")["assumptions"])


def nccl_tests(time_us, in_place_us, function="all_reduce"):
    """What nccl-tests print for two ranks of one node, with times that do not depend on the size."""
    head = f"# Collective test starting: {function}_perf\n" if function else ""
    ranks = "".join(f"#  Rank  {rank} Group  0 Pid    10{rank} on     node-a device  {rank} [0x0f] NVIDIA A100\n" for rank in (0, 1))
    columns = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    rows = "".join(f"{size} {size // 4} float sum -1 {time_us} 0.00 0.00 0 {in_place_us} 0.00 0.00 0\n"
                   for size in (1024, 1 << 20, 1 << 30))
    return f"{head}# nThread 1 nGpus 1\n{ranks}{columns}{rows}"


def test_a_requested_network_replaces_the_recorded_one(recorded, tmp_path):
    """The run has the asked shape itself."""
    (tmp_path / "slow.txt").write_text(nccl_tests(9e6, 5e6))
    report = checked(recorded.ok("predict", "profile", "--network", tmp_path / "slow.txt", "--json"), "prediction")
    (predicted,) = report["predictions"]
    # Two buckets, each 5 s in place.
    assert predicted["step_time_ns"]["value"] == pytest.approx(10e9, rel=0.1)
    assert report["modelled_over_recorded"] > 0
    assert "with the mean transfer" in recorded.ok("predict", "profile", "--network", tmp_path / "slow.txt").stdout
    # A network between nodes alone leaves the tier inside of them as it was recorded.
    (tmp_path / "between.txt").write_text(nccl_tests(9e6, 5e6).replace("101 on     node-a", "101 on     node-b"))
    both = checked(recorded.ok("predict", "profile", "--nodes", "1,2", "--network", tmp_path / "between.txt", "--json"), "prediction")
    inside, between = (p["step_time_ns"]["value"] for p in both["predictions"])
    assert inside < between / 2 and between > 10e9
    assert "inside of nodes cost what they did in the run" in " ".join(both["assumptions"])


@pytest.mark.parametrize("command", ["predict", "advise"])
def test_a_file_without_its_collective_is_imported_first(recorded, tmp_path, command):
    (tmp_path / "log.txt").write_text(nccl_tests(9e6, 5e6, function=""))
    done = recorded(command, "profile", "--network", tmp_path / "log.txt")
    assert done.returncode == 2
    assert f"import it (`ddbench import nccl-tests {tmp_path}/log.txt`) with --function" in done.stderr
    assert "give the run as --network" in done.stderr


def test_a_sweep_of_several_curves_is_no_back_test(recorded, tmp_path):
    bench = Bench(tmp_path)
    shutil.copy(recorded.db, bench.db)
    (tmp_path / "t.csv").write_text("gpus,throughput,name\n4,100,other\n")
    bench.ok("import", "table", tmp_path / "t.csv")
    bench.rows("update run set sweep_id = 'mixed'")
    words = " ".join(bench.ok("predict", "profile").stdout.split())
    assert "are not one curve" in words and "--where" not in words
    done = bench("predict", "--validate", "mixed")
    assert done.returncode == 2 and "Give a sweep whose runs differ in size only" in done.stderr and "--where" not in done.stderr


@pytest.mark.parametrize("arguments", [["predict", "--nodes", "1,2", "--link", "1gbit", "--nodes", "4"], ["predict", "-S", "hook=fp16"],
                                       ["predict", "--without", "host"], ["predict", "--network", "Standard_ND96asr_v4"],
                                       ["advise", "--network", "Standard_ND96asr_v4"]])
def test_the_run_may_follow_a_list(recorded, tmp_path, arguments):
    (tmp_path / "t.csv").write_text("gpus,throughput,name\n2,100,newest\n")
    recorded.ok("import", "table", tmp_path / "t.csv")  # the newest run is another, which cannot be replayed
    profile = json.loads(recorded.ok("show", "--json", "profile").stdout)["run"]["id"]
    report = json.loads(recorded.ok(*arguments, "profile", "--json").stdout)
    assert report["run"] == profile
    if "--nodes" in arguments:
        assert [prediction["nodes"] for prediction in report["predictions"]] == [1, 2, 4]


@pytest.mark.parametrize("arguments, words", [
    (["profile"], "leave out RUN"),
    (["--nodes", "2"], "leave out --nodes"),
    (["--gpus", "2"], "leave out --gpus"),
    (["--batch-per-gpu", "64"], "leave out --batch-per-gpu"),
    (["--bucket-mb", "1"], "leave out --bucket-mb"),
    (["--strategy", "zero1"], "leave out --strategy"),
    (["-S", "hook=fp16"], "leave out --strategy-option"),
    (["--accumulate", "2"], "leave out --accumulate"),
    (["--sku", "A:B"], "leave out --sku"),
    (["--compute-scale", "2"], "leave out --compute-scale"),
    (["--without", "host"], "leave out --without"),
])
def test_a_validation_takes_sizes_as_they_were_run(recorded, arguments, words):
    done = recorded("predict", "--validate", "last-sweep", *arguments)
    assert done.returncode == 2 and words in done.stderr and done.stdout == "", done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["--nodes", "0"], "--nodes"),
    (["--link", "fast"], "link is"),
    (["--link", "1gbit,soon"], "--link 1gbit,soon"),
    (["--without", "luck"], "--without luck"),
    (["-S", "hook=fp8"], "hook=fp8"),
    (["--strategy", "ps"], "record a run of ps"),
    (["--sku", "V100 SXM2"], "FROM:TO"),
    (["--sku", "V100 SXM2:H100"], 'did you mean "H100'),
    (["--bucket-mb", "1e-9"], "--bucket-mb"),
    (["--batch-per-gpu", "99999999"], "16 times"),
    (["--network", "nothing"], "nothing"),
    (["--nodes", "100000000"], "--nodes"),
    (["--strategy", "nonsense"], "the strategies are ddp"),
    (["--strategy", "mirrored", "--bucket-mb", "2"], "no buckets"),
    (["--nodes", "2", "--link", "1gbit,50us", "--algorithm", "tree"], "a SKU of the catalogue"),
    (["--network", "profile", "--nodes", "2"], "between nodes"),
    (["--link", "1gbit,50us"], "--link: no size that is predicted has several nodes"),
    (["--nodes", "2", "--link", "1gbit,50us", "--network", "Standard_ND96asr_v4"], "--link: the SKU of --network has a network"),
    (["--network", "profile,Standard_ND96asr_v4"], "leave out the other networks"),
])
def test_what_cannot_be_predicted_is_refused(recorded, arguments, words):
    done = recorded("predict", "profile", *arguments)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr and done.stdout == ""


def test_a_run_without_spans_is_refused(recorded, tmp_path):
    (tmp_path / "t.csv").write_text("gpus,throughput,name\n2,100,table\n")
    recorded.ok("import", "table", tmp_path / "t.csv")
    done = recorded("predict", "table")
    assert done.returncode == 2 and "cannot be replayed" in done.stderr


def test_validation_predicts_each_size_from_the_smaller_ones(recorded, tmp_path):
    rates = {1: 100, 2: 200, 4: 400, 8: 700}
    (tmp_path / "v.csv").write_text("gpus,throughput\n" + "".join(f"{n},{rate}\n" for n, rate in rates.items()))
    sweep = json.loads(recorded.ok("import", "table", tmp_path / "v.csv", "--json").stdout)["sweep_id"]
    sizes = checked(recorded.ok("predict", "--validate", sweep, "--json"), "validation")["sizes"]
    assert [size["samples_per_s"] for size in sizes] == pytest.approx([100, 200, 400, 700])
    assert [size["predicted"] is None for size in sizes] == [True, True, False, False]
    assert sizes[0]["missing"] and not sizes[3]["missing"]
    assert sizes[2]["error"] == pytest.approx(0, abs=1e-6)
    assert sizes[3]["error"] == pytest.approx(800 / 700 - 1)
    text = recorded.ok("predict", "--validate", sweep).stdout
    assert "0 of 2" not in text and "of 2 intervals" in text
    assert {size["replay"]["predicted"] for size in sizes} == {None}
    assert all(size["replay"]["missing"] for size in sizes)
    assert recorded("predict", "--validate", "no-such-sweep").returncode == 2


def test_a_sku_stands_for_its_nominal_network(recorded, tmp_path):
    def step_ns(*arguments):
        report = checked(recorded.ok("predict", "profile", "--gpus", "8", *arguments, "--json"), "prediction")
        return [p["step_time_ns"]["value"] for p in report["predictions"]]

    fast = step_ns("--nodes", "2,64", "--network", "Standard_ND96asr_v4")
    assert fast[0] < fast[1]
    slow = step_ns("--nodes", "2", "--link", "10mbit,50us")
    assert fast[0] < slow[0] / 10
    done = recorded("predict", "profile", "--network", "Standard_NC24")
    assert done.returncode == 2 and "no constants of K80" in done.stderr
    (tmp_path / "log").write_text("nothing of nccl-tests")
    assert recorded("predict", "profile", "--network", tmp_path / "log").returncode == 2


def test_a_sweep_reports_how_far_replays_are_off(recorded):
    """The network decides: 2 and 4 ranks, of whom all wait for it."""
    recorded.ok("sweep", "--workload", "mlp", "--nodes", "2,4", "--gpus", "1", "--link", "1gbit", "--steps", "8", "--warmup",
                "1", "--quiet")
    (run,) = json.loads(recorded.ok("list", "--json", "--limit", "1").stdout)
    sizes = checked(recorded.ok("predict", "--validate", run["sweep_id"], "--json"), "validation")["sizes"]
    assert [size["nodes"] for size in sizes] == [2, 4]
    assert sizes[0]["replay"]["predicted"] is None and "smaller size" in sizes[0]["replay"]["missing"]
    assert sizes[1]["replay"]["error"] == pytest.approx(sizes[1]["replay"]["predicted"] / sizes[1]["samples_per_s"] - 1)
    text = recorded.ok("predict", "--validate", run["sweep_id"]).stdout
    assert "replay: median |error|" in text
    off = 100 * abs(math.log(1 + sizes[1]["replay"]["error"]))
    assert f"replays of 1 size of its sweep were off by {off:.1f}%" in recorded.ok("predict", run["id"]).stdout
