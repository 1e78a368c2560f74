"""Reads spool files independently of ddbench (probes/recorder/SPOOL.md): how many spans of complete frames they have."""

import struct

SPAN_BYTES, SPANS_FRAME = 48, 3


def spans_in(path):
    """(rank, number of spans); None for a file without a whole head."""
    data = path.read_bytes()
    if len(data) < 16 or data[:12] != b"ddbenchspool":
        return None
    position, rank, spans = 16, None, 0
    while position + 24 <= len(data):
        kind, size = struct.unpack_from("<II", data, position)
        if position + 24 + size > len(data):
            break
        if rank is None:
            (rank,) = struct.unpack_from("<i", data, position + 24)
        if kind == SPANS_FRAME:
            spans += size // SPAN_BYTES
        position += 24 + size
    return None if rank is None else (rank, spans)


def spans_by_run(paths):
    """{(run id, rank): spans}: a run's spools are in the folder of its name."""
    found = {}
    for path in paths:
        if (counted := spans_in(path)) is not None:
            found[path.parent.name, counted[0]] = counted[1]
    return found
