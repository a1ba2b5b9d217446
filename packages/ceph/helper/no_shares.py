"""Stands for shares.py if python3-cephfs is not installed."""

import errno


def fail(cluster, **arguments):
    raise OSError(errno.ENOSYS, "Shared volumes need python3-cephfs: apt-get install python3-cephfs.")


NAMES = ("readShare", "listShares", "createShare", "growShare", "removeShare", "spreadFences")
METHODS = {name: fail for name in NAMES}
