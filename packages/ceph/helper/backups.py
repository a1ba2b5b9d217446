"""Backups: files with the content of a snapshot, or with what has changed since an earlier one.

The files have the format of `rbd export-diff`, so that an operator can apply them without Gantry: `rbd import-diff`.
"""

import errno
import hashlib
import os
import stat
import struct

import rbd

from encryption import need_passphrase, size_with_header
from images import CHUNK_BYTES, write_chunks
from progress import goes_on
from space import open_pool
from volumes import FEATURES, UNFINISHED, finish, user_snapshots

MAGIC = b"rbd diff v1\n"
# The extents of this much of a volume are in memory at a time.
WINDOW_BYTES = 4 * 1024 * 1024 * 1024


class Export:
    """A file that is written from its beginning to its end, and its checksum. A full target is no error of the cluster."""

    def __init__(self, descriptor, file):
        self.descriptor = descriptor
        self.file = file
        self.digest = hashlib.sha256()
        self.bytes = 0

    def write(self, *parts):
        for part in parts:
            self.digest.update(part)
            self.bytes += len(part)
            view = memoryview(part)
            try:
                while view:
                    view = view[os.write(self.descriptor, view) :]
            except OSError as error:
                raise of_file(self.file, error) from error

    def write_name(self, tag, name):
        encoded = name.encode()
        self.write(tag, struct.pack("<I", len(encoded)), encoded)


def of_file(file, error):
    """Returns an error of the backup file, which says nothing about the cluster."""
    return OSError(errno.EIO, f"The backup file {file} cannot be used: {error.strerror}.")


def list_changes(image, since):
    """Yields (offset, length, exists) of what is in the snapshot or has changed since the earlier one."""
    size = image.size()
    for start in range(0, size, WINDOW_BYTES):
        found = []
        length = min(WINDOW_BYTES, size - start)
        image.diff_iterate(start, length, since, lambda *extent: found.append(extent))
        yield from found


def read_content(image, since):
    """Yields (offset, length, data) of what is in the snapshot or has changed since the earlier one. Zeros have no data."""
    for start, length, exists in list_changes(image, since):
        if not exists:
            yield start, length, None
            continue
        end = start + length
        while start < end:
            boundary = (start // CHUNK_BYTES + 1) * CHUNK_BYTES
            data = image.read(start, min(boundary, end) - start)
            yield start, len(data), data if data.count(0) != len(data) else None
            start += len(data)


def write_changes(image, since, output):
    note = goes_on()
    for start, length, data in read_content(image, since):
        note()
        if data is not None:
            output.write(b"w", struct.pack("<QQ", start, length), data)
        elif since is not None:
            output.write(b"z", struct.pack("<QQ", start, length))


def export_snapshot(cluster, pool, name, snapshot, since, file):
    with open_pool(cluster, pool) as ioctx:
        with rbd.Image(ioctx, name, snapshot=snapshot, read_only=True) as image:
            if since is not None and since not in user_snapshots(image):
                raise OSError(errno.ENOENT, f"The volume {name} has no snapshot {since}.")
            size = image.size()
            try:
                descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            except OSError as error:
                raise of_file(file, error) from error
            try:
                output = Export(descriptor, file)
                output.write(MAGIC)
                if since is not None:
                    output.write_name(b"f", since)
                output.write_name(b"t", snapshot)
                output.write(b"s", struct.pack("<Q", size))
                write_changes(image, since, output)
                output.write(b"e")
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            return {"bytes": output.bytes, "sha256": output.digest.hexdigest()}


def verify(part):
    """Throws unless the file has the checksum that was recorded when it was written."""
    digest = hashlib.sha256()
    note = goes_on()
    try:
        with open(part["file"], "rb") as source:
            for block in iter(lambda: source.read(CHUNK_BYTES), b""):
                digest.update(block)
                note()
    except OSError as error:
        raise of_file(part["file"], error) from error
    if digest.hexdigest() != part["sha256"]:
        raise damaged(part, f"its SHA-256 is {digest.hexdigest()} instead of {part['sha256']}")


def damaged(part, reason):
    return OSError(errno.EBADMSG, f"The backup file {part['file']} is damaged: {reason}.")


def read_exactly(source, count, part):
    data = source.read(count)
    if len(data) != count:
        raise damaged(part, "it ends too early")
    return data


def read_number(source, layout, part):
    return struct.unpack(layout, read_exactly(source, struct.calcsize(layout), part))


def read_name(source, part):
    (length,) = read_number(source, "<I", part)
    return read_exactly(source, length, part).decode()


def apply_part(image, part, since):
    """Writes the changes of a file to the volume. `since` is the snapshot whose content the volume has now."""
    with open(part["file"], "rb") as source:
        if source.read(len(MAGIC)) != MAGIC:
            raise damaged(part, "it has another format")
        write_chunks(image, read_changes(image, source, part, since))


def read_changes(image, source, part, since):
    """Yields (offset, data). Ranges without data are zeroed at once; no two ranges of a file overlap."""
    names = {b"f": None, b"t": None}
    note = goes_on()
    while True:
        note()
        tag = read_exactly(source, 1, part)
        if tag in names:
            names[tag] = read_name(source, part)
        elif tag == b"s":
            (size,) = read_number(source, "<Q", part)
            if size > image.size():
                raise OSError(errno.EINVAL, f"The disk is smaller than the {size} bytes of the backup.")
        elif tag == b"w":
            offset, length = read_number(source, "<QQ", part)
            while length > 0:
                data = read_exactly(source, min(length, CHUNK_BYTES), part)
                yield offset, data
                offset, length = offset + len(data), length - len(data)
        elif tag == b"z":
            offset, length = read_number(source, "<QQ", part)
            image.write_zeroes(offset, min(length, image.size() - offset))
        elif tag == b"e":
            break
        else:
            raise damaged(part, f"it has a record of the unknown kind {tag!r}")
    if names != {b"f": since, b"t": part["snapshot"]}:
        raise damaged(part, "it belongs to another backup")


def import_backup(cluster, pool, volume, parts):
    with open_pool(cluster, pool) as ioctx:

        def make(name):
            for part in parts:
                verify(part)
            rbd.RBD().create(ioctx, name, size_with_header(volume), old_format=False, features=FEATURES)

        def complete(image):
            since = None
            for part in parts:
                apply_part(image, part, since)
                since = part["snapshot"]
            need_passphrase(ioctx, volume["name"] + UNFINISHED, volume)

        return finish(cluster, ioctx, volume, make, complete)


METHODS = {"exportSnapshot": export_snapshot, "importBackup": import_backup}
