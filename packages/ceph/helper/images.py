"""Volumes that are made of the content of a raw file."""

import os
import threading

import rbd

from progress import goes_on
from space import open_pool
from volumes import FEATURES, finish

CHUNK_BYTES = 4 * 1024 * 1024
WRITES_AT_ONCE = 8
SECTOR_BYTES = 512


def list_extents(file, size):
    """Yields the offset and the length of everything in the file that is no hole."""
    end = 0
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError:
            return
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end - start


def list_chunks(file, size):
    """Yields what the file contains besides zeros, with its offset, in parts that end where objects of the volume end."""
    for start, length in list_extents(file, size):
        offset = start
        while offset < start + length:
            boundary = (offset // CHUNK_BYTES + 1) * CHUNK_BYTES
            data = os.pread(file, min(boundary, start + length) - offset, offset)
            if not data:
                return
            if data.count(0) != len(data):
                yield offset, data
            offset += len(data)


def write_chunks(image, chunks):
    """Writes with several requests at a time, and throws the first error."""
    free = threading.Semaphore(WRITES_AT_ONCE)
    completions = []
    note = goes_on()
    for offset, data in chunks:
        free.acquire()
        completions.append(image.aio_write(data, offset, lambda _: free.release()))
        while completions and completions[0].is_complete():
            completions.pop(0).wait_for_complete_and_cb()
            note()
    for each in completions:
        each.wait_for_complete_and_cb()
    image.flush()


def import_file(cluster, pool, volume, file, snapshot):
    with open_pool(cluster, pool) as ioctx:
        source = os.open(file, os.O_RDONLY)
        try:
            content = os.fstat(source).st_size
            size = -(-content // SECTOR_BYTES) * SECTOR_BYTES

            def make(name):
                rbd.RBD().create(ioctx, name, size, old_format=False, features=FEATURES)

            def complete(image):
                write_chunks(image, list_chunks(source, content))
                image.create_snap(snapshot)

            return finish(cluster, ioctx, volume, make, complete)
        finally:
            os.close(source)


METHODS = {"importFile": import_file}
