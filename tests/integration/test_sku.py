"""What a SKU has is held against what is asked of it, and a machine of a cloud is asked what it is."""

import http.server
import json
import threading

import pytest

from conftest import SMALL


@pytest.fixture
def metadata():
    """A service that answers as Azure's does: only with the header, only to the documented address."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            right = len(asked) <= server.answers and self.headers.get("Metadata") == "true" and self.path.startswith("/metadata/instance/compute/vmSize?api-version=")
            self.send_response(200 if right else 400)
            self.end_headers()
            self.wfile.write(b"Standard_ND96asr_v4" if right else b"{}")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.asked, server.answers = asked, 1000
    yield server
    server.shutdown()
    server.server_close()


def test_a_machine_that_says_what_it_is(bench, metadata):
    bench.environment["DDBENCH_METADATA_URL"] = f"http://127.0.0.1:{metadata.server_port}"
    result = bench("run", *SMALL, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["run"]["sku"] == "Standard_ND96asr_v4"
    assert "SKU: Standard_ND96asr_v4 has 8 GPUs, but this machine has" in result.stderr
    assert len(metadata.asked) == 1
    reported = bench("run", *SMALL, "--sku", "Standard_NC24rs_v3", "--device", "cpu")
    assert "SKU: this machine says that it is Standard_ND96asr_v4, not Standard_NC24rs_v3" in reported.stderr
    bench.ok("run", *SMALL, "--no-metadata")
    assert len(metadata.asked) == 2


def test_one_command_has_one_sku(bench, metadata):
    """Also when the service answers once and not the next time."""
    metadata.answers = 1
    bench.environment["DDBENCH_METADATA_URL"] = f"http://127.0.0.1:{metadata.server_port}"
    side = "--device cpu --steps 3 --warmup 1 -O hidden=16"
    bench("gate", "--run", side, side, "--pairs", 3)
    assert [(row["sku"], row["n"]) for row in bench.rows("select sku, count(*) n from run group by sku")] == [("Standard_ND96asr_v4", 6)]
    assert len(metadata.asked) == 1


def test_a_service_that_is_gone_fails_nothing(bench, metadata):
    metadata.shutdown()
    metadata.server_close()
    bench.environment["DDBENCH_METADATA_URL"] = f"http://127.0.0.1:{metadata.server_port}"
    result = bench("run", *SMALL, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["run"]["sku"] == ""


@pytest.mark.parametrize("arguments, words", [
    (["run", "--gpus", "8", "--sku", "Standard_NC24rs_v3", "--emit", "azureml"], "--gpus 8: a node of Standard_NC24rs_v3 has 4 GPUs"),
    (["run", "--gpus", "8", "--sku", "NC24rs_v3"], "--gpus 8: a node of Standard_NC24rs_v3 has 4 GPUs"),
    (["sweep", "--gpus", "4,8", "--sku", "NC24rs_v3"], "--gpus 8: a node of Standard_NC24rs_v3 has 4 GPUs"),
    (["run", "--nodes", "2", "--gpus", "4", "--sku", "NC24s_v3", "--network", "ib", "--emit", "sbatch"], "has no InfiniBand"),
    (["run", "--nodes", "2", "--gpus", "4", "--sku", "NC24r", "--network", "ib", "--emit", "sbatch"], "no SR-IOV"),
])
def test_what_a_sku_has_not_got_is_refused(bench, arguments, words):
    result = bench(*arguments)
    assert result.returncode == 2 and words in result.stderr


def test_a_misspelt_sku_is_answered(bench):
    result = bench("run", "--gpus", "4", "--sku", "NC24sr_v3", "--emit", "sbatch")
    assert result.returncode == 0 and "did you mean Standard_NC24" in result.stderr


def test_the_catalogue_is_listed(bench):
    skus = {sku["name"]: sku for sku in json.loads(bench("list", "skus", "--json", "--price", "Standard_ND96asr_v4=20,spot=5").stdout)}
    sku = skus["Standard_ND96asr_v4"]
    assert (sku["gpus"], sku["cores"], sku["memory_gib"], sku["rdma_gbps_per_gpu"], sku["rdma_gbps"]) == (8, 96, 900, 200, 1600)
    assert (sku["price_usd_per_h"], sku["spot_price_usd_per_h"]) == (20, 5)
    assert skus["Standard_NC24ads_A100_v4"]["spot_source"]["date"]
    assert "InfiniBand HDR 8x200" in bench("list", "skus").stdout
    refused = bench("list", "skus", "--user", "me")
    assert refused.returncode == 2 and "--user is of `list runs`" in refused.stderr
