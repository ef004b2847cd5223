"""A guest's initial memory: an archive of a few files as the kernel reads it ("newc" of cpio)."""

import stat

_FOLDERS = ("dev", "proc", "sys", "host", "changes", "root", "bin", "modules", "weir")


def archive(files):
    """`files` are pairs of path and content; all may be executed."""
    entries = [(path, stat.S_IFDIR | 0o755, b"") for path in _FOLDERS]
    entries += [(path, stat.S_IFREG | 0o755, content) for path, content in files]
    entries.append(("TRAILER!!!", 0, b""))
    return b"".join(_entry(number, *entry) for number, entry in enumerate(entries, 1))


def _entry(number, path, mode, content):
    name = path.encode() + b"\0"
    # Inode, mode, owner, group, links, time, size, four halves of devices, length of the name, no checksum.
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields)
    return _padded(head + name) + _padded(content)


def _padded(data):
    return data + b"\0" * (-len(data) % 4)
