"""Writes Chakra execution traces as protobuf, for tests. Messages are given field by field, so that a
broken one is as easy to write as a valid one."""

import struct

ALL_REDUCE, REDUCE, ALL_GATHER, BROADCAST = 0, 1, 2, 5
COMPUTE, SEND, COLLECTIVE = 4, 5, 7

# Kinds of numeric attributes: the field's number and its encoding.
KINDS = {"double": 3, "float": 5, "int32": 7, "int64": 9, "uint32": 11, "uint64": 13, "sint32": 15,
         "sint64": 17, "fixed32": 19, "fixed64": 21, "sfixed32": 23, "sfixed64": 25, "bool": 27}


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, value, kind="int64"):
    field = KINDS.get(kind)
    if kind == "string":
        return text(10, text(1, name) + text(29, value))
    if kind.startswith("sint"):
        body = number(field, value << 1 ^ value >> 63)
    elif kind in ("double", "fixed64", "sfixed64"):
        body = varint(field << 3 | 1) + struct.pack("<d" if kind == "double" else "<q", value)
    elif kind in ("float", "fixed32", "sfixed32"):
        body = varint(field << 3 | 5) + struct.pack("<f" if kind == "float" else "<i", value)
    else:
        body = number(field, value)
    return text(10, text(1, name) + body)


def node(ident, name, kind, parents=(), control=(), us=0, start=0, attributes=b"", packed=True):
    deps = b""
    for field, list_ in ((4, control), (5, parents)):
        if packed and list_:
            deps += text(field, b"".join(map(varint, list_)))
        else:
            deps += b"".join(number(field, one) for one in list_)
    return (number(1, ident) + text(2, name) + number(3, kind) + deps + number(6, start) + number(7, us)
            + attributes)


def summed(ident, name, parents, size, kind="int64", comm=ALL_REDUCE, group=None, **more):
    attributes = attribute("comm_type", comm, kind) + attribute("comm_size", size, kind)
    if group is not None:
        attributes += attribute("pg_name", group, "string")
    return node(ident, name, COLLECTIVE, parents, attributes=attributes, **more)


def delimited(message):
    return varint(len(message)) + message


def trace(*nodes):
    return b"".join(map(delimited, [text(1, "0.0.4"), *nodes]))
