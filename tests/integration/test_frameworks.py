"""Recipes of docs/guides/frameworks.md. horovodrun is stood in for: the same variables."""

import json
import sys

from conftest import EXECUTABLE, SMALL
from ports import free_port
from test_launchers import finish, last_run, start

CONFIG = {"train_batch_size": 32, "train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 2, "gradient_clipping": 1.0,
          "zero_optimization": {"stage": 3, "reduce_bucket_size": 50000, "overlap_comm": True,
                                "offload_optimizer": {"device": "cpu"}, "stage3_max_live_parameters": "auto"},
          "bf16": {"enabled": "auto"}, "steps_per_print": 10,
          "optimizer": {"type": "AdamW", "params": {"lr": 0.002, "weight_decay": 0.01, "betas": [0.9, 0.999]}}}


def config(bench, **changes):
    file = bench.tmp / "ds_config.json"
    file.write_text(json.dumps({**CONFIG, **changes}))
    return file


def test_a_deepspeed_configuration_becomes_options(bench):
    done = bench.ok("run", "--gpus", 2, "--ds-config", config(bench), "--json", "--no-baseline", *SMALL)
    run = json.loads(done.stdout)["run"]
    assert (run["strategy"], run["batch_per_gpu"], run["optimizer"], run["lr"]) == ("zero3", 16, "adamw", 0.002)
    assert run["bucket_bytes"] == 200000, "elements of float32"
    case = json.loads(last_run(bench)["case_json"])
    assert case["accumulate"] == 2 and case["strategy_options"]["offload"] == "optimizer"
    for field in ("gradient_clipping", "optimizer.params.betas", "steps_per_print"):
        assert field in done.stderr
    assert "stage3_max_live_parameters" in done.stderr and "optimizer.params.lr" not in done.stderr


def test_what_a_deepspeed_configuration_does_not_state_is_as_deepspeed_has_it(bench):
    file = bench.tmp / "ds_config.json"

    def run(zero, *arguments):
        file.write_text(json.dumps({"zero_optimization": zero}))
        done = bench.ok("run", "--gpus", 2, "--ds-config", file, "--no-baseline", *arguments, *SMALL)
        case = json.loads(last_run(bench)["case_json"])
        return case["bucket_bytes"], case["strategy_options"], done.stderr

    bucket_bytes, options, said = run({"stage": 2})
    assert (bucket_bytes, options) == (2_000_000_000, {"overlap": "off"})
    assert all(words in said for words in ("as DeepSpeed has it where nothing is stated", "reduce_bucket_size", "overlap_comm"))
    assert run({"stage": 1}, "--bucket-mb", 1, "-S", "overlap=on")[:2] == (1 << 20, {"overlap": "on"}), "what was given has precedence"
    assert run({"stage": 2, "reduce_bucket_size": "auto", "overlap_comm": "auto"})[:2] == (25 << 20, {})
    bucket_bytes, options, said = run({"stage": 3})
    assert (bucket_bytes, options) == (25 << 20, {}) and "zero3 gathers parameters in them" in said
    assert run({}, "--strategy", "horovod")[:2] == (25 << 20, {}), "of another strategy DeepSpeed has no defaults"


def test_accumulation_is_derived_as_deepspeed_does(bench):
    file = config(bench, train_batch_size=64, gradient_accumulation_steps="auto")
    bench.ok("run", "--gpus", 2, "--ds-config", file, "--no-baseline", *SMALL)
    assert json.loads(last_run(bench)["case_json"])["accumulate"] == 4
    port = free_port()
    ranks = [start(bench, EXECUTABLE, "run", "--launcher", "env", "--ds-config", file, "--no-baseline", *SMALL, RANK=str(rank), WORLD_SIZE="2",
                   LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port - 1)) for rank in (0, 1)]
    for rank in ranks:
        _, err = finish(rank)
        assert rank.returncode == 0, err
    assert json.loads(last_run(bench)["case_json"])["accumulate"] == 4, "as many ranks as others started"


def test_contradictions_and_bad_files_name_their_fields(bench):
    def refused(*arguments, **changes):
        done = bench("run", "--gpus", 2, "--ds-config", config(bench, **changes), *arguments)
        assert done.returncode == 2, done.stderr
        return done.stderr

    said = refused(train_batch_size=40, gradient_accumulation_steps="auto")
    assert "train_batch_size is 40, which train_micro_batch_size_per_gpu 8 x 2 ranks does not divide" in said, said
    said = refused(zero_optimization={"cpu_offload": True})
    assert "zero_optimization.cpu_offload is true" in said
    said = refused(train_batch_size=64)
    assert all(word in said for word in ("train_batch_size is 64", "train_micro_batch_size_per_gpu 8", "2 ranks is 32"))
    assert "gradient_accumulation_steps" in refused("--accumulate", 4)
    assert "train_micro_batch_size_per_gpu" in refused("--global-batch", 64)
    deep = bench.tmp / "deep.json"
    deep.write_text('{"x":' + "[" * 200_000 + "]" * 200_000 + "}")
    done = bench("run", "--gpus", 2, "--ds-config", deep)
    assert done.returncode == 2 and "nested more than 64 levels" in done.stderr, done.stderr
    assert "overlap_comm" in refused("-S", "overlap=off")
    assert "from 0 to 3" in refused(zero_optimization={"stage": 4})
    assert "offload_optimizer.device is \"nvme\"" in refused(zero_optimization={"offload_optimizer": {"device": "nvme"}})
    assert "offload_param.device is \"cpu\"" in refused(zero_optimization={"offload_param": {"device": "cpu"}})
    assert "are both true" in refused(bf16={"enabled": True}, fp16={"enabled": True})
    assert "\"Lion\"; supported" in refused(optimizer={"type": "Lion"})
    assert "must be a whole number from 1" in refused(train_micro_batch_size_per_gpu=1.5)
    assert "must be true or false" in refused(bf16={"enabled": 1})
    assert "a program reads its configuration itself" in refused("--", "true")
    (bench.tmp / "ds_config.json").write_text("{")
    done = bench("run", "--ds-config", bench.tmp / "ds_config.json")
    assert done.returncode == 2 and "ds_config.json is no JSON" in done.stderr.replace(":", "")
    assert not bench.db.exists()


def test_ranks_that_horovodrun_started_find_each_other(bench):
    port = free_port()
    ranks = [start(bench, EXECUTABLE, "run", "--launcher", "env", "--strategy", "horovod", *SMALL, HOROVOD_RANK=str(rank), HOROVOD_SIZE="2",
                   HOROVOD_LOCAL_RANK=str(rank), HOROVOD_LOCAL_SIZE="2", HOROVOD_CROSS_RANK="0", HOROVOD_CROSS_SIZE="1",
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port - 1)) for rank in range(2)]
    for rank in ranks:
        _, err = finish(rank)
        assert rank.returncode == 0, err
    assert json.loads(last_run(bench)["facts_json"])["launcher"] == "env (Horovod)"


PLACES = ("import json, os, sys; tf = json.loads(os.environ['TF_CONFIG']); "
          "print('PLACE', json.dumps({'argument': sys.argv[1:], 'rank': os.environ['RANK'], **tf}), file=sys.stderr)")


def places(done):
    return [json.loads(line.partition("PLACE ")[2]) for line in done.stderr.splitlines() if "PLACE " in line]


def test_programs_get_what_tensorflow_reads(bench):
    done = bench("run", "--gpus", 2, "--warmup", 0, "--", sys.executable, "-c", PLACES)
    found = sorted(places(done), key=lambda place: place["rank"])
    assert [place["task"] for place in found] == [{"type": "worker", "index": 0}, {"type": "worker", "index": 1}]
    workers = found[0]["cluster"]["worker"]
    assert len(set(workers)) == 2 and found[1]["cluster"]["worker"] == workers
    assert all(place["argument"] == [] for place in found)

