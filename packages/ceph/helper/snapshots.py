"""Snapshots of volumes, and copies of them."""

import rbd

from space import open_pool
from volumes import FEATURES, finish, look_at, need_size, need_unused


def create_snapshot(cluster, pool, name, snapshot):
    with open_pool(cluster, pool) as ioctx, rbd.Image(ioctx, name) as image:
        try:
            image.create_snap(snapshot)
        except rbd.ImageExists:
            pass


def remove_snapshot(cluster, pool, name, snapshot):
    with open_pool(cluster, pool) as ioctx:
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
            size = image.size()
            image.rollback_to_snap(snapshot)
            # The volume has the size of the snapshot now.
            if size > image.size():
                image.resize(size, False)


def copy_snapshot(cluster, pool, name, snapshot, to):
    with open_pool(cluster, pool) as ioctx, open_pool(cluster, to["pool"]) as target:

        def make(unfinished):
            with rbd.Image(ioctx, name, snapshot=snapshot, read_only=True) as image:
                need_size(image, to)
                image.copy(target, unfinished, features=FEATURES)

        return finish(cluster, target, to, make)


METHODS = {
    "createSnapshot": create_snapshot,
    "removeSnapshot": remove_snapshot,
    "restoreSnapshot": restore_snapshot,
    "copySnapshot": copy_snapshot,
}
