"""SIGTERM, as schedulers send it before they take a machine away: nothing that was trained is lost."""

import os
import signal
import textwrap

import pytest
from conftest import HANGS_S, pids_marked, wait_until
from test_checkpoint import case_of, facts, folder_of, hashes, losses, newest_run


def long_case(*more, **values):
    """6 s at least, so that a signal comes before the last step."""
    return case_of(*more, steps=400, every=1000, delay="15ms", **values)


def wait_for_steps(bench, process):
    """Until some are done; the store hears of them only every two seconds."""
    def spooled():
        assert process.poll() is None, process.communicate()
        sizes = bench.spool_sizes()
        return len(sizes) >= 2 and all(size > 4000 for size in sizes)
    wait_until(spooled, HANGS_S, "some steps on both ranks")


def run_row(bench, run_id):
    return bench.rows("select * from run where id = ?", run_id)[0]


def preempted_by(bench, send, *more):
    process = bench.start("run", *long_case("--name", "job", "--continue", *more))
    wait_for_steps(bench, process)
    send(process)
    out, err = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130, err
    assert "PREEMPTED" in out
    return newest_run(bench)


def to_the_launcher(process):
    process.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("strategy, optimizer", [("ddp", "sgd"), ("zero2", "adamw")])
def test_a_job_that_is_started_again_is_the_undisturbed_one(bench, strategy, optimizer):
    case = long_case("--strategy", strategy, "--optimizer", optimizer, lr=0.1 if optimizer == "sgd" else 0.002)
    undisturbed = bench.run_json(*case)["run"]["id"]
    expected = losses(bench, undisturbed)

    job = [*case, "--name", "job", "--continue"]
    process = bench.start("run", *job)
    wait_for_steps(bench, process)
    to_the_launcher(process)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    first = newest_run(bench)
    assert run_row(bench, first)["state"] == "preempted"
    assert "with a checkpoint of it" in run_row(bench, first)["reason"]
    done = losses(bench, first)
    steps = {rank: max(step for r, step in done if r == rank) for rank in (0, 1)}
    assert steps[0] == steps[1], "ranks stop after the same step"
    assert [p.name for p in folder_of(bench, first).glob("step-*")] == [f"step-{steps[0] + 1:08}"]

    result = bench.run_json(*job)
    second = result["run"]["id"]
    rest = losses(bench, second)
    assert done.keys() & rest.keys() == set(), "no step is done twice"
    assert {**done, **rest} == expected
    assert hashes(bench, second) == hashes(bench, undisturbed)
    assert facts(bench, second)["resumed.from"] == first
    assert facts(bench, second)["goodput.restarts"] == "1"
    assert float(facts(bench, second)["goodput.between_s"]) > 0
    assert "between the runs it is" in bench.ok("show", second).stdout.replace("\n", " ").replace("    ", "")
    assert all(0 < float(facts(bench, run_id)["goodput"]) < 1 for run_id in (undisturbed, second))
    assert 'preempted' in bench.ok("list").stdout
    assert "PREEMPTED" in bench.ok("report", first, "--format", "markdown").stdout

    third = bench.run_json(*job)["run"]["id"]
    assert "resumed.from" not in facts(bench, third), "what is done is started anew"


def test_metrics_of_a_job_that_is_started_again_are_of_its_second_run(bench):
    first = preempted_by(bench, to_the_launcher)
    job = long_case("--name", "job", "--continue")
    refused = bench("run", *job, "--metrics-file", bench.tmp / "missing" / "run.prom")
    assert refused.returncode == 2 and "--metrics-file" in refused.stderr
    metrics = bench.tmp / "run.prom"
    second = bench.run_json(*job, "--metrics-file", metrics)["run"]["id"]
    assert facts(bench, second)["resumed.from"] == first
    assert "ddbench_run_info{" in metrics.read_text() and second in metrics.read_text()


def test_a_rank_that_receives_sigterm_reports_it(bench):
    def send(_):
        os.kill(bench.workers()[1], signal.SIGTERM)
    assert run_row(bench, preempted_by(bench, send))["state"] == "preempted"


def test_all_processes_receive_sigterm(bench):
    def send(_):
        for pid in pids_marked(bench.mark):
            os.kill(pid, signal.SIGTERM)
    run_id = preempted_by(bench, send)
    assert run_row(bench, run_id)["state"] == "preempted"
    assert len(list(folder_of(bench, run_id).glob("step-*"))) == 1


def test_a_rank_that_hangs_does_not_hold_the_others_beyond_the_grace(bench):
    def send(process):
        os.kill(bench.workers()[1], signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
    run_id = preempted_by(bench, send, "--grace", 2)
    row = run_row(bench, run_id)
    assert row["state"] == "preempted" and "was not written within 2.0 s" in row["reason"]


def test_without_checkpoints_it_ends_at_once(bench):
    process = bench.start("run", "--gpus", 2, "--steps", 1000000, "-O", "hidden=16", "--data-delay", "2ms",
                          "--no-baseline", "--quiet")
    bench.wait_for_step(process, 5, 2)
    to_the_launcher(process)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    assert run_row(bench, newest_run(bench))["state"] == "preempted"
    assert bench.rows("select count(*) from step")[0][0] > 0


def test_a_program_gets_the_signal_and_the_time(bench):
    program = bench.tmp / "train.py"
    program.write_text(textwrap.dedent("""\
        import os, signal, sys, time
        def save(*_):
            time.sleep(6)
            open(sys.argv[1] + os.environ["RANK"], "w").close()
            sys.exit(3)
        signal.signal(signal.SIGTERM, save)
        open(sys.argv[1] + "ready" + os.environ["RANK"], "w").close()
        time.sleep(100)
        """))
    process = bench.start("run", "--gpus", 2, "--no-baseline", "--", "/usr/bin/python3", program, bench.tmp / "saved")
    wait_until(lambda: all((bench.tmp / f"savedready{rank}").exists() for rank in (0, 1)), HANGS_S, "the program runs")
    to_the_launcher(process)
    _, err = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130, err
    assert (bench.tmp / "saved0").exists() and (bench.tmp / "saved1").exists(), "longer than an interrupt's grace"
    assert run_row(bench, newest_run(bench))["state"] == "preempted"


@pytest.mark.parametrize("arguments, word", [
    (["--checkpoint-every", 10], "--name"),
    (["--name", "x"], "--checkpoint-every"),
    (["--name", "x", "--checkpoint-every", 10, "--repeat", 2], "--repeat"),
])
def test_continue_needs_what_it_needs(bench, arguments, word):
    done = bench("run", "--continue", *arguments)
    assert done.returncode == 2 and word in done.stderr
    assert not bench.db.exists()


def test_continue_refuses_another_case(bench):
    preempted_by(bench, to_the_launcher)
    done = bench("run", *long_case("--name", "job", "--continue", lr=0.05))
    assert done.returncode == 2
    assert "another case" in done.stderr and "preempted" in done.stderr


def test_continue_before_the_first_checkpoint_starts_anew(bench):
    case = long_case("--name", "job")
    process = bench.start("run", *case)
    wait_for_steps(bench, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    assert "resumed.from" not in facts(bench, bench.run_json(*case, "--continue")["run"]["id"])
