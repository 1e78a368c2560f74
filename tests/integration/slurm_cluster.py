"""A real Slurm of two nodes on this machine: munged, slurmctld and two slurmd, in a private folder, for whoever runs it."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

from ports import free_ports

PROGRAMS = ["munged", "mungekey", "slurmctld", "slurmd", "srun", "scancel", "sinfo"]
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

CONFIGURATION = """\
ClusterName=ddbench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmctldParameters=enable_configless
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/linear
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=30
KillWait=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus} State=UNKNOWN
PartitionName=work Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def missing():
    """Why there can be no cluster here; empty when there can."""
    absent = [program for program in PROGRAMS if not shutil.which(program, path=SYSTEM_PATH)]
    return f"Slurm's packages are not installed (slurm-wlm, munge): no {', '.join(absent)}" if absent else ""


class SlurmCluster:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.daemons = []
        cpus = max(2, os.cpu_count())
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(
            folder=self.folder, user=os.geteuid(), host=socket.gethostname().split(".")[0], ports=free_ports(3), cpus=cpus))
        self.environment = {"PATH": SYSTEM_PATH, "SLURM_CONF": str(self.configuration)}
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self):
        key = self.folder / "munge.key"
        subprocess.run(["mungekey", "--create", f"--keyfile={key}"], check=True, env=self.environment)
        self._daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                     f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                     f"--seed-file={self.folder}/munged.seed")
        self._wait(lambda: (self.folder / "munge.socket").exists(), "munged listens")
        (self.folder / "state").mkdir()
        self._daemon("slurmctld", "-D", "-f", str(self.configuration))
        for node in ("n1", "n2"):
            self._daemon("slurmd", "-D", "-N", node, "-f", str(self.configuration))
        self._wait(lambda: self._idle() == 2, "both nodes are idle")

    def _daemon(self, *command):
        log = open(self.folder / f"{command[0]}.out", "ab")
        self.daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=log, start_new_session=True))

    def _idle(self):
        reported = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=self.environment, capture_output=True, text=True)
        return reported.stdout.split().count("idle")

    def _wait(self, condition, what, timeout_s=120):
        deadline = time.monotonic() + timeout_s
        while not condition():
            dead = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if dead or time.monotonic() > deadline:
                logs = "\n".join(f"{log}: {log.read_text(errors='replace')[-800:]}" for log in self.folder.glob("*.out"))
                raise AssertionError(f"{what}: not within {timeout_s} s; ended: {dead}\n{logs}")
            time.sleep(0.05)

    def stop(self):
        """In the order in which they would miss each other least; whoever does not end is killed."""
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
