"""SQLite exports as Nsight Systems writes them: made by hand after its documented schema, and read as plainly as possible
into the events of a Kineto trace, so that trace_reference.py can judge them."""

import re
import sqlite3
import struct

SCHEMA = """
create table StringIds (id integer not null primary key, value text not null);
create table CUPTI_ACTIVITY_KIND_KERNEL (start integer not null, "end" integer not null, deviceId integer not null,
  streamId integer not null, correlationId integer, globalPid integer, demangledName integer not null);
create table CUPTI_ACTIVITY_KIND_MEMCPY (start integer not null, "end" integer not null, deviceId integer not null,
  streamId integer not null, correlationId integer, globalPid integer, bytes integer not null, copyKind integer not null);
create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer not null, "end" integer not null, globalTid integer,
  correlationId integer, nameId integer not null);
create table NVTX_EVENTS (start integer not null, "end" integer, eventType integer not null, text text, globalTid integer,
  textId integer, domainId integer, binaryData blob);
create table NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId integer not null, schemaId integer not null, idx integer not null,
  name text, offset integer);
create table TARGET_INFO_SYSTEM_ENV (globalVid integer, name text not null, value text not null);
create table TARGET_INFO_SESSION_START_TIME (utcEpochNs integer);
"""
INIT, COLLECTIVE = 16777218, 16777220
ENTRIES = [(1, INIT, 0, "NCCL communicator ID", None), (1, INIT, 1, "No. of ranks", 8), (1, INIT, 2, "Rank", 12),
           (1, COLLECTIVE, 0, "NCCL communicator ID", None), (1, COLLECTIVE, 1, "Message size [bytes]", 8)]


def payload(schema, fields):
    return struct.pack("<IIIIQQ", 1, 0, schema, 0, len(fields), 32 + len(fields)) + fields


class Export:
    """One machine's file."""

    def __init__(self, path, host="node0"):
        self.path = path
        self.database = sqlite3.connect(path)
        self.database.executescript(SCHEMA)
        self.database.executemany("insert into NVTX_PAYLOAD_SCHEMA_ENTRIES values (?, ?, ?, ?, ?)", ENTRIES)
        self.database.execute("insert into TARGET_INFO_SYSTEM_ENV values (0, 'Hostname', ?)", (host,))
        self.database.execute("insert into TARGET_INFO_SESSION_START_TIME values (?)", (1_700_000_000_000_000_000,))
        self.strings = {}

    def id(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.database.execute("insert into StringIds values (?, ?)", (self.strings[text], text))
        return self.strings[text]

    def kernel(self, pid, name, begin, end, correlation, stream=7, device=0):
        self.database.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, ?, ?, ?, ?, ?)",
                              (begin, end, device, stream, correlation, pid << 24, self.id(name)))

    def copy(self, pid, begin, end, correlation, size, device=0):
        self.database.execute("insert into CUPTI_ACTIVITY_KIND_MEMCPY values (?, ?, ?, 7, ?, ?, ?, 1)",
                              (begin, end, device, correlation, pid << 24, size))

    def call(self, pid, name, begin, end, correlation):
        self.database.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, ?, ?, ?)",
                              (begin, end, (pid << 24) + pid, correlation, self.id(name)))

    def range(self, pid, text, begin, end, blob=None, registered=False):
        self.database.execute("insert into NVTX_EVENTS values (?, ?, 59, ?, ?, ?, ?, ?)",
                              (begin, end, None if registered else text, (pid << 24) + pid, self.id(text) if registered else None,
                               0 if blob is None else 1, blob))

    def close(self):
        self.database.commit()
        self.database.close()
        return self.path


def training(export, pid, rank, ranks, late=0, steps=12, payloads=True, device=0, communicator=0xABCDEF):
    """Backward computes beside an all_reduce that this rank reaches `late` ns after 600 us and that ends at 900 us."""
    if payloads:
        export.range(pid, "ncclCommInitRankConfig", 10, 20,
                     payload(INIT, struct.pack("<QiiQ", communicator, ranks, rank, device)), registered=True)
    for step in range(steps):
        at, id = 1_000_000 * (step + 1) + 7, 10 * step
        export.range(pid, f"step {step + 5}", at, at + 999_500)
        export.range(pid, f"aten::mm, seq = {step}, op_id = {id}", at + 10_000, at + 60_000)
        export.call(pid, "cudaMemcpyAsync_v3020", at + 11_000, at + 13_000, id + 4)
        export.copy(pid, at + 20_000, at + 90_000, id + 4, 4096, device)
        export.call(pid, "cudaLaunchKernel_v7000", at + 20_000, at + 25_000, id)
        export.range(pid, f"autograd::engine::evaluate_function: MmBackward0, seq = {step}, op_id = {id + 1}", at + 300_000,
                     at + 500_000)
        export.call(pid, "cudaLaunchKernel_v7000", at + 310_000, at + 315_000, id + 1)
        export.range(pid, "ncclAllReduce", at + 396_000, at + 410_000,
                     payload(COLLECTIVE, struct.pack("<QQQ", communicator, 1_000_000, 0)) if payloads else None, registered=True)
        export.call(pid, "cudaLaunchKernelExC_v11060", at + 400_000, at + 405_000, id + 2)
        export.call(pid, "cudaLaunchKernel_v7000", at + 915_000, at + 920_000, id + 3)
        export.range(pid, "Optimizer.step#SGD.step", at + 910_000, at + 960_000)
        export.kernel(pid, "void gemm<float>(float*)", at + 100_000, at + 300_000, id, device=device)
        export.kernel(pid, "dgrad", at + 400_000, at + 700_000, id + 1, device=device)
        export.kernel(pid, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at + 600_000 + late,
                      at + 900_000, id + 2, stream=20, device=device)
        export.kernel(pid, "adam", at + 950_000, at + 970_000, id + 3, device=device)


def as_kineto(path, pid, step_range):
    """What a process of an export did, as the events of a Kineto trace."""
    database = sqlite3.connect(path)
    text = dict(database.execute("select id, value from StringIds"))
    tables = {name for name, in database.execute("select name from sqlite_master where type = 'table'")}
    events = []

    def add(category, name, begin, end, thread, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "tid": thread, "ts": f"{begin // 1000}.{begin % 1000:03}",
                       "dur": f"{(end - begin) // 1000}.{(end - begin) % 1000:03}", "args": arguments})

    mine = f"where ((globalPid >> 24) & 0xFFFFFF) = {pid}"
    for begin, end, name in database.execute(f'select start, "end", demangledName from CUPTI_ACTIVITY_KIND_KERNEL {mine}'):
        add("kernel", text[name], begin, end, 7)
    for kind in {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"} & tables:
        for begin, end in database.execute(f'select start, "end" from {kind} {mine}'):
            add("gpu_memcpy", "copy", begin, end, 7)
    mine = f"where ((globalTid >> 24) & 0xFFFFFF) = {pid}"
    for begin, end, thread, name in database.execute(
            f'select start, "end", globalTid, nameId from CUPTI_ACTIVITY_KIND_RUNTIME {mine}'):
        add("cuda_runtime", re.sub(r"_v\d+$", "", text[name]), begin, end, thread)
    step = 0
    for begin, end, thread, own, id in database.execute(
            f'select start, "end", globalTid, text, textId from NVTX_EVENTS {mine} and eventType = 59 order by start'):
        whole = own or text[id]
        name = whole.split(", seq = ")[0].split(", op_id = ")[0]
        if re.fullmatch(re.escape(step_range) + r"[ #]?\d*", name):
            add("user_annotation", f"ProfilerStep#{step}", begin, end, thread)
            step += 1
        elif name.startswith(("aten::", "autograd::engine::evaluate_function")) or ", seq = " in whole:
            add("cpu_op", name, begin, end, thread)
    return {"traceEvents": events}
