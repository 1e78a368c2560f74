"""The jobs under reports/ci, run as a CI system would."""

import subprocess

import pytest
import yaml
from conftest import EXECUTABLE, ROOT

SMALL = {"DDBENCH_CASE": "--nodes 1 --gpus 2 --steps 12 --warmup 2 -O hidden=64", "DDBENCH_REPEAT": "3"}


@pytest.fixture
def workspace(bench):
    """A directory like a clone that is built already: the jobs leave their files where they run."""
    directory = bench.tmp / "clone"
    directory.mkdir()
    script = directory / "quickstart"
    script.write_text(f'#!/bin/sh\nexec "{EXECUTABLE}" "$@"\n')
    script.chmod(0o755)
    return directory


def run_script(bench, workspace, script, environment):
    variables = {**bench.environment, **environment}
    return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=workspace, text=True,
                          env=variables, capture_output=True, timeout=600)


def run_github(bench, workspace, event, run_id):
    workflow = yaml.safe_load((ROOT / "reports/ci/github-actions.yml").read_text())
    job, = workflow["jobs"].values()
    summary = workspace / f"summary-{run_id}.md"
    environment = {**{k: str(v) for k, v in workflow["env"].items()}, **SMALL, "GITHUB_RUN_ID": str(run_id),
                   "GITHUB_RUN_ATTEMPT": "1", "GITHUB_STEP_SUMMARY": str(summary)}
    output = ""
    for step in job["steps"]:
        condition = step.get("if", "")
        if "github.event_name" in condition and f"github.event_name == '{event}'" not in condition:
            continue
        if "run" not in step:
            continue
        assert "${{" not in step["run"], "expressions in scripts let names become commands"
        done = run_script(bench, workspace, step["run"], environment)
        output += done.stdout + done.stderr
        if done.returncode != 0:
            return done.returncode, output, summary
    return 0, output, summary


def test_the_github_workflow_runs_as_given(bench, workspace):
    code, output, _ = run_github(bench, workspace, "push", 1)
    assert code == 0, output
    code, output, summary = run_github(bench, workspace, "pull_request", 2)
    assert code in (0, 3), output
    text = summary.read_text()
    assert "ddbench gate:" in text and "named baseline main, version 1: 3 runs" in text
    assert ("::warning" in output) == ("(exit code 4)" in text)
    assert (workspace / "gate.xml").exists()


def test_the_github_workflow_warns_where_there_is_no_baseline(bench, workspace):
    code, output, summary = run_github(bench, workspace, "pull_request", 1)
    assert code == 0, output
    assert "::warning" in output and "has no runs" in summary.read_text()


def test_the_gitlab_jobs_run_as_given(bench, workspace):
    jobs = yaml.safe_load((ROOT / "reports/ci/gitlab-ci.yml").read_text())
    variables = {**jobs[".ddbench"]["variables"], **SMALL}
    results = {}
    for number, name in enumerate(("ddbench-baseline", "ddbench-gate")):
        assert jobs[name]["extends"] == ".ddbench"
        done = run_script(bench, workspace, "\n".join(jobs[name]["script"]), {**variables, "CI_JOB_ID": str(number)})
        results[name] = done
    assert results["ddbench-baseline"].returncode == 0, results["ddbench-baseline"].stderr
    done = results["ddbench-gate"]
    assert done.returncode in (0, 3, 4), done.stderr
    assert jobs["ddbench-gate"]["allow_failure"]["exit_codes"] == [4]
    assert f"(exit code {done.returncode})" in (workspace / jobs["ddbench-gate"]["artifacts"]["paths"][0]).read_text()
    assert (workspace / jobs["ddbench-gate"]["artifacts"]["reports"]["junit"]).exists()
