"""Scripts as people keep them: edited between runs, with modules beside them, started by others."""

import importlib.util
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import types

import pytest
from conftest import EXECUTABLE, ROOT

PYTHON = sys.executable
LOOPS = ROOT / "tests/integration/programs/loops"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="python3-torch is not installed")


def files_of(run):
    entries = run["environment"]["facts"].get("program.files", "").split(", ")
    return dict(entry.rsplit(" ", 1) for entry in entries if entry)


@pytest.fixture
def project(bench):
    """A script with a module that it always imports and one that it imports on several ranks only."""
    folder = bench.tmp / "project"
    folder.mkdir()
    (folder / "layers.py").write_text("WIDTH = 8\n")
    (folder / "several.py").write_text("")
    (folder / "unused.py").write_text("")
    (folder / "train.py").write_text(
        "import os, torch, layers\n"
        "if os.environ.get('WORLD_SIZE', '1') != '1':\n"
        "    import several\n"
        "    torch.distributed.init_process_group('gloo')\n"
        "model = torch.nn.Linear(layers.WIDTH, 1)\n"
        "if torch.distributed.is_initialized():\n"
        "    model = torch.nn.parallel.DistributedDataParallel(model)\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for step in range(15):\n"
        "    optimizer.zero_grad()\n"
        "    model(torch.ones(4, layers.WIDTH)).sum().backward()\n"
        "    optimizer.step()\n")
    return folder


@needs_torch
def test_an_edited_script_is_another_case(bench, project):
    command = ["--", PYTHON, project / "train.py"]
    first = bench.run_json("--warmup", 0, *command)
    assert set(files_of(first)) == {"train.py", "layers.py"}
    both = bench.run_json("--warmup", 0, "--gpus", 2, *command)
    assert set(files_of(both)) == {"train.py", "layers.py", "several.py"}
    assert both["efficiency"]["value"] > 0, "a module that one rank does not import is no edit"

    (project / "layers.py").write_text("WIDTH = 9\n")
    edited = bench.run_json("--warmup", 0, "--gpus", 2, *command)
    changed = {name for name, content in files_of(both).items() if files_of(edited)[name] != content}
    assert changed == {"layers.py"}
    assert edited["efficiency"]["value"] is None
    reason = edited["missing"]["efficiency"]
    assert "the script changed" in reason and "layers.py" in reason and first["run"]["id"] in reason
    again = bench.run_json("--warmup", 0, "--gpus", 2, "--baseline", *command)
    assert again["efficiency"]["value"] > 0, "the baseline was measured anew"
    assert bench.rows("select count(*) from run where is_baseline")[0][0] == 1

    a, b = both["run"]["id"], edited["run"]["id"]
    assert "the script changed" in bench.ok("compare", a, b).stdout
    gate = bench("gate", "--baseline", a, "--candidate", b)
    assert gate.returncode == 4 and "the script changed: layers.py (--vary script compares the two)" in " ".join(gate.stdout.split())
    scaling = bench("scaling", "--where", "gpus_per_node=2")
    assert scaling.returncode == 2 and "the script changed" in scaling.stderr


PLACES = 'echo "places: ${RANK-}/${LOCAL_RANK-}/${WORLD_SIZE-}/${MASTER_ADDR-}."; '


@pytest.mark.parametrize("options, reported", [((), "places: ///."), (("--gpus", 1), "places: 0/0/1/127.0.0.1.")], ids=["once", "one rank"])
def test_a_program_that_is_started_once_takes_nobody_for_its_launcher(bench, options, reported):
    """Lightning and others start their ranks themselves unless such variables say that somebody has done so."""
    done = bench("run", *options, "--", "sh", "-c", PLACES)
    assert f"[rank 0] {reported}" in done.stderr


def test_the_variables_of_the_users_shell_stay(bench):
    bench.environment.update(MASTER_ADDR="node7", LOCAL_RANK="3")
    done = bench("run", "--", "sh", "-c", PLACES)
    assert "[rank 0] places: /3//node7." in done.stderr


def test_a_script_that_wants_a_launcher_learns_how_to_get_one(bench):
    done = bench("run", "--", PYTHON, "-c", "import os; os.environ['LOCAL_RANK']")
    assert done.returncode == 1 and "--gpus N" in " ".join(done.stdout.split()), done.stdout


@needs_torch
@pytest.mark.parametrize("how", [["-m", "package.train"], ["-c", "import package.train"]], ids=["-m", "-c"])
def test_a_module_of_a_package(bench, project, how):
    package = bench.tmp / "package"
    project.rename(package)
    (package / "train.py").write_text((package / "train.py").read_text().replace("layers\n", "package.layers as layers\n"))
    run = json.loads(bench.ok("run", "--json", "--", PYTHON, *how, cwd=bench.tmp).stdout)
    assert set(files_of(run)) == ({"package/train.py", "package/layers.py"} if how[0] == "-m" else set())


def test_a_shell_script_belongs_to_the_program(bench):
    script = bench.tmp / "train.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    bench("run", "--", script)
    before = files_of(json.loads(bench("show", "last", "--json").stdout))
    script.write_text("#!/bin/sh\nexit 0 # edited\n")
    bench("run", "--", script)
    after = files_of(json.loads(bench("show", "last", "--json").stdout))
    assert set(before) == set(after) == {"train.sh"} and before != after


@pytest.mark.skipif(not shutil.which("mpicc"), reason="Open MPI is not installed")
def test_the_executable_of_a_native_program_is_its_file(bench):
    program = bench.tmp / "mpi_training"
    source = ROOT / "tests/integration/programs/mpi_training.c"
    files = []
    for level in ("-O0", "-O2"):
        subprocess.run(["mpicc", level, "-o", program, source], check=True)
        files.append(files_of(bench.run_json("--", "mpirun", "--allow-run-as-root", "-n", 1, program)))
    assert set(files[0]) == set(files[1]) == {"mpi_training"} and files[0] != files[1]


def test_python_without_a_sitecustomize_of_its_own_starts_in_silence(bench):
    """As it is in most environments: Debian's Python has one, so its folder is left out here."""
    code = ("import os, sys; sys.path = [sys.argv[1]] + [p for p in sys.path if not os.path.exists(p + '/sitecustomize.py')]; "
            "import sitecustomize; assert sys.argv[1] not in sys.path and 'sitecustomize' in sys.modules")
    subprocess.run([PYTHON, "-S", "-c", code, ROOT / "probes/python"], check=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What `cmake --install` puts elsewhere for programs that mark their steps."""
    prefix = tmp_path_factory.mktemp("prefix")
    build = pathlib.Path(EXECUTABLE).parents[1]
    for room in ("preload", "python"):
        subprocess.run(["cmake", "--install", build / "probes" / room, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    return prefix


@needs_torch
@pytest.mark.parametrize("sampling, data, order, remedy", [
    ("all", "the same on ranks 0-1", None, "DistributedSampler"),
    ("workers", "different", "ranks 0-1", "set_epoch"),
])
def test_ranks_that_train_on_the_same_samples_are_named(bench, sampling, data, order, remedy):
    run = bench.run_json("--warmup", 0, "--gpus", 2, "--", PYTHON, ROOT / "tests/integration/programs/sampled_training.py", sampling)
    facts = run["environment"]["facts"]
    assert facts["program.data_of_ranks"] == data and facts.get("program.order_repeats") == order
    notes = [note for note in run["notes"] if "DistributedSampler" in note]
    assert len(notes) == 1 and "ranks 0-1" in notes[0] and remedy in notes[0], run["notes"]


LOADS_AHEAD = """
from torch.utils.data import DataLoader

class DataLoaderShard(DataLoader):
    def __iter__(self):
        batches = super().__iter__()
        batch = next(batches)
        for following in batches:
            yield batch
            batch = following
        yield batch
"""


@needs_torch
def test_a_batch_that_was_loaded_ahead_belongs_to_the_step_that_gets_it(bench):
    """A stand-in for Accelerate's loader: the first batch is loaded before the first step, and none in the last one."""
    package = bench.tmp / "accelerate"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "data_loader.py").write_text(LOADS_AHEAD)
    script = bench.tmp / "train.py"
    script.write_text(
        "import torch\n"
        "from accelerate.data_loader import DataLoaderShard\n"
        "model = torch.nn.Linear(8, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for samples in DataLoaderShard(torch.randn(40, 8), batch_size=4):\n"
        "    optimizer.zero_grad()\n"
        "    model(samples).sum().backward()\n"
        "    optimizer.step()\n")
    facts = bench.run_json("--warmup", 0, "--", PYTHON, script)["environment"]["facts"]
    assert facts["program.steps"] == "10" and facts["program.samples_per_step"] == "4"


@needs_torch
def test_a_batch_size_of_another_kind_does_not_end_the_program(bench):
    package = bench.tmp / "accelerate"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "data_loader.py").write_text(LOADS_AHEAD + "    batch_size = 'auto'\n    dataset = property(lambda self: 1 / 0)\n"
                                            "    def __init__(self, data):\n        self.data = data\n"
                                            "    def __iter__(self):\n        return iter(self.data)\n")
    script = bench.tmp / "odd.py"
    script.write_text(
        "import torch\n"
        "from accelerate.data_loader import DataLoaderShard\n"
        "model = torch.nn.Linear(8, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for samples in DataLoaderShard(torch.randn(10, 4, 8)):\n"
        "    model(samples).sum().backward()\n"
        "    optimizer.step()\n")
    assert bench.run_json("--warmup", 0, "--", PYTHON, script)["environment"]["facts"]["program.steps"] == "10"


def inputs_module(monkeypatch):
    """Without what other tests left in it."""
    monkeypatch.syspath_prepend(str(ROOT / "probes/python"))
    return importlib.reload(importlib.import_module("ddbench_inputs"))


@pytest.mark.parametrize("tensor, indices", [
    (list(range(5, 69)), ()),
    (["%06d" % i for i in range(64)], ()),
    (["shard/%04d" % i for i in range(8, 12)], ()),
    ([17, 3, 40, 8], [17, 3, 40, 8, 5]),
    (["17", "3", "40"], [17, 3, 40]),
    ([], ()),
])
def test_tensors_that_number_the_samples_are_not_compared(monkeypatch, tensor, indices):
    assert inputs_module(monkeypatch)._values(tensor, indices) == "-"


@pytest.mark.parametrize("tensor", [[3, 1, 2], [0.5, 1.5, 2.5], ["one", "two", "three"], [0.0, float("nan"), 2.0]])
def test_other_tensors_are_compared(monkeypatch, tensor):
    assert len(inputs_module(monkeypatch)._values(tensor, [0, 1, 2])) == 16


class Batches:
    """A pass of a loader, as ddbench_inputs sees it."""

    def __init__(self, dataset, length=3):
        self._dataset = dataset
        self._index_sampler = type("Sampler", (), {})()
        self.length = length

    def __len__(self):
        return self.length


def test_a_pass_is_of_a_data_set_and_ends_or_not(monkeypatch):
    inputs = inputs_module(monkeypatch)
    names = []
    inputs.connect(lambda name: names.append(name) or True)

    def train(batches, taken):
        inputs.begin(batches)
        for i in range(taken):
            inputs.take_indices(batches, [2 * i, 2 * i + 1])
            inputs.take_batch(batches, [["a", "b", "c"]])
            inputs.trained()
        inputs.finish(batches)

    class Data(list):
        """A list that takes weak references."""

    first, second = Data([1]), Data([1])
    train(Batches(first), 2)
    train(Batches(first), 3)
    train(Batches(second), 1)
    unsized = Batches([1], -1)  # of a list, with a loader that does not know its length
    train(unsized, 2)
    inputs.end(unsized)
    last = {}
    for name in names:
        words = name.split(" ")
        last[words[1]] = words[4], words[6], words[7]
    assert last == {"0": ("4", "0", "part"), "1": ("6", "0", "whole"), "2": ("2", "1", "part"), "3": ("4", "2", "whole")}


class FakeDriver:
    """libcuda, as far as it is asked which GPU a thread uses."""

    @staticmethod
    def cuCtxGetDevice(device):
        device._obj.value = 3
        return 0

    @staticmethod
    def cuDeviceGetUuid_v2(uuid, device):
        for i in range(16):
            uuid._obj[i] = device.value * 16 + i
        return 0

    @staticmethod
    def cuDeviceGetPCIBusId(bus, length, device):
        bus.value = b"0000:17:00.0"
        return 0


def test_a_rank_reports_its_gpu_once(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "probes/python"))
    inputs = importlib.import_module("ddbench_inputs")
    names = []
    inputs.connect(lambda name: names.append(name) or True)
    cuda = types.SimpleNamespace(is_initialized=lambda: False)
    inputs.report_gpu(types.SimpleNamespace(cuda=cuda), FakeDriver)
    assert not names, "the program has not chosen a GPU yet"
    cuda.is_initialized = lambda: True
    for _ in range(2):
        inputs.report_gpu(types.SimpleNamespace(cuda=cuda), FakeDriver)
    assert names == ["gpu: 303132333435363738393a3b3c3d3e3f 0000:17:00.0"]


def steps_of(run):
    facts = run["environment"]["facts"]
    return facts["program.steps_from"], int(facts["program.steps"]), run["steps"]["measured"]


def test_a_native_program_marks_its_steps(bench, installed):
    project = bench.tmp / "marked"
    project.mkdir()
    shutil.copy(ROOT / "tests/integration/programs/marked.c", project)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(marked LANGUAGES C)\nfind_package(ddbench 0.1 REQUIRED)\n"
        "add_executable(marked marked.c)\ntarget_link_libraries(marked ddbench::marks)\n")
    for command in (["-S", project, "-B", project, f"-DCMAKE_PREFIX_PATH={installed}"], ["--build", project]):
        subprocess.run(["cmake", *command], check=True, stdout=subprocess.DEVNULL)
    assert subprocess.run([project / "marked"], check=True, capture_output=True, text=True).stdout == "25 steps\n"
    run = bench.run_json("--warmup", 0, "--", project / "marked")
    assert steps_of(run) == ("marker", 25, 25) and set(files_of(run)) == {"marked"}
    assert run["partition_ns"]["data_wait"] > 0 and float(run["environment"]["facts"]["program.samples_per_step"]) == 8
    assert bench.run_json("--skip", 5, "--measure", 10, "--", project / "marked")["steps"]["measured"] == 10


LOOP = """
import {module}
import sys
{module}.step()
for step in range(12):
    with {module}.phase("data", samples=4):
        batch = sum(range(20000))
    with {module}.phase("forward"):
        batch += sum(range(20000))
    {module}.step()
try:
    {module}.phase("lunch").__enter__()
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("is_installed", [True, False], ids=["installed", "found under a run"])
def test_a_python_loop_without_an_optimizer_marks_its_steps(bench, installed, is_installed):
    script = bench.tmp / "loop.py"
    script.write_text(LOOP.format(module="ddbench"))
    if is_installed:
        (module,) = installed.glob("lib*/python*/*/ddbench.py")
        bench.environment["PYTHONPATH"] = str(module.parent)
        alone = subprocess.run([PYTHON, script], env=bench.environment, check=True, capture_output=True, text=True)
        assert "'lunch' is no phase of a step" in alone.stdout
    run = bench.run_json("--warmup", 0, "--", PYTHON, script)
    assert steps_of(run) == ("marker", 12, 12)
    assert set(files_of(run)) == {"loop.py"} and run["partition_ns"]["data_wait"] > 0


def test_marks_where_a_colon_is_in_the_path_of_ddbench(bench):
    """PYTHONPATH would take it for two folders."""
    folder = bench.tmp / "at:12"
    folder.symlink_to(pathlib.Path(EXECUTABLE).parents[1] / "lib/ddbench")
    bench.environment["DDBENCH_MODULE_DIR"] = str(folder)
    script = bench.tmp / "loop.py"
    script.write_text(LOOP.format(module="ddbench") + "print([p for p in sys.path if '/python' in p and 'rank' in p])")
    done = bench.ok("run", "--warmup", 0, "--json", "--", PYTHON, script)
    assert steps_of(json.loads(done.stdout)) == ("marker", 12, 12)


@pytest.mark.parametrize("tool", ["nvtx", "itt"])
def test_ranges_of_steps_are_steps(bench, tool):
    program = bench.tmp / "ranges"
    subprocess.run(["cc", "-o", program, ROOT / "tests/integration/programs/ranges.c", "-ldl"], check=True)
    run = bench.run_json("--warmup", 0, "--", program, tool)
    assert steps_of(run) == ("marker", 20, 20)


def test_the_list_shows_command_lines(bench):
    for command in (["sh", "-c", "exit 0 # a b"], ["true"], ["true"]):
        bench("run", "--", *command)
    lines = bench.ok("list").stdout.splitlines()
    assert [re.search(r"program \d", line).group() for line in lines[1:4]] == ["program 1", "program 1", "program 2"]
    assert "program 1: true" in lines and any(line.startswith("program 2: sh -c") and "exit 0 # a b" in line for line in lines)
    assert [run["command"] for run in json.loads(bench.ok("list", "--json").stdout)] == [["true"], ["true"], ["sh", "-c", "exit 0 # a b"]]


def test_the_live_line_says_where_a_program_stands(bench):
    """On a terminal, below what the program prints; a progress bar of its own passes through."""
    script = bench.tmp / "loop.py"
    script.write_text("import ddbench, sys, time\nfor step in range(300):\n    time.sleep(0.01)\n    ddbench.step()\n"
                      "    print(f'\\r{step}/300 it', end='', flush=True)\n")
    terminal, end = pty.openpty()
    process = subprocess.Popen([EXECUTABLE, "run", "--", PYTHON, script], env=bench.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=end)
    os.close(end)
    shown = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(terminal)
    assert process.wait() == 0
    seen = [int(steps) for steps in re.findall(rb"run: (\d+) steps? seen   [\d.]+ steps/s   0% communication", shown)]
    assert seen and seen == sorted(seen) and seen[-1] <= 299
    assert re.search(rb"\[rank 0\] \d+/300 it", shown), "the program's own bar"


@pytest.mark.parametrize("sides, words", [
    (("ddbench run --gpus 1", "--gpus 1"), ["baseline", "ddbench would run ddbench"]),
    (("--gpus 1", "--gpus 1 -- ddbench run --gpus 1"), ["candidate", "ddbench would run ddbench"]),
    (("--gpus 1 --workload mlp", "--gpus 1 --workload resnet18"), ["mlp", "resnet18"]),
    (("--gpus 1", "--gpus 1 -- true"), ["mlp", "true"]),
], ids=["nested", "nested program", "workloads", "program"])
def test_a_gate_refuses_what_cannot_be_compared(bench, sides, words):
    done = bench("gate", "--run", *sides)
    assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr
