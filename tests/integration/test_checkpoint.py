"""Preemption: a run that is killed and continued has the loss curve of one that was left alone."""

import json
import os
import random
import shutil
import signal
import struct
import time

import pytest
from conftest import HANGS_S, pids_marked, wait_until

def case_of(*more, steps=150, lr=0.1, hidden=64, every=10, delay="4ms"):
    return ["--gpus", 2, "--steps", steps, "--warmup", 0, "-O", f"hidden={hidden}", "--batch-per-gpu", 16, "--lr", lr,
            "--checkpoint-every", every, "--data-delay", delay, "--no-baseline", "--quiet", *more]


def losses(bench, run_id):
    """{(rank, step): loss}, exactly as stored."""
    rows = bench.rows("select rank, step, value from step_value join run using (run_key) "
                      "where id = ? and step_value.name = 'loss'", run_id)
    return {(row[0], row[1]): row[2] for row in rows}


def facts(bench, run_id):
    return json.loads(bench.rows("select facts_json from run where id = ?", run_id)[0][0])


def hashes(bench, run_id):
    return {row[0] for row in bench.rows("select parameter_hash from rank join run using (run_key) where id = ?", run_id)}


def folder_of(bench, run_id):
    return bench.tmp / "results.db.checkpoints" / run_id


def newest_run(bench):
    return bench.rows("select id from run order by started_wall_ns desc limit 1")[0][0]


def kill_after_a_checkpoint(bench, generator, *arguments):
    """At a moment that is as likely in a step as in a checkpoint that is being written."""
    def checkpoints():
        return set(bench.tmp.glob("*.checkpoints/*/step-*"))
    of_others = checkpoints()
    process = bench.start("run", *arguments)
    wait_until(lambda: checkpoints() - of_others, HANGS_S, "the first checkpoint")
    time.sleep(generator.uniform(0, 0.3))
    assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    wait_until(lambda: not pids_marked(bench.mark), HANGS_S, "all ranks have ended")


@pytest.mark.parametrize("strategy, optimizer", [("ddp", "sgd"), ("zero2", "adamw")])
def test_killed_twice_and_continued_is_the_undisturbed_run(bench, strategy, optimizer):
    steps = 600  # of 10 ms: the kills come long before the last
    case = case_of("--strategy", strategy, "--optimizer", optimizer, steps=steps, lr=0.1 if optimizer == "sgd" else 0.002, delay="10ms")
    undisturbed = bench.run_json(*case)["run"]["id"]
    expected = losses(bench, undisturbed)
    assert len(expected) == 2 * steps
    shutil.rmtree(folder_of(bench, undisturbed))

    generator = random.Random(strategy)
    kill_after_a_checkpoint(bench, generator, *case)
    first = newest_run(bench)
    kill_after_a_checkpoint(bench, generator, "--resume", first, "--quiet")
    second = newest_run(bench)
    result = bench.run_json("--resume", second, "--quiet")
    last = result["run"]["id"]
    assert len({undisturbed, first, second, last}) == 4

    curve = {}
    for run_id in (first, second, last):
        for place, loss in losses(bench, run_id).items():
            assert loss == expected[place], f"run {run_id}, rank and step {place}"
            curve[place] = loss
    assert curve.keys() == expected.keys()
    assert hashes(bench, last) == hashes(bench, undisturbed)

    assert facts(bench, last)["resumed.from"] == second
    assert facts(bench, last)["goodput.restarts"] == "2"
    assert all(0 < float(facts(bench, run_id)["goodput"]) < 1 for run_id in (undisturbed, last))
    assert "goodput" in bench.ok("show", last).stdout
    assert not list(folder_of(bench, first).glob(".step-*")), "a checkpoint that was begun is left"
    assert not bench.rows("select 1 from run where state = 'running'")


def interrupted(bench):
    """A run with two checkpoints that was stopped by Ctrl-C, seconds before its end."""
    process = bench.start("run", *case_of(delay="50ms"))
    wait_until(lambda: len(list(bench.tmp.glob("*.checkpoints/*/step-*"))) == 2, HANGS_S, "two checkpoints")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    return newest_run(bench)


def test_a_run_that_was_continued_goes_on_with_its_continuation(bench):
    first = interrupted(bench)
    process = bench.start("run", "--resume", first, "--quiet")
    wait_until(lambda: newest_run(bench) != first and max(folder_of(bench, first).glob("step-*")).name > "step-00000040", HANGS_S,
               "checkpoints of the second run")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    second = newest_run(bench)
    done = bench.ok("run", "--resume", first, "--quiet")
    assert f"run {first} was continued by run {second}" in done.stderr
    third = newest_run(bench)
    assert facts(bench, third)["resumed.from"] == second and facts(bench, third)["goodput.restarts"] == "2"
    done = bench("run", "--resume", first)
    assert done.returncode == 2 and f"run {third} is complete" in done.stderr


def test_a_run_that_was_stopped_after_its_last_step_is_done(bench):
    case = case_of("--name", "job", steps=20, delay="1ms")
    def stopped_at_the_end():
        run_id = bench.run_json(*case)["run"]["id"]
        bench.rows("update run set state = 'interrupted', reason = 'killed' where id = ?", run_id)
        return run_id
    run_id = stopped_at_the_end()
    done = bench.ok("run", *case, "--continue")
    assert f"run {run_id} had done all its steps: there is nothing to continue, and it is stored as done" in done.stderr
    assert run_id in done.stdout and newest_run(bench) == run_id
    assert bench.rows("select state from run")[0]["state"] == "done"
    assert "interrupted after its last step" in " ".join(bench.ok("show", run_id).stdout.split())

    run_id = stopped_at_the_end()
    done = bench("run", "--resume", run_id)
    assert done.returncode == 2 and f"run {run_id} had done all its steps" in done.stderr

    run_id = stopped_at_the_end()
    bench.rows("delete from step where step = 19 and rank = 1 and run_key = (select run_key from run where id = ?)", run_id)
    done = bench.ok("run", *case, "--continue")
    assert "had done all its steps" not in done.stderr, "not all of them are in the store"
    assert newest_run(bench) != run_id and facts(bench, newest_run(bench))["resumed.from"] == run_id, "from its last checkpoint"


def flip_a_bit(file):
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)


def test_a_damaged_checkpoint_is_passed_over(bench):
    run_id = interrupted(bench)
    older, newest = sorted(folder_of(bench, run_id).glob("step-*"))
    flip_a_bit(newest / "parameters.safetensors")
    done = bench("run", "--resume", run_id, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "passed over" in done.stderr and newest.name in done.stderr and "checksum" in done.stderr
    continued = newest_run(bench)
    assert facts(bench, continued)["resumed.at_step"] == str(int(older.name[-8:]))


def test_a_run_whose_checkpoints_are_all_damaged_is_refused(bench):
    run_id = interrupted(bench)
    for checkpoint in folder_of(bench, run_id).glob("step-*"):
        os.truncate(checkpoint / "state-0.safetensors", 1000)
    done = bench("run", "--resume", run_id)
    assert done.returncode == 2
    assert "no checkpoint to continue from" in done.stderr and "state-0.safetensors" in done.stderr


def test_a_foreign_checkpoint_is_refused_with_what_differs(bench):
    run_id = interrupted(bench)
    other = bench.run_json(*case_of(steps=12, lr=0.05, hidden=32))["run"]["id"]
    shutil.rmtree(folder_of(bench, run_id))
    shutil.copytree(folder_of(bench, other), folder_of(bench, run_id))
    done = bench("run", "--resume", run_id)
    assert done.returncode == 2
    for words in ("another run", "lr is 0.05 there and 0.1 here",
                  'workload_options.hidden is "32" there and "64" here', "steps is 12 there and 150 here"):
        assert words in done.stderr, done.stderr


def test_pruned_runs_leave_no_folders(bench):
    run_id = interrupted(bench)
    bench.ok("run", "--resume", run_id, "--quiet")
    chosen = bench.tmp / "mine"
    mine = bench.run_json(*case_of("--checkpoint-dir", chosen, steps=12))["run"]["id"]
    bench("run", "--no-baseline", "--name", "echo", "--", "echo", "hello")
    log = bench.tmp / "results.db.logs" / newest_run(bench) / "rank0.log"
    assert "hello" in log.read_text()

    bench.ok("db", "prune", "--state", "interrupted", "--yes")
    assert folder_of(bench, run_id).exists(), "the run that continued it is still there"
    bench.ok("db", "prune", "--state", "done,failed", "--spans", "--yes")
    assert folder_of(bench, run_id).exists() and log.exists()
    bench.ok("db", "prune", "--state", "done,failed", "--yes")
    assert bench.rows("select count(*) from run")[0][0] == 0
    assert not (bench.tmp / "results.db.checkpoints").exists() and not (bench.tmp / "results.db.logs").exists()
    assert (chosen / mine).exists(), "a folder that the user named is the user's"


def test_what_cannot_be_continued_says_why(bench):
    plain = bench.run_json("--steps", 4, "-O", "hidden=16", "--no-baseline", "--quiet", "--name", "plain")["run"]["id"]
    done = bench("run", "--resume", plain)
    assert done.returncode == 2 and "is complete" in done.stderr
    done = bench("run", "--resume", plain, "--lr", 0.2)
    assert done.returncode == 2 and "--lr" in done.stderr
    process = bench.start("run", "--steps", 1000000, "-O", "hidden=16", "--data-delay", "2ms", "--no-baseline", "--quiet")
    bench.wait_for_step(process, 5, 1)
    done = bench("run", "--resume", "last")
    assert done.returncode == 2 and "still running" in done.stderr
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    done = bench("run", "--resume", "last")
    assert done.returncode == 2 and "--checkpoint-every" in done.stderr


def test_checkpoints_are_safetensors_where_they_were_asked_for(bench):
    place = bench.tmp / "elsewhere"
    result = bench.run_json(*case_of("--checkpoint-dir", place, steps=20))
    folder = place / result["run"]["id"]
    assert sorted(p.name for p in folder.iterdir()) == [".ddbench", "step-00000010", "step-00000020"]
    content = (folder / "step-00000020" / "parameters.safetensors").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    assert header["layer0.weight"]["shape"] == [64, 784]
    assert len(content) == 8 + length + 4 * (784 * 64 + 64 + 640 + 10)
    assert any(k["name"] == "checkpoint" and k["kind"] == "copy" for k in result["kernels"])


def test_a_directory_that_cannot_be_written_fails_before_anything_runs(bench):
    (bench.tmp / "file").write_text("in the way")
    done = bench("run", *case_of("--checkpoint-dir", bench.tmp / "file"))
    assert done.returncode == 5
    assert "checkpoints" in done.stderr
