"""Keys of clients, and fences."""

import errno
import json
from concurrent.futures import ThreadPoolExecutor

import rados

from space import command

YEAR_SECONDS = 31536000.0


def create_key(cluster, entity, mon, osd, mark, mds=None):
    """Returns the key. One that exists must have the mark, which only its volume or share has, in its rights."""
    name = f"client.{entity}"
    try:
        found = command(cluster, "auth get", entity=name)[0]
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise
        rights = ["mon", mon, "osd", osd] + ([] if mds is None else ["mds", mds])
        found = command(cluster, "auth get-or-create", entity=name, caps=rights)[0]
        return found["key"]
    if mark not in found["caps"].get("osd", ""):
        raise OSError(errno.EEXIST, f"The key {name} exists and opens another volume or share.")
    return found["key"]


def remove_key(cluster, entity):
    try:
        command(cluster, "auth del", entity=f"client.{entity}")
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise


def list_keys(cluster, prefix):
    start = f"client.{prefix}"
    entries = command(cluster, "auth ls")["auth_dump"]
    return [each["entity"][len("client.") :] for each in entries if each["entity"].startswith(start)]


def fence(cluster, addresses):
    for address in addresses:
        command(cluster, "osd blocklist", blocklistop="add", addr=address, expire=YEAR_SECONDS)
    cluster.wait_for_latest_osdmap()
    spread_map(cluster)


def spread_map(cluster):
    """Makes every OSD fetch the newest map, because an OSD accepts writes of a fenced client until it has the map.

    An OSD that does not reply accepts no writes either, so it does not keep a fence from succeeding.
    """
    up = [each["osd"] for each in command(cluster, "osd dump")["osds"] if each["up"] == 1]
    request = json.dumps({"prefix": "get_latest_osdmap"})

    def fetch(osd):
        try:
            number, _, _ = cluster.osd_command(osd, request, b"", timeout=2)
        except (rados.Error, OSError):
            return
        if abs(number) in (errno.EACCES, errno.EPERM):
            raise OSError(errno.EACCES, "The key may not make OSDs fetch a map. Give it osd 'allow *'.")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(fetch, up))


def unfence(cluster, addresses):
    for address in addresses:
        try:
            command(cluster, "osd blocklist", blocklistop="rm", addr=address)
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise


def list_fences(cluster):
    """Returns addresses with a port and a nonce; both are 0 if every client of the address is fenced."""
    return [each["addr"] for each in command(cluster, "osd blocklist ls") or []]


METHODS = {
    "createKey": create_key,
    "removeKey": remove_key,
    "listKeys": list_keys,
    "fence": fence,
    "unfence": unfence,
    "listFences": list_fences,
}
