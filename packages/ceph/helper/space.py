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


def is_full(cluster, pool):
    pools = command(cluster, "osd pool ls", detail="detail")
    flags = [each["flags_names"] for each in pools if each["pool_name"] == pool]
    return any("full" in names.split(",") for names in flags)


def need_space(cluster, pool):
    """Throws at once if the pool is full, so that nothing is left half done after a time-out."""
    open_pool(cluster, pool).close()
    if is_full(cluster, pool):
        raise OSError(errno.ENOSPC, f"The pool {pool} is full.")


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


METHODS = {"readFsid": read_fsid, "readPool": read_pool}
