"""Whether anything else used this machine while a figure was measured."""

import dataclasses
import os
import pathlib
import time
from typing import Optional

# More than this of the processors' time, and a figure may be the machine's and not ddbench's.
MOST_STOLEN = 0.05
MOST_OF_OTHERS = 0.10
MOST_DELAYED = 0.10


@dataclasses.dataclass
class Load:
    """Shares of an interval. `delayed` is None where the kernel does not count it."""
    stolen: float  # CPU steal: of the processor time that this machine wanted
    others: float  # processor time of processes that are not the test's: of the processors that the test may use
    delayed: Optional[float]  # runnable processes waited for a processor: of the time

    @property
    def is_busy(self):
        """A test's own processes wait for each other where there are few cores: a delay counts where others ran, too."""
        delayed = self.delayed is None or self.delayed >= MOST_DELAYED
        return self.stolen >= MOST_STOLEN or (self.others >= MOST_OF_OTHERS and delayed)

    def __str__(self):
        delayed = "not known" if self.delayed is None else f"{self.delayed:.0%}"
        return (f"machine {'busy' if self.is_busy else 'quiet'}: CPU steal {self.stolen:.1%}, CPU of other processes "
                f"{self.others:.0%}, run-queue delay {delayed}")


def processors(groups=None):
    """How many this process may use: by its affinity, and by the limits of its control group and of those around it."""
    count = len(os.sched_getaffinity(0))
    if groups is None:
        own = pathlib.Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
        folder = pathlib.Path("/sys/fs/cgroup") / own
        groups = [folder, *folder.parents]
    for group in groups:
        try:
            quota, period = (group / "cpu.max").read_text().split()
        except OSError:
            continue
        if quota != "max":
            count = min(count, int(quota) / int(period))
    return count


def processor_seconds():
    """(stolen, used by processes) of all processors since the machine started."""
    user, nice, system, _idle, _iowait, _irq, _softirq, stolen = [
        int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    per_second = os.sysconf("SC_CLK_TCK")
    return stolen / per_second, (user + nice + system) / per_second


def delay_seconds():
    """For how long runnable processes have waited for a processor; None where the kernel does not say."""
    try:
        some = pathlib.Path("/proc/pressure/cpu").read_text().splitlines()[0]
        return int(some.split("total=")[1]) / 1e6
    except OSError:
        pass
    try:
        lines = pathlib.Path("/proc/schedstat").read_text().splitlines()
        return sum(int(line.split()[8]) for line in lines if line.startswith("cpu")) / 1e9 / os.cpu_count()
    except OSError:
        return None


class LoadMeter:
    """Measures from its construction to `read`. Children of this process that have been waited for are the test's own."""

    def __init__(self):
        self.began = self._now()

    def read(self):
        (at, own, stolen, used, delayed), ended = self.began, self._now()
        elapsed = max(ended[0] - at, 1e-3)
        own, stolen, used = ended[1] - own, ended[2] - stolen, ended[3] - used
        return Load(stolen=stolen / max(used + stolen, 1e-3), others=max(used - own, 0) / (elapsed * processors()),
                    delayed=None if delayed is None else (ended[4] - delayed) / elapsed)

    @staticmethod
    def _now():
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return (time.monotonic(), own, *processor_seconds(), delay_seconds())
