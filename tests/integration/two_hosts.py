"""Two hosts and a head, each with a network and a name of its own, on one machine: what mpirun needs to start ranks on
other hosts. All of it lives in namespaces of a few sleeping processes and ends with them. Who is not root is root of a user
namespace there."""

import os
import shutil
import subprocess
import time
import uuid

NETWORK = "10.78.0"
BOOT_ID = "/proc/sys/kernel/random/boot_id"


def missing(own_kernels=False):
    """Why there can be no hosts here; empty when there can."""
    absent = [program for program in ("mpirun", "nsenter", "unshare", "ip") if not shutil.which(program)]
    if absent:
        return f"not installed: {', '.join(absent)}"
    own_kernel = ["--mount", "mount", "--bind", "/proc/version", BOOT_ID] if own_kernels else ["true"]
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    allowed = subprocess.run(["unshare", *user, "--net", "--uts", *own_kernel], capture_output=True, text=True)
    return "" if allowed.returncode == 0 else f"this machine gives no namespaces: {allowed.stderr.strip()}"


class TwoHosts:
    """With `own_kernels` each says that it runs a kernel of its own, as two machines would."""

    def __init__(self, folder, own_kernels=False):
        self.holders = []
        self.folder = folder
        self.namespaces = ["--net", "--uts", *(["--mount"] if own_kernels else [])]
        self.as_root = []
        try:
            if os.geteuid() != 0:
                self._become_root()
            self.head = self._namespace("head")
            self._ip(self.head, "link", "add", "br0", "type", "bridge")
            self._ip(self.head, "addr", "add", f"{NETWORK}.254/24", "dev", "br0")
            self._ip(self.head, "link", "set", "br0", "up")
            self.hosts = [f"{NETWORK}.{number}" for number in (1, 2)]
            self.pids = {host: self._host(number, host) for number, host in enumerate(self.hosts, 1)}
        except BaseException:
            self.stop()
            raise
        # Replaces ssh: mpirun passes the host and the command to run there.
        self.agent = folder / "agent"
        cases = "\n".join(f"{host}) pid={pid} ;;" for host, pid in self.pids.items())
        self.agent.write_text(f"#!/bin/sh\nhost=$1\nshift\ncase $host in\n{cases}\nesac\n"
                              f'exec nsenter --target $pid {" ".join(self.namespaces)} sh -c "$*"\n')
        self.agent.chmod(0o755)

    def _become_root(self):
        """In a user namespace that all others belong to."""
        holder = subprocess.Popen(["unshare", "--user", "--map-root-user", "sleep", "infinity"])
        self.holders.append(holder)
        self.as_root = ["nsenter", "--target", str(holder.pid), "--user", "--preserve-credentials"]
        deadline = time.monotonic() + 60
        while subprocess.run([*self.as_root, "id", "-u"], capture_output=True, text=True).stdout.strip() != "0":
            assert time.monotonic() < deadline and holder.poll() is None, "no user namespace"
            time.sleep(0.01)

    def _namespace(self, name):
        own = os.stat("/proc/self/ns/net").st_ino
        own_kernel = ""
        if "--mount" in self.namespaces:
            boot_id = self.folder / f"boot_id.{name}"
            boot_id.write_text(f"{uuid.uuid4()}\n")
            own_kernel = f"mount --bind {boot_id} {BOOT_ID} && "
        holder = subprocess.Popen([*self.as_root, "unshare", *self.namespaces, "sh", "-c",
                                   f"{own_kernel}hostname {name} && exec sleep infinity"])
        self.holders.append(holder)
        deadline = time.monotonic() + 60
        while True:
            assert time.monotonic() < deadline and holder.poll() is None, f"no namespace for {name}"
            if (os.stat(f"/proc/{holder.pid}/ns/net").st_ino != own
                    and self._in(holder.pid, "hostname", capture_output=True, text=True).stdout.strip() == name):
                break
            time.sleep(0.01)
        self._ip(holder.pid, "link", "set", "lo", "up")
        return holder.pid

    def _host(self, number, address):
        pid = self._namespace(f"host{number}")
        port = f"port{number}"
        self._ip(self.head, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        self._ip(self.head, "link", "set", port, "master", "br0", "up")
        self._ip(pid, "addr", "add", f"{address}/24", "dev", "eth0")
        self._ip(pid, "link", "set", "eth0", "up")
        return pid

    def _in(self, pid, *command, **options):
        return subprocess.run([*self._inside(pid), *command], **options)

    def _inside(self, pid):
        return [*self.as_root, "nsenter", "--target", str(pid), *self.namespaces]

    def _ip(self, pid, *arguments):
        self._in(pid, "ip", *arguments, check=True)

    @property
    def prefix(self):
        """Before a command that is to run on the head."""
        return self._inside(self.head)

    def inside(self, host):
        """Before a command that is to run on that host."""
        return self._inside(self.pids[host])

    @property
    def options(self):
        """Of ddbench, so that its ranks come to be on the two hosts."""
        arguments = f"--allow-run-as-root --mca plm_rsh_agent {self.agent} --mca oob_tcp_if_include {NETWORK}.0/24"
        return ["--launcher", "mpirun", "--hosts", ",".join(self.hosts), "--launcher-args", arguments]

    def stop(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()
