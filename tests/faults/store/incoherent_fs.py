#!/usr/bin/python3
"""A file system as a network gives it: `incoherent_fs.py FOLDER MOUNT_POINT` shows FOLDER at MOUNT_POINT until it is unmounted.

Two mounts of one folder are as two machines: reads, writes, renames and POSIX locks of each are seen by the other at once, but each has
its own memory for files that are mapped. Needs FUSE and Debian's python3-fusepy."""

import ctypes
import errno
import fcntl
import os
import stat
import struct
import sys
import threading

import fusepy

F_OFD_GETLK, F_OFD_SETLK = 36, 37  # open file description locks: one description for each owner
FLOCK = struct.Struct("hhqqi4x")


class Flock(ctypes.Structure):
    _fields_ = [("type", ctypes.c_short), ("whence", ctypes.c_short), ("start", ctypes.c_int64),
                ("length", ctypes.c_int64), ("pid", ctypes.c_int)]


def is_mapped(path):
    """Files that programs map, and SQLite's index of a write-ahead log: the kernel of each mount keeps its own pages of them."""
    return path.endswith("-shm") or "probe" in os.path.basename(path)


class Passthrough(fusepy.Operations):
    use_ns = True

    def __init__(self, folder):
        self.folder = folder
        self.owners = {}
        self.guard = threading.Lock()

    def real(self, path):
        return self.folder + path

    def __call__(self, operation, *arguments):
        if not hasattr(self, operation):
            raise fusepy.FuseOSError(errno.ENOSYS)
        return getattr(self, operation)(*arguments)

    def getattr(self, path, fi=None):
        status = os.fstat(fi.fh) if fi else os.lstat(self.real(path))
        return {"st_mode": status.st_mode, "st_nlink": status.st_nlink, "st_uid": status.st_uid, "st_gid": status.st_gid,
                "st_size": status.st_size, "st_blocks": status.st_blocks, "st_ino": status.st_ino,
                "st_atime": status.st_atime_ns, "st_mtime": status.st_mtime_ns, "st_ctime": status.st_ctime_ns}

    def readdir(self, path, fi):
        return [".", "..", *os.listdir(self.real(path))]

    def statfs(self, path):
        status = os.statvfs(self.real(path))
        return {name: getattr(status, name) for name in ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree",
                                                         "f_files", "f_flag", "f_frsize", "f_namemax")}

    def open(self, path, fi):
        flags = (fi.flags & ~(os.O_APPEND | os.O_ACCMODE)) | os.O_RDWR
        try:
            fi.fh = os.open(self.real(path), flags)
        except OSError:
            fi.fh = os.open(self.real(path), fi.flags)
        fi.direct_io = 0 if is_mapped(path) else 1
        return 0

    def create(self, path, mode, fi):
        fi.fh = os.open(self.real(path), os.O_RDWR | os.O_CREAT | (fi.flags & os.O_EXCL), mode)
        fi.direct_io = 0 if is_mapped(path) else 1
        return 0

    def read(self, path, size, offset, fi):
        return os.pread(fi.fh, size, offset)

    def write(self, path, data, offset, fi):
        return os.pwrite(fi.fh, data, offset)

    def truncate(self, path, length, fi=None):
        os.truncate(fi.fh if fi else self.real(path), length)

    def fsync(self, path, data_only, fi):
        return 0  # the folder itself is not lost with a process

    def flush(self, path, fi):
        return 0  # libfuse then takes the owner's locks away, by lock()

    def release(self, path, fi):
        os.close(fi.fh)
        return 0

    def lock(self, path, fi, command, address):
        wanted = ctypes.cast(address, ctypes.POINTER(Flock)).contents
        key = (os.fstat(fi.fh).st_ino, fi.lock_owner)
        with self.guard:
            fd = self.owners.get(key)
            whole = wanted.type == fcntl.F_UNLCK and wanted.start == 0 and wanted.length == 0
            if fd is None and wanted.type == fcntl.F_UNLCK:
                return 0
            if fd is None:
                fd = self.owners[key] = os.open(f"/proc/self/fd/{fi.fh}", os.O_RDWR)
            if whole:
                os.close(self.owners.pop(key))
                return 0
            request = FLOCK.pack(wanted.type, wanted.whence, wanted.start, wanted.length, 0)
            if command == fcntl.F_GETLK:
                found = FLOCK.unpack(fcntl.fcntl(fd, F_OFD_GETLK, request))
                wanted.type, wanted.whence, wanted.start, wanted.length, wanted.pid = found
                wanted.pid = max(0, wanted.pid)
                return 0
            fcntl.fcntl(fd, F_OFD_SETLK, request)  # SQLite never waits in the kernel
            return 0

    def chmod(self, path, mode):
        return os.chmod(self.real(path), mode)

    def chown(self, path, uid, gid):
        return os.chown(self.real(path), uid, gid)

    def unlink(self, path):
        return os.unlink(self.real(path))

    def rename(self, old, new):
        return os.rename(self.real(old), self.real(new))

    def mkdir(self, path, mode):
        return os.mkdir(self.real(path), mode)

    def rmdir(self, path):
        return os.rmdir(self.real(path))

    def access(self, path, mode):
        if not os.access(self.real(path), mode):
            raise fusepy.FuseOSError(errno.EACCES)
        return 0

    def utimens(self, path, times=None):
        return os.utime(self.real(path), ns=times)


if __name__ == "__main__":
    assert stat.S_ISDIR(os.stat(sys.argv[1]).st_mode)
    fusepy.FUSE(Passthrough(os.path.abspath(sys.argv[1])), sys.argv[2], raw_fi=True, foreground=True, nothreads=False,
                attr_timeout=0, entry_timeout=0, negative_timeout=0)
