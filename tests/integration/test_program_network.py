"""The machine as a program finds it: on one node it is the user's own, network and user included."""

import contextlib
import json
import pathlib
import socket
import sys
import threading

from test_several_users import users  # noqa: F401: a fixture

PYTHON = sys.executable
INTERFACES = "import socket, os; print('sees', sorted(name for _, name in socket.if_nameindex()), os.environ.get('NCCL_SOCKET_IFNAME'))"


@contextlib.contextmanager
def server():
    """The port of one that says hello to whoever connects, on all of this machine's addresses."""
    with socket.create_server(("", 0)) as listener:
        def answer():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(b"hello")
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def lines_of(done):
    return sorted(line for line in done.stderr.splitlines() if line.startswith("[rank"))


def test_a_program_on_one_node_has_the_network_of_the_machine(bench):
    """Data are downloaded, and metrics reported, by every rank."""
    script = f"{INTERFACES}; import sys; print(socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(9))"
    own = sorted(name for _, name in socket.if_nameindex())
    bench.environment.pop("NCCL_SOCKET_IFNAME", None)
    with server() as port:
        done = bench("run", "--gpus", 2, "--no-baseline", "--json", "--", PYTHON, "-c", script, port)
    assert lines_of(done) == sorted(f"[rank {rank}] {text}" for rank in (0, 1) for text in ("b'hello'", f"sees {own} None"))
    assert not any("other network" in note for note in json.loads(done.stdout)["notes"])


def test_the_interface_that_the_user_chose_stays(bench):
    bench.environment["NCCL_SOCKET_IFNAME"] = "eth7"
    done = bench("run", "--", PYTHON, "-c", INTERFACES)
    assert lines_of(done)[0].endswith(" eth7"), done.stderr


def test_ranks_of_one_node_get_a_port_that_is_free(bench):
    """The machine's network is that of other programs, too."""
    script = ("import os, socket\nif os.environ['RANK'] == '0':\n"
              "    socket.create_server((os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])))\n    print('listens')")
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # then somebody else has it
            stack.enter_context(socket.create_server(("127.0.0.1", 29500)))
        done = bench("run", "--gpus", 2, "--no-baseline", "--", PYTHON, "-c", script)
    assert "[rank 0] listens" in done.stderr, done.stderr


def test_what_a_program_leaves_ends_with_the_run(bench):
    """A process that has left the program's group and session."""
    leaves = "import subprocess; print('left', subprocess.Popen(['sleep', '1000'], start_new_session=True, stdout=subprocess.DEVNULL).pid)"
    done = bench("run", "--", PYTHON, "-c", leaves)
    assert "left" in done.stderr
    commands = [path for path in pathlib.Path("/proc").glob("[0-9]*/environ") if owned(path, bench.mark)]
    assert not commands, "at once"


def owned(path, mark):
    try:
        return f"DDBENCH_TEST_MARK={mark}".encode() in path.read_bytes().split(b"\0")
    except OSError:
        return False


def test_nodes_that_are_emulated_have_their_own_network_and_a_note_says_so(bench):
    done = bench("run", "--nodes", 2, "--no-baseline", "--json", "--", PYTHON, "-c", INTERFACES)
    notes = " ".join(json.loads(done.stdout)["notes"])
    if "share this machine's loopback" in notes:  # no namespaces here
        return
    assert "no other network than that between its nodes" in notes
    own = {name for _, name in socket.if_nameindex()} - {"lo", "eth0"}
    for line in lines_of(done):
        assert "'eth0'" in line and "'lo'" in line and line.endswith(" eth0")  # the kernel may add others
        assert not any(f"'{name}'" in line for name in own if not name.startswith(("sit", "tunl", "gre", "erspan", "ip"))), line


def test_a_program_runs_as_the_user_that_started_it(users):  # noqa: F811
    """Open MPI's mpirun refuses to run as root, and ssh files that are nobody's."""
    _, ada, _ = users
    identity = "import os; print('is', os.getuid(), os.getgid(), os.getpid() == int(os.readlink('/proc/self')))"
    done = ada("run", "--gpus", 2, "--no-baseline", "--", "/usr/bin/python3", "-c", identity)
    assert {line.partition("] ")[2] for line in lines_of(done)} == {f"is {ada.uid} {ada.uid} True"}, done.stderr
