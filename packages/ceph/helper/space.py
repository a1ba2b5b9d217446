"""Pools, their space, and commands to the cluster."""

import errno
import json

import rados


def command(cluster, prefix, **arguments):
    """Runs a command of the cluster and returns its JSON, or None if it prints nothing."""
    request = {"prefix": prefix, "format": "json", **arguments}
    number, output, message = cluster.mon_command(json.dumps(request), b"")
    if number != 0:
        raise OSError(abs(number), f"{prefix}: {message}")
    text = output.decode().strip()
    # Some commands print several documents one after the other. The first is the one that counts.
    return json.JSONDecoder().raw_decode(text)[0] if text else None


def open_pool(cluster, pool):
    """Returns the pool. The result is cached by librados, so to open it costs nothing."""
    return cluster.open_ioctx(pool)


def open_pool_to_remove(cluster, pool):
    """Returns the pool for changes that make space, which a full pool must accept."""
    ioctx = open_pool(cluster, pool)
    ioctx.set_osdmap_full_try()
    return ioctx


def is_full(cluster, pool):
    pools = command(cluster, "osd pool ls", detail="detail")
    flags = [each["flags_names"] for each in pools if each["pool_name"] == pool]
    return any("full" in names.split(",") for names in flags)


def need_space(cluster, pool):
    """Throws at once if the pool is full, so that nothing is left half done after a time-out."""
    with open_pool(cluster, pool) as ioctx:
        if is_full(cluster, pool):
            raise OSError(errno.ENOSPC, f"The pool {pool} is full.")
        ensure_trash(ioctx)


pools_with_trash = set()


def ensure_trash(ioctx):
    """Creates the index of the trash before the first volume: a full pool accepts no new object, also not for a removal."""
    if ioctx.name in pools_with_trash:
        return
    with rados.WriteOpCtx() as operation:
        operation.new(rados.LIBRADOS_CREATE_IDEMPOTENT)
        ioctx.operate_write_op(operation, "rbd_trash")
    pools_with_trash.add(ioctx.name)


def read_fsid(cluster):
    return cluster.get_fsid()


def read_pool(cluster, pool):
    """Returns the bytes that users can store and have stored; None if no manager has reported them."""
    open_pool(cluster, pool).close()
    for each in command(cluster, "df")["pools"]:
        stats = each["stats"]
        if each["name"] == pool and "stored" in stats:
            used = stats["stored"]
            size = used + stats["max_avail"]
            return {"sizeBytes": size, "usedBytes": used} if size > 0 else None
    return None


METHODS = {"readFsid": read_fsid, "readPool": read_pool, "isPoolFull": is_full}
