"""One run, started by each launcher: on this machine, as ranks that are there already, by mpirun, and in a Slurm of two nodes."""

import shutil
import socket

from kinds.templates import Impossible
from room import processes

LIMITS = ["--timeout", "5", "--start-timeout", "30", "--grace", "5"]
PLACEMENTS = {"local": [(1, 2), (1, 3), (2, 1), (2, 2)], "env": [(1, 2), (1, 3)], "mpirun": [(1, 2)], "srun": [(2, 1), (2, 2)]}


def free_port():
    """ddbench listens beside it, too. Of a network of this worker alone."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1] % 10_000 + 20_000


def slurm(room, templates):
    import slurm_cluster
    if reason := slurm_cluster.missing():
        raise Impossible(reason)

    def begin():
        folder = templates.base / "slurm"
        folder.mkdir()
        cluster = slurm_cluster.SlurmCluster(folder)
        templates.stops.append(cluster.stop)
        return cluster
    cluster = templates.once("slurm", begin)
    room.pids_before |= set(processes())
    return cluster.environment["SLURM_CONF"]


def started(room, templates, launcher, nodes, gpus, arguments, shim=None):
    """The commands of the run; the first one is the launcher."""
    case = ["run", *arguments, *LIMITS]
    if launcher == "local":
        return [room.start(*case, "--nodes", nodes, "--gpus", gpus, shim=shim)]
    if launcher == "mpirun":
        if not shutil.which("mpirun"):
            raise Impossible("openmpi-bin is not installed")
        case += ["--launcher", "mpirun", "--interface", "lo", "--launcher-args", "--allow-run-as-root --oversubscribe"]
        return [room.start(*case, "--nodes", nodes, "--gpus", gpus, shim=shim)]
    if launcher == "srun":
        room.environment["SLURM_CONF"] = slurm(room, templates)
        return [room.start(*case, "--launcher", "srun", "--interface", "lo", "--nodes", nodes, "--gpus", gpus, shim=shim)]
    port, world = free_port(), nodes * gpus
    commands = []
    for rank in range(world):
        environment = dict(room.environment, RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(world),
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), DDBENCH_TOKEN="a secret of 24 characters")
        commands.append(room.start(*case, "--launcher", "env", env=environment, shim=shim))
    return commands
