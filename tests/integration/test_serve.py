"""`ddbench serve`: the pages of a store, who gets them, and what strangers cannot do with the port."""

import base64
import contextlib
import html.parser
import http.client
import re
import shutil
import signal
import socket
import subprocess
import urllib.parse

import pytest
from conftest import SMALL, Bench

HOSTILE = "\"><script>document.title='hacked'</script> ../../etc"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A store with a sweep of two sizes, and a run with a hostile name."""
    bench = Bench(tmp_path_factory.mktemp("serve"))
    bench.ok("sweep", "--nodes", 1, "--gpus", "1,2", *SMALL, "--name", "small")
    bench.ok("run", "--gpus", 1, *SMALL, "--name", HOSTILE)
    return bench


@contextlib.contextmanager
def serving(bench, *arguments, ends_by=signal.SIGINT, **variables):
    """(address as printed, process); the server must end in order."""
    process = bench.start("serve", "--port", 0, *arguments, env=dict(bench.environment, **variables))
    try:
        line = process.stdout.readline()
        assert f"reports of {bench.db} at http://" in line, line + process.stderr.read()
        yield urllib.parse.urlsplit(line.split(" at ")[1].strip()), process
        assert process.poll() is None, "the server has ended"
        process.send_signal(ends_by)
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, ""), "no page is an error of the server"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def server(measured):
    with serving(measured) as (address, _):
        yield address


def request(address, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=120)
    connection.request(method, path, headers=headers)
    reply = connection.getresponse()
    reply.text = reply.read().decode()
    connection.close()
    return reply


def page(address, path):
    reply = request(address, path)
    assert reply.status == 200, (path, reply.text)
    return reply.text


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes)["href"])


def without_links(text):
    return re.sub(r"<nav .*?</nav>\n|<a href=[^>]*>|</a>", "", text)


def test_every_link_leads_to_a_page(server):
    open_paths, seen = ["/"], {}
    while open_paths:
        path = open_paths.pop()
        seen[path] = page(server, path)
        for link in Links(seen[path]).found:
            target = urllib.parse.urljoin(path, link)
            if target not in seen and target not in open_paths:
                open_paths.append(target)
    kinds = {path.split("/")[1].split("?")[0] for path in seen}
    assert kinds == {"", "run", "sweep", "compare"} and sum(path.startswith("/run/") for path in seen) >= 3
    assert not any("<script>document.title" in text for text in seen.values())


def test_pages_are_the_reports(measured, server):
    runs = [row["id"] for row in measured.rows("select id from run order by run_key")]  # ids of one second are in no order
    sweep = measured.rows("select sweep_id from run where sweep_id != ''")[0]["sweep_id"]
    for reference, path in [(runs[0], f"/run/{runs[0]}"), ("small", "/run/small"), (sweep, f"/sweep/{sweep}"), ("last-sweep", "/sweep/last-sweep")]:
        assert without_links(page(server, path)) == measured.ok("report", reference, "--format", "html").stdout
    metrics = request(server, "/metrics?name=small")
    assert metrics.getheader("Content-Type").startswith("text/plain; version=0.0.4")
    prometheus = measured.ok("report", runs[0], "--format", "prometheus").stdout.splitlines()
    assert {line for line in prometheus if runs[0] in line} <= set(metrics.text.splitlines())


def test_the_list_has_the_filters_of_the_command(measured, server):
    def listed(query):
        return set(re.findall(r'href="\./run/([^"]+)"', page(server, f"/?{query}")))
    runs = {row["id"]: row["name"] for row in measured.rows("select id, name from run where is_baseline = 0")}
    assert listed("") == listed("limit=0") and set(runs) <= listed("")
    assert listed("name=small") == {run for run, name in runs.items() if name == "small"}
    assert len(listed("limit=1")) == 1 and listed("user=nobody-here") == set()
    assert listed(urllib.parse.urlencode({"name": HOSTILE})) == {run for run, name in runs.items() if name == HOSTILE}
    assert request(server, "/?limit=x").status == 400


def test_what_is_not_there_is_a_page_too(server):
    for path in ("/run/nothing-like-it", "/sweep/nothing-like-it", "/run/..%2f..%2fetc%2fpasswd", "/run/../../etc/passwd", "/etc/passwd", "/favicon.ico", "/run/"):
        reply = request(server, path)
        assert reply.status == 404 and "root:" not in reply.text, path
        for link in Links(reply.text).found:
            assert urllib.parse.urljoin(path, link) == "/", "back to the list"
    assert request(server, "/compare?a=last").status == 400
    assert request(server, "/compare?a=last&b=nothing-like-it").status == 400


def test_replies_keep_browsers_from_storing_and_embedding(server):
    for path in ("/", "/nothing", "/metrics"):
        reply = request(server, path)
        assert reply.getheader("Cache-Control") == "no-store" and reply.getheader("X-Content-Type-Options") == "nosniff"
        policy = reply.getheader("Content-Security-Policy")
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    head = request(server, "/", "HEAD")
    assert head.status == 200 and head.text == "" and int(head.getheader("Content-Length")) == len(page(server, "/").encode())


def raw(address, data):
    with socket.create_connection(("127.0.0.1", address.port), timeout=120) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        reply = b""
        while piece := connection.recv(65536):
            reply += piece
    return reply


def test_strangers_get_nothing_and_the_server_goes_on(server):
    assert request(server, "/", Host="evil.example").status == 421, "DNS rebinding"
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        refused = request(server, "/", method)
        assert refused.status == 405 and refused.getheader("Allow") == "GET, HEAD"
    for data, status in [(b"\x16\x03\x01\x02\x00\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
                         (b"GET /%0d%0aX:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", 400),
                         (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000 + b"\r\n\r\n", 431),
                         (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 413)]:
        assert raw(server, data).startswith(b"HTTP/1.1 %d " % status), data[:60]
    half = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(80)]  # more than are held
    assert "Runs" in page(server, "/")
    for connection in half:
        connection.close()


def test_beyond_this_machine_a_token_is_needed(measured):
    with serving(measured, "--bind", "0.0.0.0", ends_by=signal.SIGTERM) as (address, _):
        assert address.username == "ddbench" and re.fullmatch("[0-9a-f]{32}", address.password)
        for wrong in ({}, {"Authorization": "Bearer " + "0" * 32}, {"Authorization": "Basic " + base64.b64encode(b"ddbench:").decode()}):
            refused = request(address, "/run/last", **wrong)
            assert refused.status == 401 and "Basic" in refused.getheader("WWW-Authenticate") and str(measured.db) not in refused.text
        basic = base64.b64encode(f"ddbench:{address.password}".encode()).decode()
        for right in (f"Basic {basic}", f"Bearer {address.password}"):
            reply = request(address, "/", Authorization=right, Host="node1.cluster:8642")
            assert reply.status == 200 and address.password not in reply.text
    with serving(measured, "--token", DDBENCH_SERVE_TOKEN="a token of one's own") as (address, process):
        assert address.password is None
        assert request(address, "/").status == 401
        assert request(address, "/", Authorization="Bearer a token of one's own").status == 200
        with open(f"/proc/{process.pid}/cmdline", "rb") as command:
            assert b"token of one" not in command.read()


def test_damaged_runs_and_runs_that_are_written_meanwhile(measured):
    with serving(measured) as (address, _):
        process = measured.start("run", "--gpus", 2, "--steps", 100000, "--data-delay", "20ms", "--no-baseline", "--quiet", "-O", "hidden=16", "--name", "long")
        measured.wait_for_step(process, 5, 2)
        assert "running" in page(address, "/run/long") and "running" in page(address, "/?name=long")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 130
        damaged = measured.rows("select id from run where name = 'long'")[0]["id"]
        measured.rows("update run set case_json = '{' where id = ?", damaged)
        assert f"run {damaged} is left out" in page(address, "/")
        reply = request(address, f"/run/{damaged}")
        assert reply.status == 500 and damaged in reply.text
        assert "efficiency" in page(address, "/run/small")
        measured.db.rename(measured.tmp / "away.db")
        assert request(address, "/").status == 500
        (measured.tmp / "away.db").rename(measured.db)
        assert request(address, "/").status == 200
    measured.rows("delete from run where id = ?", damaged)


@pytest.mark.skipif(not CHROMIUM, reason="no chromium here: pages were not looked at")
def test_a_browser_runs_the_script_of_a_page(server, tmp_path):
    shown = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom", server.geturl()],
                           capture_output=True, text=True, timeout=120, check=True).stdout
    assert '<button type="button">run</button>' in shown and "hacked</title>" not in shown


def test_mistakes(measured, tmp_path):
    for arguments, code, words in [(["--bind", "localhost"], 2, "IP address"), (["--bind", "192.0.2.1"], 2, "cannot listen on 192.0.2.1"),
                                   (["--db", tmp_path / "none.db"], 2, "there is no store"), (["--port", "70000"], 2, "--port")]:
        refused = measured("serve", "--port", 0, *arguments) if "--port" not in arguments else measured("serve", *arguments)
        assert refused.returncode == code and words in refused.stderr, refused.stderr
    short = measured("serve", env=dict(measured.environment, DDBENCH_SERVE_TOKEN="short"))
    assert short.returncode == 2 and "DDBENCH_SERVE_TOKEN has 5 characters" in short.stderr
    with serving(measured) as (address, _):
        taken = measured("serve", "--port", address.port)
        assert taken.returncode == 5 and "cannot listen on 127.0.0.1" in taken.stderr
