"""A store that a group shares, as two users of it, and stores of other machines collected into one, over ssh and from folders."""

import contextlib
import getpass
import json
import os
import pathlib
import shlex
import shutil
import socket
import stat
import subprocess
import tempfile

import pytest
from conftest import EXECUTABLE, HANGS_S, wait_until
from ports import free_ports
from test_analysis import FIXTURE

GROUP, ADA, BOB = 64100, 64101, 64102
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


class User:
    """Runs ddbench as this user, who has a group of their own and is a member of GROUP, with a umask that keeps everything private."""

    def __init__(self, folder, uid, groups=(GROUP,)):
        self.uid, self.groups, self.home = uid, list(groups), folder / f"home{uid}"
        self.home.mkdir(mode=0o700)
        os.chown(self.home, uid, uid)
        self.environment = dict(os.environ, HOME=str(self.home), XDG_DATA_HOME=str(self.home), DDBENCH_TMPDIR=str(self.home),
                                DDBENCH_DB=str(folder / "team/results.db"), DDBENCH_CORE_CLAIMS=str(self.home / "cores"),
                                DDBENCH_METADATA_URL="http://127.0.0.1:9")

    def __call__(self, *arguments):
        return subprocess.run([EXECUTABLE, *map(str, arguments)], env=self.environment, user=self.uid, group=self.uid, extra_groups=self.groups,
                              umask=0o077, cwd=self.home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)

    def ok(self, *arguments):
        done = self(*arguments)
        assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments):
        return json.loads(self.ok(*arguments, "--json").stdout)


@pytest.fixture
def users():
    if os.geteuid() != 0:
        pytest.skip("only root can become other users")
    with tempfile.TemporaryDirectory(prefix="ddbench-users-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        shutil.copy(FIXTURE, folder / "table.csv")
        (folder / "table.csv").chmod(0o644)
        ada, bob = User(folder, ADA), User(folder, BOB)
        try:
            ada.ok("--version")
        except (PermissionError, AssertionError) as error:
            pytest.skip(f"other users cannot execute {EXECUTABLE}: {error}")
        yield folder, ada, bob


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_group_shares_a_store_and_each_deletes_their_own_runs(users):
    folder, ada, bob = users
    store = folder / "team/results.db"
    assert ada.json("db", "create", store, "--shared", "--group", GROUP)["group"] == str(GROUP)
    assert (mode(store), mode(store.parent), store.stat().st_gid) == (0o660, 0o2770, GROUP)
    assert bob("db", "create", store, "--shared").returncode == 2

    train = ["run", "--steps", 4, "--warmup", 1, "-O", "hidden=16", "--checkpoint-every", 2, "--no-baseline", "--quiet", "--name", "night"]
    hers = ada.json(*train)["run"]["id"]
    his = bob.json(*train, "--continue")["run"]["id"]
    ada.ok("import", "table", folder / "table.csv")
    assert hers in {run["id"] for run in bob.json("list", "--limit", 0, "--user", ADA)}
    assert [run["id"] for run in ada.json("list", "--limit", 0, "--user", BOB)] == [his]
    checkpoints = folder / "team/results.db.checkpoints"
    assert {path.name for path in checkpoints.iterdir()} == {hers, his}

    ada.ok("baseline", "set", "main", hers)
    done = bob("baseline", "delete", "main")
    assert done.returncode == 2 and f"names run {hers} of {ADA}" in done.stderr
    bob.ok("baseline", "delete", "main", "--force")

    done = bob("db", "prune", hers, "--yes")
    assert done.returncode == 2 and f"is of {ADA}: ask them, or add --force" in done.stderr
    pruned = bob.json("db", "prune", "--state", "done", "--yes")
    assert pruned["runs"] == [his] and set(pruned["kept_of_others"]) == {str(ADA)}
    assert {path.name for path in checkpoints.iterdir()} == {hers}, "his folder went with his run"
    forced = bob.ok("db", "prune", hers, "--yes", "--force")
    assert "deleted 1 run(s)" in forced.stdout and f"{hers} is kept" not in forced.stdout
    assert f"{checkpoints / hers} is kept" in forced.stderr, "a folder of hers stays hers"
    assert ada.ok("db", "check").stdout.endswith("no problems found\n")

    stranger = User(folder, 64103, groups=())
    done = stranger("list")
    assert done.returncode != 0 and "Traceback" not in done.stderr and "internal error" not in done.stderr


@pytest.fixture
def fleet(bench, tmp_path):
    """Two stores below a folder, of 20 and of 1 run, and the store that collects them."""
    for name, lines in (("node1", FIXTURE.read_text()), ("deep/node2", "gpus,nodes,global_batch,step_time_h\n1,1,256,72\n")):
        folder = tmp_path / "fleet" / name
        folder.mkdir(parents=True)
        (folder / "table.csv").write_text(lines)
        bench.ok("import", "table", folder / "table.csv", "--db", folder / "results.db")
    bench.ok("import", "table", tmp_path / "fleet/deep/node2/table.csv")  # a run of its own
    return bench


def collected(bench, *arguments):
    """What it reports, and what each source brought."""
    report = json.loads(bench.ok("db", "collect", *arguments, "--json").stdout)
    return report, {pathlib.Path(source["source"]).parent.name: (source["added"], source["unchanged"]) for source in report["sources"]}


def ids(bench, *arguments):
    return [run["id"] for run in json.loads(bench.ok("list", "--json", "--limit", 0, *arguments).stdout)]


def test_stores_below_a_folder_are_collected_once(fleet, tmp_path):
    folder = tmp_path / "fleet"
    own, first = ids(fleet), ids(fleet, "--db", folder / "node1/results.db")
    assert collected(fleet, folder)[1] == {"node1": (len(first), False), "node2": (1, False)}
    assert set(first) < set(ids(fleet))
    assert collected(fleet, folder)[1] == {"node1": (0, True), "node2": (0, True)}

    (tmp_path / "new.csv").write_text("gpus,nodes,global_batch,step_time_h\n2,1,512,40\n")
    fleet.ok("import", "table", tmp_path / "new.csv", "--db", folder / "deep/node2/results.db")
    fleet.ok("db", "prune", first[0], "--yes")
    assert collected(fleet, folder)[1] == {"node1": (0, True), "node2": (1, False)}
    assert first[0] not in ids(fleet), "what was deleted is not brought again"

    report, _ = collected(fleet, folder / "deep", "--keep", 1)
    assert report["deleted"] == 1, "of the other source all stay"
    report, _ = collected(fleet, folder, "--keep", 2)
    assert report["deleted"] == len(first) - 3 and set(own) < set(ids(fleet)) and len(ids(fleet)) == len(own) + 3
    assert collected(fleet, folder, "--keep", 2, "--keep-days", 1)[0]["deleted"] == 0
    assert fleet.ok("db", "check").stdout.endswith("no problems found\n")


def test_a_source_that_fails_does_not_stop_the_others(fleet, tmp_path):
    bad = tmp_path / "fleet/bad"
    bad.mkdir()
    (bad / "results.db").write_text("no store")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "empty/results.db")
    done = fleet("db", "collect", tmp_path / "empty", tmp_path / "fleet", "-oProxyCommand=touch", "--db", tmp_path / "team.db")
    assert done.returncode == 2 and "-oProxyCommand" in done.stderr, "no option, and no host"
    done = fleet("db", "collect", tmp_path / "empty", tmp_path / "fleet", "a b", "--db", tmp_path / "team.db")
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1] == f"ddbench: not collected: {tmp_path}/empty, {bad}/results.db, a b"
    assert f"{bad}/results.db is no ddbench store" in done.stderr and "neither [USER@]HOST[:STORE] nor a path" in done.stderr
    assert "ddbench: a b: this is neither" in done.stderr, "its name once"
    assert "added from 2 of 5 source(s)" in done.stdout and len(ids(fleet, "--db", tmp_path / "team.db")) > 1


@pytest.fixture
def stand_in(fleet, tmp_path):
    """A program `ssh` that runs the command here, as its host's name says."""
    program = tmp_path / "bin/ssh"
    program.parent.mkdir()
    program.write_text(f"""#!/bin/sh
while [ "$1" != -- ]; do shift; done
case "$2" in
  down) printf 'ssh: connect to host down port 22: Connection refused\\r\\n' >&2; exit 255;;
  noise) head -c 100000 /dev/urandom;;
  chatty) printf '\\nWelcome to \\033[1mchatty\\033[0m!\\nHave a nice day\\n'; DDBENCH_DB={shlex.quote(str(tmp_path))}/fleet/node1/results.db sh -c "$3";;
  liar) cat {shlex.quote(str(tmp_path))}/lie.db;;
  *) cd {shlex.quote(str(tmp_path))}/fleet; export DDBENCH_DB="$PWD/$2"/results.db; exec sh -c "$3";;
esac
""")
    program.chmod(0o755)
    fleet.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    return fleet


def test_hosts_are_not_trusted_with_what_they_send(stand_in, tmp_path):
    lie = tmp_path / "lie.db"
    stand_in.ok("db", "export", lie)  # the collecting store's own run, changed
    with contextlib.closing(__import__("sqlite3").connect(lie)) as connection, connection:
        connection.execute("update run set valid = 0")
    before = stand_in.rows("select * from run")
    done = stand_in("db", "collect", "down", "noise", "chatty", "liar", "node1", "--remote-ddbench", EXECUTABLE, "--max-bytes", 10_000_000)
    assert done.returncode == 1
    assert "ddbench: down: ssh: connect to host down port 22: Connection refused\n" in done.stderr
    assert "ddbench: noise: noise sent something else than a store" in done.stderr and "what liar has is damaged" in done.stderr
    assert r'(does its shell print text at login?): it begins with "Welcome to \x1b[1mchatty\x1b[0m!"' in done.stderr, done.stderr
    assert "added from 1 of 5 source(s)" in done.stdout
    assert done.stderr.splitlines()[-1] == "ddbench: not collected: down, noise, chatty, liar"
    first = ids(stand_in, "--db", tmp_path / "fleet/node1/results.db")
    assert set(first) < set(ids(stand_in))
    assert [tuple(row) for row in stand_in.rows("select * from run")][:len(before)] == [tuple(row) for row in before]

    stand_in.ok("db", "collect", "host:~/deep/node2/results.db", "--remote-ddbench", EXECUTABLE)
    assert set(ids(stand_in, "--db", tmp_path / "fleet/deep/node2/results.db")) < set(ids(stand_in)), "~ is where ssh starts"

    done = stand_in("db", "collect", f"node1:{tmp_path}/fleet/deep/node2/results.db", "noise", "--max-bytes", 50000, "--remote-ddbench", "false")
    assert done.returncode == 1 and "sent more than 50000 bytes (--max-bytes)" in done.stderr and "exit code 1" in done.stderr
    done = stand_in("db", "collect", "node1", "--remote-ddbench", "no-such-command")
    assert done.returncode == 1 and "--remote-ddbench names the command there" in done.stderr
    done = stand_in("db", "collect", "node1", "--timeout", 1, "--remote-ddbench", "sleep 1000;")
    assert done.returncode == 1 and "did not end within 1 s (--timeout)" in done.stderr


def test_export_to_standard_output(fleet, tmp_path):
    def exported(known):
        return subprocess.run([EXECUTABLE, "db", "export", "-", "--finished", "--known", "-"], input=known, env=fleet.environment,
                              capture_output=True, check=True).stdout
    (tmp_path / "copy.db").write_bytes(exported(b""))
    assert ids(fleet, "--db", tmp_path / "copy.db") == ids(fleet)
    assert exported("\n".join(ids(fleet)).encode()) == b"", "nothing is new"
    assert fleet("db", "export", "-", "--json").returncode == 2


@pytest.fixture
def server(tmp_path):
    """A real sshd on the loopback interface: what ssh needs to reach it."""
    if SSHD is None or shutil.which("ssh") is None:
        pytest.skip("no sshd here (package openssh-server)")
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name], check=True)
    port = free_ports(1)[0]
    (keys / "known").write_text(f"[127.0.0.1]:{port} {(keys / 'host.pub').read_text()}")
    (keys / "config").write_text(f"ListenAddress 127.0.0.1:{port}\nHostKey {keys}/host\nPidFile none\nStrictModes no\nUsePAM no\n"
                                 f"AuthorizedKeysFile {keys}/user.pub\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n")
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    with subprocess.Popen([SSHD, "-D", "-e", "-f", keys / "config"], stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until(lambda: process.poll() is not None or answers(port), HANGS_S, "sshd answers")
            if process.poll() is not None:
                pytest.skip(f"sshd does not start here: {process.stderr.read()}")
            command = f"ssh -F none -p {port} -i {keys}/user -o UserKnownHostsFile={keys}/known -o StrictHostKeyChecking=yes"
            probe = subprocess.run([*command.split(), "-o", "BatchMode=yes", f"{getpass.getuser()}@127.0.0.1", "true"],
                                   stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANGS_S)
            if probe.returncode != 0:  # the account may be locked
                pytest.skip(f"sshd does not let this user in: {probe.stderr}")
            yield command
        finally:
            process.kill()


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def test_a_store_is_collected_over_ssh(fleet, server, tmp_path):
    source = f"{getpass.getuser()}@127.0.0.1:{tmp_path}/fleet/node1/results.db"
    options = ["--ssh", server, "--remote-ddbench", f"env DDBENCH_TMPDIR={fleet.run_directories} {EXECUTABLE}"]
    first = ids(fleet, "--db", tmp_path / "fleet/node1/results.db")
    done = fleet.ok("db", "collect", source, *options)
    assert f"{source}: {len(first)} run(s)" in done.stdout and set(first) < set(ids(fleet))
    assert "0 run(s) added from 1 source(s)" in fleet.ok("db", "collect", source, *options).stdout
    stranger = fleet("db", "collect", source, *options[2:], "--ssh", server.replace("/user ", "/host "))
    assert stranger.returncode == 1 and "Permission denied" in stranger.stderr


def test_a_run_whose_ddbench_gave_no_signs_is_closed_by_force_alone(bench, tmp_path):
    (tmp_path / "table.csv").write_text("gpus,nodes,global_batch,step_time_h\n1,1,256,72\n")
    bench.ok("import", "table", tmp_path / "table.csv")
    run = ids(bench)[0]
    bench.rows("update run set state = 'running', owner_pid = 1, owner_host = 'elsewhere', owner_boot_id = 'other'")
    for command in (["db", "prune", run, "--stale"], ["db", "recover", run]):
        done = bench(*command)
        assert done.returncode == 2 and "--force" in done.stderr, done.stderr
    assert bench("db", "recover", "--force").returncode == 2, "which run?"
    assert f"recovered run {run}: interrupted" in bench.ok("db", "recover", run, "--force").stdout
    assert "taken over by --force (pid 1 on elsewhere" in bench.rows("select reason from run")[0][0]
    assert "the run is complete" in bench.ok("db", "recover", run).stdout
