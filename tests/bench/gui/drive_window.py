#!/usr/bin/env python3
"""Drives the dashboard's window with pointer and keys, as a user would: python3 tests/bench/gui/drive_window.py build/release/bin

Selects a run, zooms, switches a scale to logarithmic, copies a value, watches a live run, and reports each. Needs
Xvfb, xdotool, xclip and ImageMagick's `import`; everything is on a screen of its own and in a temporary folder.
"""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = ("Xvfb", "xdotool", "xclip", "import")
CHART = (470, 320)  # inside the left chart of the page Speedup, in a window of 1280 x 800
CHART_AREA = "520x340+200+140"
NOWHERE = (727, 130)  # between two cards


class Window:
    def __init__(self, environment):
        self.environment = environment
        found = self.tool("xdotool", "search", "--sync", "--onlyvisible", "--name", "ddbench ·").split()
        self.id = found[0]
        self.tool("xdotool", "windowmove", self.id, "0", "0", "windowsize", "--sync", self.id, "1280", "800")
        self.tool("xdotool", "windowfocus", self.id)
        time.sleep(2)

    def tool(self, *words):
        return subprocess.run(words, env=self.environment, check=True, capture_output=True, text=True, timeout=60).stdout

    def key(self, *keys):
        for key in keys:
            self.tool("xdotool", "key", key)
            time.sleep(0.4)

    def point(self, at):
        self.tool("xdotool", "mousemove", str(at[0]), str(at[1]))
        time.sleep(0.4)

    def click(self, at, button=1, times=1):
        self.point(at)
        self.tool("xdotool", "click", "--repeat", str(times), "--delay", "120", str(button))
        time.sleep(0.8)

    def seen(self, area):
        picture = subprocess.run(["import", "-window", "root", "-crop", area, "rgb:-"], env=self.environment, check=True,
                                 capture_output=True, timeout=60).stdout
        return hashlib.sha256(picture).hexdigest()

    def at_rest(self, area):
        """What the area shows, with the pointer elsewhere, as soon as it no longer changes."""
        self.point(NOWHERE)
        before = self.seen(area)
        for _ in range(100):
            time.sleep(0.3)
            now = self.seen(area)
            if now == before:
                return now
            before = now
        raise SystemExit("the window never came to rest")

    def copied(self):
        return self.tool("xclip", "-selection", "clipboard", "-o")

    def until(self, area, before, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.seen(area) != before:
                return True
            time.sleep(0.2)
        return False


def select_a_run(window):
    window.key("ctrl+1")
    window.at_rest("1280x800+0+0")
    window.click((300, 335))  # the third run
    window.at_rest("1280x800+0+0")
    window.click((300, 578))  # its first row in the table below
    window.key("ctrl+c")
    lines = window.copied().splitlines()
    return len(lines) == 2, f"{len(lines) - 1} row: {lines[-1][:60]!r}"


def zoom_and_return(window):
    window.key("ctrl+2")
    window.click(CHART)  # it has the focus from here on, and its frame
    whole = window.at_rest(CHART_AREA)
    window.click(CHART, button=4, times=3)  # the wheel
    zoomed = window.at_rest(CHART_AREA)
    window.tool("xdotool", "mousemove", str(CHART[0]), str(CHART[1]), "click", "--repeat", "2", "--delay", "60", "1")
    return zoomed != whole and window.at_rest(CHART_AREA) == whole, "the wheel zooms, a double click shows all again"


def switch_to_log(window):
    window.key("ctrl+2")
    other = "520x340+735+140"
    window.click((1000, 400))
    linear = window.at_rest(other)
    seen = []
    for _ in range(2):
        window.click((1000, 400), button=3)
        window.key("Up", "Up", "Up", "Up", "Up", "Up", "Return")  # from the end: exports, then the y axis
        seen.append(window.at_rest(other))
    return seen[0] != linear and seen[1] == linear, "efficiency on a logarithmic axis, and back"


def copy_a_value(window):
    window.key("ctrl+2")
    window.at_rest(CHART_AREA)
    window.click(CHART)
    window.key("Right", "Right", "Right", "Menu", "Down", "Return")
    text = window.copied()
    return re.search(r"\d GPUs?: [\d.]+", text) is not None, repr(text)


def watch_a_live_run(window, ddbench, store):
    window.key("ctrl+1")
    tiles = "500x75+200+68"
    before = window.at_rest(tiles)
    run = subprocess.Popen([ddbench, "run", "--nodes", "1", "--gpus", "2", "--steps", "4000", "-O", "hidden=256,256", "--no-baseline",
                            "--quiet", "--no-metadata", "--name", "live", "--db", store], env=window.environment, stdout=subprocess.DEVNULL)
    started = time.monotonic()
    shown = window.until(tiles, before, 30)
    after_s = time.monotonic() - started
    first = window.seen(tiles)
    moves = window.until(tiles, first, 30)
    code = run.wait(timeout=300)
    end = window.at_rest(tiles)
    good = shown and moves and code == 0 and end not in (before, first)
    return good, f"shown after {after_s:.1f} s; its steps {'advance' if moves else 'do not advance'}; exit {code}"


@contextlib.contextmanager
def screen():
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as number:
            yield ":" + number.readline().strip()
    finally:
        server.terminate()
        server.wait()


def main(programs):
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"missing: {', '.join(missing)} (on Debian: apt-get install xvfb xdotool xclip imagemagick)", file=sys.stderr)
        return 5
    ddbench, dashboard = (str(pathlib.Path(programs).resolve() / name) for name in ("ddbench", "ddbench-gui"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder, screen() as display:
        store = os.path.join(folder, "demo.db")
        shutil.copy(ROOT / "gui/demo/demo.db", store)
        environment = dict(os.environ, DISPLAY=display, QT_QPA_PLATFORM="xcb", HOME=folder, XDG_CONFIG_HOME=folder, XDG_RUNTIME_DIR=folder)
        process = subprocess.Popen([dashboard, "--db", store], env=environment)
        try:
            window = Window(environment)
            for name, step in (("select a run", select_a_run), ("zoom", zoom_and_return), ("switch to log", switch_to_log),
                               ("copy a value", copy_a_value),
                               ("watch a live run", lambda window: watch_a_live_run(window, ddbench, store))):
                good, words = step(window)
                failed += not good
                print(f"{'ok    ' if good else 'FAILED'}  {name:<18} {words}", flush=True)
                if not good:
                    subprocess.run(["import", "-window", "root", f"drive_window-{name.replace(' ', '-')}.png"], env=environment, check=False)
        finally:
            process.terminate()
            process.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
