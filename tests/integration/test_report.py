"""`ddbench report`: every format of real runs, written, refused and looked at with a browser."""

import base64
import csv
import hashlib
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import EXECUTABLE, SMALL, Bench

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="no chromium here: pages were not looked at")
HOSTILE = "\"><script>document.title='hacked'</script> =1+1 `x` | @all\n\x1b[31m ../../etc"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A store with a sweep of two sizes and a run with a hostile name."""
    bench = Bench(tmp_path_factory.mktemp("report"))
    bench.ok("sweep", "--nodes", "1,2", "--gpus", 1, *SMALL, "--name", "small")
    bench.ok("run", "--nodes", 1, "--gpus", 2, *SMALL, "--name", HOSTILE, "--tag", f"note={HOSTILE}")
    return bench


@pytest.fixture(scope="module")
def pages(measured):
    """name -> path of a page."""
    found = {}
    for name, reference in {"sweep": "last-sweep", "run": "small", "hostile": "last"}.items():
        found[name] = measured.tmp / f"{name}.html"
        measured.ok("report", reference, "--format", "html", "-o", found[name])
    return found


# What is written


@pytest.mark.parametrize("reference", ["last", "last-sweep"])
@pytest.mark.parametrize("format", ["terminal", "markdown", "html", "csv", "json"])
def test_a_file_holds_what_standard_output_shows(measured, reference, format):
    shown = measured.ok("report", reference, "--format", format)
    assert shown.stdout and not shown.stderr
    target = measured.tmp / f"{reference}.{format}"
    target.write_text("old")
    written = measured.ok("report", reference, "--format", format, "-o", target)
    assert written.stdout == "" and str(target) in written.stderr
    assert target.read_text() == shown.stdout
    assert not [f for f in os.listdir(measured.tmp) if f.startswith(".ddbench-")], "a temporary file is left"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_what_standard_output_is_appended_to_keeps_what_it_has(measured, name):
    shown = measured.ok("report", "last", "--format", "csv").stdout
    target = measured.tmp / "appended"
    target.write_text("before\n")
    with target.open("a") as file:
        subprocess.run([EXECUTABLE, "report", "last", "--format", "csv", "-o", name], env=measured.environment, stdout=file, check=True)
    assert target.read_text() == "before\n" + shown


def test_references_to_sweeps_and_runs(measured):
    sweep_id = json.loads(measured.ok("report", "last-sweep", "--format", "json").stdout)["sweep_id"]
    for reference in (sweep_id, sweep_id[:22], sweep_id[-8:], "last-sweep"):
        rows = list(csv.DictReader(io.StringIO(measured.ok("report", reference, "--format", "csv").stdout)))
        assert [row["world_size"] for row in rows] == ["1", "2"]
    run_id = rows[0]["run_id"]
    for reference in (run_id, run_id[-8:], "last"):
        assert len(list(csv.DictReader(io.StringIO(measured.ok("report", reference, "--format", "csv").stdout)))) == 1
    unknown = measured("report", "nothing-like-it")
    assert unknown.returncode == 2 and "nothing-like-it" in unknown.stderr


def test_csv_has_the_figures_of_the_json(measured):
    row = next(csv.DictReader(io.StringIO(measured.ok("report", "small", "--format", "csv").stdout)))
    run = json.loads(measured.ok("report", "small", "--format", "json").stdout)
    assert row["run_id"] == run["run"]["id"]
    steps = list(csv.DictReader(io.StringIO(
        measured.ok("report", "small", "--format", "csv", "--rows", "steps").stdout)))
    assert len(steps) == 14 * int(row["world_size"])
    assert float(row["step_time_ns"]) == pytest.approx(run["step_time_ns"]["value"], rel=1e-7)
    # All ranks share this machine's clock, and a step begins where the one before it ended.
    measured_steps = [s for s in steps if int(s["step"]) >= 2]
    assert float(row["step_time_ns"]) * 12 + 1 >= max(  # the CSV rounds to a thousandth
        sum(int(s["duration_ns"]) for s in measured_steps if s["rank"] == rank) for rank in ("0", "1"))
    collectives = measured.ok("report", "small", "--format", "csv", "--rows", "collectives").stdout
    assert "all_reduce" in collectives


def test_trace_is_sound_json(measured):
    target = measured.tmp / "trace.json"
    measured.ok("report", "last", "--format", "perfetto", "-o", target)
    trace = json.loads(target.read_text())
    events = trace["traceEvents"]
    assert {e["args"]["name"].split(" (")[0] for e in events if e["name"] == "process_name"} == {"rank 0", "rank 1"}
    assert all({"ph", "name", "pid", "tid", "ts"} <= e.keys() for e in events)
    steps = [e for e in events if e.get("cat") == "step"]
    assert len(steps) == 2 * 14
    flows = {e["bind_id"] for e in events if "bind_id" in e}
    assert flows and all(sum(e.get("bind_id") == f for e in events) == 2 for f in flows)


def test_a_trace_of_some_ranks_and_steps(measured):
    events = json.loads(measured.ok("report", "last", "--format", "perfetto", "--ranks", "1", "--steps", "3-4,9").stdout)["traceEvents"]
    assert {e["pid"] for e in events} == {2}
    assert {e["args"]["step"] for e in events if e["ph"] == "X"} == {3, 4, 9}


def test_mlflow_reads_the_export(measured):
    mlflow = pytest.importorskip("mlflow", reason="no mlflow here: its export was checked for structure only")
    root = measured.tmp / "mlruns"
    measured.ok("report", "last-sweep", "--format", "mlflow", "-o", root)
    measured.ok("report", "last", "--format", "mlflow", "-o", root)
    measured.ok("report", "last", "--format", "mlflow", "-o", root)
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    client = mlflow.MlflowClient(tracking_uri=root.as_uri())
    experiment = client.get_experiment_by_name("ddbench")
    runs = {r.data.params["world_size"] + r.data.params["nodes"]: r
            for r in client.search_runs([experiment.experiment_id])}
    assert sorted(runs) == ["11", "21", "22"]
    for run in runs.values():
        assert run.info.status == "FINISHED"
        assert run.data.metrics["mean_step_time_ms"] > 0
        losses = client.get_metric_history(run.info.run_id, "loss")
        assert [m.step for m in losses] == list(range(14))
    assert runs["21"].data.tags["tag.note"].startswith('"><script>')
    assert {a.path for a in client.list_artifacts(runs["22"].info.run_id)} == {"report.html", "report.json"}


# What is refused


@pytest.mark.parametrize("arguments, words", [
    (["--format", "perfetto", "last-sweep"], ["sweep", "ddbench list"]),
    (["--format", "perfetto", "--ranks", "0-2"], ["--ranks", "0-2", "0-1"]),
    (["--format", "perfetto", "--ranks", "1-0"], ["--ranks", "1-0", "0-1"]),
    (["--format", "perfetto", "--ranks", ""], ["--ranks", "0-1"]),
    (["--format", "perfetto", "--steps", "0,14"], ["--steps", "0,14", "0-13", "2 are warm-up"]),
    (["--format", "perfetto", "--steps", "last"], ["--steps", "last", "0-13"]),
    (["--format", "html", "--steps", "1"], ["--steps", "perfetto", "html"]),
    (["--format", "mlflow"], ["-o"]),
    (["--format", "html", "--rows", "steps"], ["--rows", "html"]),
    (["--format", "docx"], ["docx", "html"]),
    (["--format", "html", "-o", "."], ["directory"]),
    (["--format", "html", "-o", "/nonexistent/report.html"], ["/nonexistent"]),
    (["--format", "mlflow", "-o", "/dev/null"], ["/dev/null", "directory"]),
])
def test_mistakes_are_explained(measured, arguments, words):
    done = measured("report", *arguments)
    assert done.returncode == 2, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert done.stdout == ""


def test_a_full_disk_is_no_success(measured):
    done = measured("report", "last", "--format", "html", "-o", "/dev/full")
    assert done.returncode == 1 and "/dev/full" in done.stderr


def test_without_a_store(tmp_path):
    done = Bench(tmp_path)("report")
    assert done.returncode == 2 and "results.db" in done.stderr


# The page itself


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []
        self.text = ""

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", ["sweep", "run", "hostile"])
def test_page_is_sound(pages, name):
    page = pages[name].read_text()
    reader = Reader()
    reader.feed(page)
    assert not [a for _, attributes in reader.tags for a in attributes if a.startswith("on") or a in ("src", "href")]
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    drawings = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(drawings) >= 4
    for drawing in drawings:
        assert ElementTree.fromstring(drawing).find("{http://www.w3.org/2000/svg}title").text


def test_only_the_script_that_we_wrote_may_run(pages):
    page = pages["run"].read_text()
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    wanted = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{wanted}'" in page, f"page_script.cpp: kScriptSha256 must be {wanted}"


# Looked at with a browser


def chromium(page, tmp_path, *arguments):
    options = ["--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking",
               "--disable-component-update", "--disable-features=NetworkTimeServiceQuerying", "--disable-sync", "--disable-extensions", "--metrics-recording-only",
               f"--user-data-dir={tempfile.mkdtemp(dir=tmp_path)}", "--virtual-time-budget=5000"]
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    return subprocess.run([CHROMIUM, *options, *map(str, arguments), page.as_uri()], capture_output=True, text=True,
                          timeout=120, env=dict(os.environ, HOME=str(tmp_path)))


def requested(page, tmp_path):
    """What the page asked for, not the browser for its own sake, which differs between two starts."""
    log = tmp_path / "net.json"
    done = chromium(page, tmp_path, f"--log-net-log={log}", "--enable-logging=stderr", "--dump-dom")
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    requests = [event["params"] for event in json.loads(log.read_text())["events"] if event.get("params", {}).get("initiator")]
    urls = {request["url"] for request in requests if request["initiator"] != "not an origin"}
    return {url for url in urls if re.match("(https?|wss?|ftp):", url)}, console, done.stdout


@needs_chromium
def test_a_request_of_a_page_would_be_seen(tmp_path):
    page = tmp_path / "asks.html"
    page.write_text('<!doctype html><title>asks</title><img src="http://nobody.invalid/x.png">')
    assert requested(page, tmp_path)[0] == {"http://nobody.invalid/x.png"}


@needs_chromium
@pytest.mark.parametrize("name", ["sweep", "run", "hostile"])
def test_no_console_message_and_no_request(pages, tmp_path, name):
    urls, console, dom = requested(pages[name], tmp_path)
    assert not console, console
    assert not urls, urls
    assert "<button" in dom, "the page's script ran"
    assert "hacked" not in re.search(r"<title>(.*?)</title>", dom)[1].split("document.title")[0]


PROBE = """
<script>
addEventListener('load', () => {
  const problems = [];
  const overlaps = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  let drawings = 0;
  for (const svg of document.querySelectorAll('svg')) {
    const box = svg.getBoundingClientRect();
    if (box.width === 0) continue;
    ++drawings;
    const texts = [...svg.querySelectorAll('text')].filter(t => !t.getAttribute('transform'));
    const boxes = texts.map(t => t.getBoundingClientRect());
    boxes.forEach((one, i) => {
      if (one.left < box.left - 1 || one.right > box.right + 1 || one.bottom > box.bottom + 1)
        problems.push('outside: ' + texts[i].textContent);
      for (let j = 0; j < i; ++j)
        if (overlaps(one, boxes[j])) problems.push('overlap: ' + texts[i].textContent + ' / ' + texts[j].textContent);
    });
  }
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) problems.push('the page is wider than the window: ' + page.scrollWidth);
  const table = document.querySelector('main > .scroll table');
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.findIndex(h => ['time', 'step time', 'GPUs'].some(t => h.textContent.startsWith(t)));
  const values = () => [...table.tBodies[0].rows].map(r => Number(r.cells[column].dataset.v));
  const sorted = (v, sign) => v.every((x, i) => i === 0 || sign * (x - v[i - 1]) >= 0);
  heads[column].querySelector('button').click();
  if (!sorted(values(), 1) || heads[column].getAttribute('aria-sort') !== 'ascending') problems.push('not sorted up');
  heads[column].querySelector('button').click();
  if (!sorted(values(), -1)) problems.push('not sorted down');
  document.body.dataset.result = JSON.stringify({drawings, problems, dark: getComputedStyle(document.body).backgroundColor});
});
</script>
"""


@needs_chromium
@pytest.mark.parametrize("name", ["sweep", "run", "hostile"])
@pytest.mark.parametrize("width, options", [(1280, []), (1280, ["--force-dark-mode"]), (800, []), (400, [])])
def test_nothing_overlaps_and_tables_sort(pages, tmp_path, name, width, options):
    page = pages[name].read_text()
    page = re.sub(r'<meta http-equiv="Content-Security-Policy".*?>', "", page).replace("</body>", PROBE + "</body>")
    inner = tmp_path / "inner.html"
    inner.write_text(page)
    # Headless windows have a least width; a frame has none.
    outer = tmp_path / "outer.html"
    outer.write_text(f'<!doctype html><body style="margin:0"><iframe src="inner.html" style="width:{width}px;'
                     'height:4000px;border:0" onload="setTimeout(() => document.body.dataset.result = '
                     'this.contentDocument.body.dataset.result, 50)"></iframe>')
    done = chromium(outer, tmp_path, "--dump-dom", "--window-size=1400,4000", "--allow-file-access-from-files", *options)
    result = re.search(r'data-result="(.*?)"', done.stdout)
    assert result, done.stderr
    result = json.loads(result[1].replace("&quot;", '"').replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert result["problems"] == []
    assert result["drawings"] >= 2
    assert result["dark"] == ("rgb(20, 23, 28)" if options else "rgb(255, 255, 255)")


@needs_chromium
def test_prints(pages, tmp_path):
    target = tmp_path / "report.pdf"
    chromium(pages["run"], tmp_path, f"--print-to-pdf={target}")
    assert target.read_bytes().startswith(b"%PDF") and target.stat().st_size > 20_000


@pytest.mark.parametrize("name, begin", [("r.html", "<!doctype html>"), ("r.md", "## "), ("r.json", "{"), ("r.csv", "run_id,"), ("r.txt", "run "), ("R.HTML", "<!doctype html>")])
def test_the_ending_of_the_file_decides_the_format(measured, name, begin):
    target = measured.tmp / name
    measured.ok("report", "last", "-o", target)
    assert target.read_text().lower().startswith(begin)


def test_every_term_of_a_report_is_explained(measured):
    text = measured.ok("report", "last", "--format", "terminal").stdout
    terms = set()
    for section in ("Key figures", "Where a step goes", "Collectives"):
        rows = text.split(f"\n{section}")[1].split("\n\n")[0].splitlines()[1:]
        found = [re.match(r"  (\S+(?: \S+)*?)(?=  |$)", row)[1] for row in rows if re.match(r"  \S", row)]
        if section == "Collectives":  # headings
            found = next(re.split(r" {2,}", row.strip()) for row in rows if "busbw" in row)
        terms.update(found)
    terms -= {"what", "part", "function", "size", "count"} | {t for t in terms if t.startswith("medians") or "1e9 B" in t}
    assert {"step time", "peer wait", "probes", "busbw", "gradient traffic"} <= terms
    for term in sorted(terms):
        assert measured("explain", *term.split()).returncode == 0, f"`ddbench explain {term}` knows nothing: docs/metrics.md"


def test_a_report_ends_with_what_to_do_next(measured, pages):
    run = json.loads(measured.ok("report", "last", "--format", "json").stdout)["run"]["id"]
    for format in ("terminal", "markdown", "html"):
        end = measured.ok("report", "last", "--format", format).stdout.rsplit("What to do next", 1)[1]
        commands = re.findall(r"ddbench (\w+) " + run[-8:], end)
        assert commands, end
        for command in commands:
            assert measured(command, run[-8:]).returncode in (0, 4), command
    assert "ddbench scaling --sweep" in pages["sweep"].read_text().rsplit("What to do next", 1)[1]
    sweep = json.loads(measured.ok("report", "last-sweep", "--format", "json").stdout)["sweep_id"]
    measured.ok("scaling", "--sweep", sweep[-8:])
    measured.ok("list", "--sweep", sweep[-8:])


def test_an_unknown_ending_is_asked_about(measured):
    done = measured("report", "last", "-o", measured.tmp / "report.doc")
    assert done.returncode == 2 and "report.doc" in done.stderr and "--format" in done.stderr
    assert not (measured.tmp / "report.doc").exists()
