"""MLCommons Chakra execution traces, read as plainly as possible; shares no code with reports/formats/chakra."""


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields_of(message):
    """Protocol Buffers, as plainly as possible: (field, value) of varints and of what has a length."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        value, at = varint(message, at)
        if key & 7 == 2:
            value, at = message[at:at + value], at + value
        yield key >> 3, value


def nodes_of(file):
    """Nodes of an execution trace by the numbers of schema/protobuf/et_def.proto."""
    data, at, nodes = file.read_bytes(), 0, []
    while at < len(data):
        size, at = varint(data, at)
        node = {"attributes": {}, "waits_for": []}
        for field, value in fields_of(data[at:at + size]):
            if field == 10:
                attribute = dict(fields_of(value))
                name = attribute.pop(1).decode()
                (kind, reported), = attribute.items()
                node["attributes"][name] = {9: reported, 27: reported, 29: reported.decode() if kind == 29 else None}[kind]
            elif field == 5:
                place = 0
                while place < len(value):
                    before, place = varint(value, place)
                    node["waits_for"].append(before)
            else:
                node[{1: "id", 2: "name", 3: "type", 6: "begin_us", 7: "length_us"}[field]] = value
        nodes.append(node)
        at += size
    return nodes[0], nodes[1:]
