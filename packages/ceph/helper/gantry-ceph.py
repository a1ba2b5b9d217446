"""Keeps one connection to a Ceph cluster open for a process of Gantry's control plane.

Requests are lines of JSON on the standard input, {"id", "method", "arguments"}; replies are lines of JSON on the standard
output, {"id", "result"} or {"id", "errno", "message"}, and {"id", "goesOn"} while a long one goes on. The first line says how to connect; it contains the key, which is
therefore in no argument and no file. Requests run in threads, so a slow one does not delay the others. The program ends
when its standard input ends, also in the middle of requests: every change is one that can be repeated.
"""

import errno
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import rados
import rbd

import backups
import images
import keys
import locks
import new_volumes
import progress
import snapshots
import space
import volumes

try:
    import shares
except ModuleNotFoundError:
    # Only shared volumes need python3-cephfs. A call for one says that it is missing.
    import no_shares as shares

MODULES = (backups, images, keys, locks, new_volumes, shares, snapshots, space, volumes)
METHODS = {name: method for each in MODULES for name, method in each.METHODS.items()}
THREADS = 8


class Connection:
    """Connects at the first request, and again at the next one if that fails.

    Requests that wait for a connection that fails share its error: each attempt takes until the time limit.
    """

    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.cluster = None
        self.failure = None
        self.attempts = 0

    def get(self):
        attempts = self.attempts
        with self.lock:
            if self.cluster is None:
                if self.attempts != attempts:
                    raise self.failure
                self.connect()
            return self.cluster

    def connect(self):
        cluster = rados.Rados(rados_id=self.options["user"], conf=self.options["conf"])
        try:
            cluster.connect()
        except BaseException as error:
            self.failure = error
            self.attempts += 1
            raise
        self.cluster = cluster


def reply(message, lock=threading.Lock()):
    line = json.dumps(message) + "\n"
    with lock:
        sys.stdout.write(line)
        sys.stdout.flush()


def describe(error):
    """Returns the number of an error, and 0 for one that is a mistake of this program."""
    number = abs(getattr(error, "errno", None) or 0)
    return number, f"{type(error).__name__}: {error}"


def serve(connection, request):
    pool = request["arguments"].get("pool")
    progress.begin(lambda: reply({"id": request["id"], "goesOn": True}))
    try:
        cluster = connection.get()
        result = METHODS[request["method"]](cluster, **request["arguments"])
        reply({"id": request["id"], "result": result})
    except BaseException as error:
        number, message = describe(error)
        # A client waits for a full pool to get space. It times out like a cluster that does not reply.
        if number == errno.ETIMEDOUT and pool is not None and is_full(connection, pool):
            number = errno.ENOSPC
        reply({"id": request["id"], "errno": number, "message": message})


def is_full(connection, pool):
    if connection.cluster is None:
        return False
    try:
        return space.is_full(connection.cluster, pool)
    except (rados.Error, rbd.Error, OSError):
        return False


def main():
    connection = Connection(json.loads(sys.stdin.readline()))
    with ThreadPoolExecutor(THREADS) as pool:
        for line in sys.stdin:
            pool.submit(serve, connection, json.loads(line))
        # The threads may wait for a cluster that does not reply.
        os._exit(0)


main()
