"""Snapshots of volumes, and copies of them."""

import errno

import rbd

from backups import read_content
from encryption import is_encrypted, need_passphrase, size_with_header
from images import write_chunks
from progress import goes_on, going_on
from space import open_pool, open_pool_to_remove
from volumes import FEATURES, RESTORING, UNFINISHED, bytes_to_restore, finish, look_at, need_unused, user_snapshots


def create_snapshot(cluster, pool, name, snapshot):
    with open_pool(cluster, pool) as ioctx, rbd.Image(ioctx, name) as image:
        try:
            image.create_snap(snapshot)
        except rbd.ImageExists:
            pass


def remove_snapshot(cluster, pool, name, snapshot):
    with open_pool_to_remove(cluster, pool) as ioctx:
        try:
            with rbd.Image(ioctx, name) as image:
                image.remove_snap(snapshot)
        except rbd.ImageNotFound:
            pass


def restore_snapshot(cluster, pool, name, snapshot):
    with open_pool(cluster, pool) as ioctx:
        found = look_at(ioctx, name)
        if found is not None:
            need_unused(found, name)
        with rbd.Image(ioctx, name) as image:
            if snapshot not in user_snapshots(image):
                raise OSError(errno.ENOENT, f"The volume {name} has no snapshot {snapshot}.")
            # The rollback gives the volume the size of the snapshot, and an attempt that was interrupted may have done so.
            size = max(image.size(), bytes_to_restore(image) or 0)
            image.metadata_set(RESTORING, str(size))
            with going_on():
                image.rollback_to_snap(snapshot)
            if size > image.size():
                image.resize(size, False)
            image.metadata_remove(RESTORING)


def list_data(image):
    """Yields (offset, data) of what the snapshot contains besides zeros."""
    note = goes_on()
    for offset, _, data in read_content(image, None):
        note()
        if data is not None:
            yield offset, data


def copy_snapshot(cluster, pool, name, snapshot, to):
    """Reads and writes everything. To clone the snapshot and to make the clone independent crashes in librbd 16.2 at times."""
    with open_pool(cluster, pool) as ioctx, open_pool(cluster, to["pool"]) as target:
        with rbd.Image(ioctx, name, snapshot=snapshot, read_only=True) as source:

            def make(unfinished):
                if size_with_header(to) < source.size():
                    raise OSError(errno.EINVAL, f"The volume {to['name']} would be smaller than the snapshot.")
                if is_encrypted(source) != ("encryption" in to):
                    raise OSError(errno.EINVAL, f"The encryption of {to['name']} differs from that of the snapshot.")
                rbd.RBD().create(target, unfinished, source.size(), old_format=False, features=FEATURES)

            def complete(image):
                write_chunks(image, list_data(source))
                need_passphrase(target, to["name"] + UNFINISHED, to)

            return finish(cluster, target, to, make, complete)


METHODS = {
    "createSnapshot": create_snapshot,
    "removeSnapshot": remove_snapshot,
    "restoreSnapshot": restore_snapshot,
    "copySnapshot": copy_snapshot,
}
