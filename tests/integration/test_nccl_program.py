"""Programs of NCCL's that ddbench did not write: recorded by the plug-in that ddbench sets, or by the plug-in alone."""

import json
import pathlib
import struct
import subprocess

import pytest
import two_hosts
from conftest import EXECUTABLE, ROOT, SMALL, pids_marked, wait_until

PLUGIN = pathlib.Path(EXECUTABLE).parents[1] / "lib/ddbench/ddbench_nccl_profiler.so"
NAME_OF_SPAN = 32  # bytes into a span


@pytest.fixture(scope="module")
def nccl_training(tmp_path_factory):
    """Drives a plug-in as NCCL drives it; no GPU is needed for that."""
    program = tmp_path_factory.mktemp("program") / "nccl_training"
    source = ROOT / "tests/integration/programs/nccl_training.cpp"
    subprocess.run(["c++", "-std=c++20", f"-I{ROOT}", source, "-o", program, "-ldl"], check=True)
    return program


@pytest.fixture(autouse=True)
def with_kernels(bench):
    """They report whatever the size of /dev/shm."""
    bench.environment["DDBENCH_NCCL_KERNEL_EVENTS"] = "1"


def measured(bench, *arguments, options):
    return json.loads(bench.ok("run", *options, "--no-baseline", "--json", "--", *arguments).stdout)


def facts(bench):
    (text,) = bench.rows("select facts_json from run")[0]
    return json.loads(text)


def test_collectives_of_nccl_are_seen_through_its_profiler(bench, nccl_training):
    """The plug-in that ddbench sets."""
    run = measured(bench, nccl_training, options=("--nodes", 1, "--gpus", 2, "--warmup", 2))
    rows = {(c["function"], c["bytes"]) for c in run["collectives"]}
    assert rows == {("all_reduce", 4_000_000), ("all_reduce", 1_000_000)}
    seen = facts(bench)
    assert seen["nccl.all_reduce 4000000 B on 2 ranks"] == "RING SIMPLE, 2 channels, proxy"
    assert seen["nccl.transport"] == "proxy" and seen["transport"] == "NET/Socket/0", "its log says more than its profiler"
    assert not [name for name in seen if name.startswith("nccl.NCCL_DEBUG")], "which ddbench has set"
    assert {c["bytes"]: c["manner"] for c in run["collectives"]}[4_000_000] == "RING SIMPLE, 2 channels, proxy"
    assert all(c["communicator_ranks"] == 2 and c["busbw"] == pytest.approx(c["algbw"]) for c in run["collectives"])
    assert int(seen["program.steps"]) >= 28
    assert "nccl.unfinished" not in seen and "analysis.incomplete_collectives" not in seen
    assert run["partition_ns"]["exposed_transfer"] + run["partition_ns"]["exposed_peer_wait"] > 3e6


def test_who_directs_nccls_log_himself_keeps_it(bench, nccl_training):
    bench.environment["NCCL_DEBUG"] = "WARN"
    measured(bench, nccl_training, options=("--nodes", 1, "--gpus", 2))
    seen = facts(bench)
    assert seen["nccl.NCCL_DEBUG"] == "WARN" and seen["transport"] == ""


def record(bench, program, folder, prefixes=((), ()), **variables):
    """Two ranks without ddbench: only NCCL_PROFILER_PLUGIN is set."""
    folder.mkdir(exist_ok=True)
    ranks = [subprocess.Popen([*prefix, program], env={
                **bench.environment, "TRAINING_RANK": str(rank), "WORLD_SIZE": "2", "NCCL_PROFILER_PLUGIN": str(PLUGIN),
                "DDBENCH_SPOOL_DIR": str(folder), **{name: value.format(rank=rank) for name, value in variables.items()}})
             for rank, prefix in enumerate(prefixes)]
    assert [rank.wait(timeout=60) for rank in ranks] == [0, 0]
    return folder


@pytest.fixture
def spools(bench, nccl_training):
    return record(bench, nccl_training, bench.tmp / "resnet")


def shown(bench):
    return json.loads(bench.ok("show", "--json").stdout)


def spool_of(folder, rank):
    (file,) = folder.glob(f"rank{rank}.*.spool")
    return file


def test_what_nccls_profiler_recorded_alone_becomes_a_run(bench, spools):
    reported = json.loads(bench.ok("import", "spools", spools, "--warmup", 2, "--batch-per-gpu", 32, "--json").stdout)
    run = shown(bench)
    assert [run["run"]["id"]] == reported["added"] and run["run"]["state"] == "done" and run["run"]["valid"]
    assert (run["run"]["nodes"], run["run"]["gpus_per_node"], run["run"]["global_batch"]) == (1, 2, 64)
    assert {(c["function"], c["bytes"], c["manner"]) for c in run["collectives"]} == {
        ("all_reduce", 4_000_000, "RING SIMPLE, 2 channels, proxy"), ("all_reduce", 1_000_000, "RING SIMPLE, 2 channels, proxy")}
    assert int(facts(bench)["program.steps"]) >= 28
    assert [row["outcome"] for row in bench.rows("select outcome from rank")] == ["ok", "ok"]
    assert run["communication_ns"] > 3e6
    assert run["exposed_communication_ns"] is None and run["overlap_ns"] is None, "no kernels: what was overlapped is not known"
    assert any("hid behind that counts as exposed" in note for note in run["notes"])
    assert "resnet" in bench.ok("show").stdout
    assert len(list(spools.iterdir())) == 2, "they are left as they are"


def test_the_same_spools_are_stored_once_and_others_of_the_same_names_and_sizes_are_not_they(bench, nccl_training):
    """In a container processes have the same numbers each time."""
    for again in range(2):
        folder = record(bench, nccl_training, bench.tmp / f"run{again}")
        for rank in range(2):
            spool_of(folder, rank).rename(folder / f"rank{rank}.4.spool")
        assert "imported 1 run" in bench.ok("import", "spools", folder).stdout
        assert len(bench.rows("select 1 from run")) == again + 1
        reported = bench.ok("import", "spools", folder, "--batch-per-gpu", 8).stdout
        newest = bench.rows("select id from run order by finished_wall_ns")[-1]["id"]
        assert "nothing was changed" in reported and newest in reported
        assert len(bench.rows("select 1 from run")) == again + 1


@pytest.mark.skipif(two_hosts.missing(own_kernels=True) != "", reason=two_hosts.missing(own_kernels=True))
def test_spools_of_two_machines_have_no_common_clock(bench, nccl_training):
    """Two hosts that say that each runs a kernel of its own."""
    hosts = two_hosts.TwoHosts(bench.tmp, own_kernels=True)
    try:
        spools = record(bench, nccl_training, bench.tmp / "resnet", [hosts.inside(host) for host in hosts.hosts])
    finally:
        hosts.stop()
    assert "2 ranks on 2 machines" in bench.ok("import", "spools", spools).stdout
    run = shown(bench)
    assert (run["run"]["nodes"], run["run"]["gpus_per_node"]) == (2, 1)
    assert [row["host"] for row in bench.rows("select host from rank order by rank")] == ["host1", "host2"]
    assert run["peer_wait_ns"] is None and len(run["collectives"]) == 2


@pytest.mark.parametrize("variables", [
    {"RANK": "{rank}", "LOCAL_RANK": "{rank}", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "OMPI_COMM_WORLD_RANK": "0"},
    {"RANK": "0", "SLURM_PROCID": "{rank}", "SLURM_STEP_NUM_TASKS": "2"},
    {"RANK": "0", "OMPI_COMM_WORLD_RANK": "{rank}"},
    {"SLURM_PROCID": "0"},
], ids=["torchrun in a task", "a task", "Open MPI", "a batch script, where NCCL says it"])
def test_ranks_are_distinguished_whoever_started_them(bench, nccl_training, variables):
    folder = record(bench, nccl_training, bench.tmp / "started", **variables)
    assert sorted(file.name.split(".")[0] for file in folder.iterdir()) == ["rank0", "rank1"]


def test_a_rank_that_was_killed_is_reported(bench, spools):
    file = spool_of(spools, 1)
    file.write_bytes(file.read_bytes()[:-24])  # the frame that states its end
    bench.ok("import", "spools", spools, "--warmup", 2)
    assert any("rank 1) have no end" in note for note in shown(bench)["notes"])
    assert [row["outcome"][:5] for row in bench.rows("select outcome from rank order by rank")] == ["ok", "ended"]


def damage(file):
    file.write_bytes(file.read_bytes()[:200] + b"damage" + file.read_bytes()[206:])


def rewritten(file, frame_type, change):
    """The spool with the payload of its first frame of this type changed, and checksums that are right (SPOOL.md)."""
    data = bytearray(file.read_bytes())
    at = 16
    while struct.unpack_from("<I", data, at)[0] != frame_type:
        at += 24 + struct.unpack_from("<I", data, at + 4)[0]
    end = at + 24 + struct.unpack_from("<I", data, at + 4)[0]
    payload = bytearray(data[at + 24:end])
    change(payload)
    header = bytes(data[at:at + 12]) + bytes(4) + struct.pack("<Q", checksum(bytes(payload)))
    data[at:end] = header[:12] + struct.pack("<Q", checksum(header))[:4] + header[16:] + payload
    file.write_bytes(data)


def with_rank(file, rank):
    rewritten(file, 1, lambda payload: payload.__setitem__(slice(0, 4), struct.pack("<i", rank)))


def with_unknown_name(file, frame_type, at):
    rewritten(file, frame_type, lambda payload: payload.__setitem__(slice(at, at + 4), struct.pack("<I", 0x7FFFFFFF)))


def checksum(data):
    """Of SPOOL.md."""
    golden, mask = 0x9E3779B97F4A7C15, (1 << 64) - 1
    lanes = [golden * (lane + 1) & mask for lane in range(4)]
    for word, value in enumerate(struct.unpack(f"<{(len(data) + 31) // 32 * 4}Q", data.ljust((len(data) + 31) // 32 * 32, b"\0"))):
        mixed = lanes[word % 4] ^ value
        lanes[word % 4] = ((mixed << 29 | mixed >> 35) & mask) * golden & mask
    result = len(data)
    for lane in lanes:
        result = (result ^ lane) * golden & mask
        result ^= result >> 32
    return result


HARMS = {
    "nothing is there": (lambda folder: [file.unlink() for file in folder.iterdir()], ["no rank<N>.<pid>.spool"]),
    "the first rank is missing": (lambda folder: spool_of(folder, 0).unlink(), ["of 1 are here", "all machines"]),
    "the last rank is missing": (lambda folder: spool_of(folder, 1).unlink(), ["2 ranks", "of 1 are here", "all machines"]),
    "damaged": (lambda folder: damage(spool_of(folder, 1)), ["rank1.", "offset"]),
    "empty": (lambda folder: spool_of(folder, 1).write_bytes(b"ddbench"), ["rank1.", "delete the file"]),
    "no spool": (lambda folder: (folder / "other.spool").write_text("something else that is no spool"), ["other.spool", "not a spool"]),
    "a span without a name": (lambda folder: with_unknown_name(spool_of(folder, 0), 3, NAME_OF_SPAN), ["rank0.", "names"]),
    "a scalar without a name": (lambda folder: with_unknown_name(spool_of(folder, 0), 4, 0), ["rank0.", "names"]),
    "an impossible rank": (lambda folder: with_rank(spool_of(folder, 1), -7), ["rank -7", "not of rank 1"]),
    "a rank beyond all": (lambda folder: with_rank(spool_of(folder, 1), 2**31 - 1), ["rank 2147483647", "not of rank 1"]),
}


@pytest.mark.parametrize("harm", HARMS)
def test_spools_that_make_no_run_are_refused_and_nothing_is_stored(bench, spools, harm):
    harms, words = HARMS[harm]
    harms(spools)
    done = bench("import", "spools", spools)
    assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr
    assert not bench.db.exists()


def test_two_runs_in_one_folder_are_refused(bench, spools, nccl_training):
    record(bench, nccl_training, spools)
    done = bench("import", "spools", spools)
    assert done.returncode == 2 and "of the same rank" in done.stderr and "folder of its own" in done.stderr


@pytest.mark.parametrize("folder, words", [(ROOT / "README.md", "this is no folder"), ("/no/such/folder", "this is no folder")])
def test_what_is_no_folder_is_refused(bench, folder, words):
    done = bench("import", "spools", folder)
    assert done.returncode == 2 and words in done.stderr


def test_a_killed_launchers_program_is_recovered_but_for_what_is_damaged(bench, nccl_training, spools):
    """And an import meanwhile takes nothing of it away."""
    launcher = bench.start("run", "--gpus", 2, "--no-baseline", "--quiet", "--", "sh", "-c", f"{nccl_training}; sleep 60")
    wait_until(lambda: len([file for file in bench.spools() if spool_has_ended(file)]) == 2, 60, "both ranks have trained")
    launcher.kill()
    launcher.communicate(timeout=60)
    wait_until(lambda: not pids_marked(bench.mark), 60, "all ranks have ended")
    (rank1,) = [file for file in bench.spools() if file.name.startswith("rank1.")]
    bench.ok("import", "spools", spools)
    data = rank1.read_bytes()
    second_frame = 16 + 24 + struct.unpack_from("<I", data, 20)[0]
    rank1.write_bytes(data[:second_frame] + b"damage" + data[second_frame + 6:])

    bench.ok("run", "--nodes", 1, "--no-baseline", *SMALL)
    (killed,) = bench.rows("select * from run where state = 'interrupted'")
    assert bench.rows("select count(*) from span_chunk where run_key = ? and rank = 0", killed["run_key"])[0][0] > 0
    notes = [value for name, value in json.loads(killed["facts_json"]).items() if name.startswith("note.")]
    assert any(rank1.name in note and f"offset {second_frame}" in note for note in notes), notes


def spool_has_ended(file):
    """Its last frame is of type 6, and empty (SPOOL.md)."""
    data = file.read_bytes()
    return len(data) > 64 and struct.unpack_from("<I", data, len(data) - 24)[0] == 6
