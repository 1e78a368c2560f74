"""Runs are logged to a tracking server while they go on: a real HTTP server that takes nothing but what MLflow's REST API 2.0 documents."""

import base64
import http.server
import json
import signal
import threading
import urllib.parse

import jsonschema
import pytest

from conftest import SMALL, wait_until

PAIRS = {"type": "array", "maxItems": 100, "items": {"type": "object", "additionalProperties": False, "required": ["key", "value"],
                                                     "properties": {"key": {"type": "string", "maxLength": 250}, "value": {"type": "string", "maxLength": 6000}}}}
METRICS = {"type": "array", "maxItems": 1000, "items": {
    "type": "object", "additionalProperties": False, "required": ["key", "value", "timestamp"],
    "properties": {"key": {"type": "string", "pattern": r"^[\w./ -]{1,250}$"}, "value": {"type": "number"}, "timestamp": {"type": "integer"},
                   "step": {"type": "integer"}}}}


def body(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


TEXT, TIME = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1}
SCHEMAS = {
    "experiments/create": body(["name"], name=TEXT),
    "runs/create": body(["experiment_id"], experiment_id=TEXT, start_time=TIME, run_name=TEXT, tags=PAIRS),
    "runs/log-batch": body(["run_id"], run_id=TEXT, metrics=METRICS, params=PAIRS, tags=PAIRS),
    "runs/update": body(["run_id"], run_id=TEXT, status={"enum": ["RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"]}, end_time=TIME),
}


class Tracking(http.server.ThreadingHTTPServer):
    """Keeps what it was sent. `fails`: requests that are answered with 503 first; `authorization`: what every request must have."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.experiments, self.runs, self.problems, self.fails, self.authorization = {}, {}, [], 0, None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def uri(self):
        return f"http://127.0.0.1:{self.server_port}"

    def metrics(self, run):
        return [metric for batch in run["batches"] for metric in batch.get("metrics", [])]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        text = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_call(self, call, document):
        server = self.server
        if server.authorization and self.headers.get("Authorization") != server.authorization:
            return self.answer(401, {"error_code": "UNAUTHENTICATED", "message": "who are you?"})
        if server.fails > 0:
            server.fails -= 1
            return self.answer(503, {"error_code": "TEMPORARILY_UNAVAILABLE", "message": "later"})
        if call == "experiments/get-by-name":
            name = document["experiment_name"][0]
            found = server.experiments.get(name)
            return self.answer(200, {"experiment": {"experiment_id": found, "name": name}}) if found else self.answer(
                404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "none"})
        try:
            jsonschema.validate(document, SCHEMAS[call])
        except (KeyError, jsonschema.ValidationError) as problem:
            server.problems.append(f"{call}: {problem}")
            return self.answer(400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "no"})
        if call == "experiments/create":
            server.experiments[document["name"]] = str(len(server.experiments) + 7)
            return self.answer(200, {"experiment_id": server.experiments[document["name"]]})
        if call == "runs/create":
            run_id = f"run{len(server.runs)}"
            server.runs[run_id] = {"created": document, "batches": [], "status": "RUNNING"}
            return self.answer(200, {"run": {"info": {"run_id": run_id}, "data": {}}})
        run = server.runs[document["run_id"]]
        if call == "runs/log-batch":
            run["batches"].append(document)
        else:
            run["status"] = document["status"]
        return self.answer(200, {})

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        self.handle_call(url.path.removeprefix("/api/2.0/mlflow/"), urllib.parse.parse_qs(url.query))

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Type") != "application/json" or len(text) > 1 << 20:
            self.server.problems.append("no JSON, or more than 1 MB")
        self.handle_call(self.path.removeprefix("/api/2.0/mlflow/"), json.loads(text))

    def log_message(self, *_):
        pass


@pytest.fixture
def tracking(bench):
    server = Tracking()
    bench.environment.update(MLFLOW_TRACKING_URI=server.uri, no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")
    yield server
    server.shutdown()
    server.server_close()
    assert not server.problems


def test_a_run_is_logged_while_it_goes_on(bench, tracking):
    tracking.authorization = "Basic " + base64.b64encode(b"ann:s3cret").decode()
    bench.environment.update(MLFLOW_TRACKING_USERNAME="ann", MLFLOW_TRACKING_PASSWORD="s3cret", MLFLOW_EXPERIMENT_NAME="a b", MLFLOW_RUN_ID="outer")
    tracking.fails = 1
    process = bench.start("run", "--gpus", 2, "--device", "cpu", "--no-baseline", "--steps", 100000, "-O", "hidden=64", "--data-delay", "20ms",
                          "--lr-warmup", 10, "--name", "nightly")
    wait_until(lambda: any(m["key"] == "live.loss" for run in tracking.runs.values() for m in tracking.metrics(run)), 300, "a loss is logged")
    assert process.poll() is None, "it goes on"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130 and "values" in err, err
    (run,) = tracking.runs.values()
    assert run["status"] == "KILLED" and run["created"]["run_name"] == "nightly"
    assert run["created"]["experiment_id"] == tracking.experiments["a b"]
    assert {"key": "mlflow.parentRunId", "value": "outer"} in run["created"]["tags"]
    assert {"key": "workload", "value": "mlp"} in [pair for batch in run["batches"] for pair in batch.get("params", [])]
    metrics = tracking.metrics(run)
    steps = {key: sorted({m["step"] for m in metrics if m["key"] == key}) for key in ("step_time_ms", "samples_per_s", "loss", "learning_rate")}
    assert steps["step_time_ms"] == steps["samples_per_s"] == list(range(len(steps["step_time_ms"])))
    assert steps["learning_rate"] == list(range(len(steps["learning_rate"]))) and len(steps["learning_rate"]) > 1
    assert any(m["key"] == "system/system_memory_usage_megabytes" for m in metrics)


def test_a_server_that_is_not_there_changes_nothing(bench, tracking):
    tracking.shutdown()
    tracking.server_close()
    done = bench.ok("run", *SMALL[:-1], "--device", "cpu")
    assert f"MLflow: {tracking.uri}" in done.stderr and "were not" in done.stderr


@pytest.mark.parametrize("variables, words", [({"MLFLOW_TRACKING_TOKEN": "wrong"}, "HTTP status 401: who are you?"),
                                              ({"MLFLOW_TRACKING_URI": "file:///tmp/mlruns"}, "no server")])
def test_what_cannot_be_logged_is_said(bench, tracking, variables, words):
    tracking.authorization = "Bearer right"
    bench.environment.update(variables)
    done = bench.ok("run", *SMALL[:-1], "--device", "cpu")
    assert words in done.stderr and not tracking.runs
    assert "MLflow" not in bench.ok("run", *SMALL[:-1], "--device", "cpu", "--no-mlflow").stderr
