"""Volumes that are empty, or have the content of an image."""

import errno

import rbd

from encryption import load, size_with_header, write_header
from images import CHUNK_BYTES, write_chunks
from space import open_pool
from volumes import FEATURES, UNFINISHED, finish


def create_volume(cluster, pool, volume, snapshot):
    with open_pool(cluster, pool) as ioctx:

        def make_plain(name):
            if volume.get("image") is None:
                rbd.RBD().create(ioctx, name, volume["sizeBytes"], old_format=False, features=FEATURES)
                return
            rbd.RBD().clone(ioctx, volume["image"], snapshot, ioctx, name, features=FEATURES)

        def make_encrypted(name):
            need_image(ioctx, volume, snapshot)
            rbd.RBD().create(ioctx, name, size_with_header(volume), old_format=False, features=FEATURES)

        def fill(_):
            unfinished = volume["name"] + UNFINISHED
            write_header(ioctx, unfinished, volume)
            if volume.get("image") is not None:
                copy_image(ioctx, volume, snapshot, unfinished)

        if "encryption" in volume:
            return finish(cluster, ioctx, volume, make_encrypted, fill)
        return finish(cluster, ioctx, volume, make_plain)


def need_image(ioctx, volume, snapshot):
    if volume.get("image") is None:
        return
    with rbd.Image(ioctx, volume["image"], snapshot=snapshot, read_only=True) as image:
        if volume["sizeBytes"] < image.size():
            raise OSError(errno.EINVAL, f"The volume {volume['name']} would be smaller than its image.")


def copy_image(ioctx, volume, snapshot, name):
    """Writes everything, also zeros: what was never written is no zeros for QEMU, which decrypts it."""
    with rbd.Image(ioctx, volume["image"], snapshot=snapshot, read_only=True) as source:
        size = source.size()
        chunks = (
            (offset, source.read(offset, min(CHUNK_BYTES, size - offset)))
            for offset in range(0, size, CHUNK_BYTES)
        )
        with rbd.Image(ioctx, name) as target:
            load(target, volume["encryption"]["passphrase"])
            write_chunks(target, chunks)


METHODS = {"createVolume": create_volume}
