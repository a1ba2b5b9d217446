"""Locks that fenced clients have left."""

import errno

import rbd

from keys import list_fences
from space import open_pool
from volumes import list_lockers


def covers(fenced, address):
    return fenced == address or fenced == address.rsplit(":", 1)[0] + ":0/0"


def break_lock(cluster, pool, name):
    # To break a lock also blocklists its owner. The connection says for how long: as long as a fence, because a shorter
    # entry would replace the one of the fence.
    with open_pool(cluster, pool) as ioctx, rbd.Image(ioctx, name, read_only=True) as image:
        lockers = list_lockers(image)
        fences = list_fences(cluster) if lockers else []
        for client, cookie, address in lockers:
            if not any(covers(each, address) for each in fences):
                raise OSError(errno.EBUSY, f"{address} has the lock of {name} and is not fenced.")
            try:
                image.break_lock(client, cookie)
            except rbd.ImageNotFound:
                pass


METHODS = {"breakLock": break_lock}
