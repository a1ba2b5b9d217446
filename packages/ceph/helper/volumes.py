"""Volumes.

A volume is created under another name, gets its labels and its size, and is renamed. So a volume of the final name is
always complete, and what an interrupted creation has left is removed by the next one and by the removal.
"""

import errno
import threading
from contextlib import contextmanager

import rados
import rbd

from encryption import ENCRYPTION, LUKS, header_bytes, is_encrypted, need_passphrase, size_with_header
from progress import goes_on
from space import need_space, open_pool, open_pool_to_remove

INSTALLATION = "gantry.installation"
RESOURCE = "gantry.resource"
DISCARDED = "gantry.discarded"
# The size that the volume had, while it is set back to a snapshot.
RESTORING = "gantry.restoring"
UNFINISHED = ".new"
FEATURES = (
    rbd.RBD_FEATURE_LAYERING
    | rbd.RBD_FEATURE_EXCLUSIVE_LOCK
    | rbd.RBD_FEATURE_OBJECT_MAP
    | rbd.RBD_FEATURE_FAST_DIFF
    | rbd.RBD_FEATURE_DEEP_FLATTEN
)
# Characters of an id after those of the client that created the volume, and the most that an id can have.
RANDOM_DIGITS = 8
LONGEST_ID = 14

locks = {}
locks_lock = threading.Lock()


@contextmanager
def one_at_a_time(pool, name):
    """Serialises changes of one volume in this process. The locks are few bytes per volume that was ever created."""
    with locks_lock:
        lock = locks.setdefault((pool, name), threading.Lock())
    with lock:
        yield


def read_labels(image):
    try:
        return {
            "installation": image.metadata_get(INSTALLATION),
            "resource": image.metadata_get(RESOURCE),
        }
    except KeyError:
        return None


def set_labels(image, volume):
    """Replaces the labels. A clone and a copy begin with all metadata of their origin."""
    labels = volume["labels"]
    for key, _ in list(image.metadata_list()):
        if key.startswith("gantry."):
            image.metadata_remove(key)
    image.metadata_set(INSTALLATION, labels["installation"])
    image.metadata_set(RESOURCE, labels["resource"])
    if "encryption" in volume:
        image.metadata_set(ENCRYPTION, LUKS)


def bytes_to_restore(image):
    """Returns the size that the volume had before an attempt to set it back, or None if none is unfinished."""
    try:
        return int(image.metadata_get(RESTORING))
    except KeyError:
        return None


def read_parent_id(image):
    try:
        return image.parent_id()
    except rbd.ImageNotFound:
        return None


def user_snapshots(image):
    return [
        each["name"]
        for each in image.list_snaps()
        if each["namespace"] == rbd.RBD_SNAP_NAMESPACE_TYPE_USER
    ]


def list_lockers(image):
    """Returns (client, cookie, address) of the client that may write, in a list that is empty if there is none."""
    found = image.list_lockers()
    return found["lockers"] if found else []


def describe(image):
    lockers = list_lockers(image)
    return {
        "id": image.id(),
        "sizeBytes": image.size() - header_bytes(image),
        "encrypted": is_encrypted(image),
        "isRestoring": bytes_to_restore(image) is not None,
        "labels": read_labels(image),
        "parentId": read_parent_id(image),
        "snapshots": user_snapshots(image),
        "watchers": sorted({each["addr"] for each in image.watchers_list()}),
        "locker": lockers[0][2] if lockers else None,
    }


def look_at(ioctx, name):
    try:
        # A volume that is opened for reading gets no watcher of this program.
        with rbd.Image(ioctx, name, read_only=True) as image:
            return describe(image)
    except rbd.ImageNotFound:
        return None


def read_volume(cluster, pool, name):
    with open_pool(cluster, pool) as ioctx:
        return look_at(ioctx, name)


def list_volumes(cluster, pool):
    with open_pool(cluster, pool) as ioctx:
        return [each for each in rbd.RBD().list(ioctx) if not each.endswith(UNFINISHED)]


def read_id(ioctx, name):
    """Returns the id of a volume, or None if there is none. That costs a tenth of what it costs to open the volume."""
    try:
        # The length of the id is before it, in four bytes.
        return ioctx.read(f"rbd_id.{name}")[4:].decode()
    except rados.ObjectNotFound:
        return None


def find_same(ioctx, volume):
    name = volume["name"]
    found = None if read_id(ioctx, name) is None else look_at(ioctx, name)
    if found is None:
        return None
    if found["labels"] != volume["labels"]:
        raise OSError(errno.EEXIST, f"The volume {name} exists with other labels.")
    if found["encrypted"] != ("encryption" in volume):
        raise OSError(errno.EINVAL, f"The encryption of the volume {name} differs.")
    need_passphrase(ioctx, name, volume)
    return found


def drop_unfinished(ioctx, name):
    unfinished = name + UNFINISHED
    if read_id(ioctx, unfinished) is None:
        return
    try:
        with rbd.Image(ioctx, unfinished) as image:
            for snapshot in user_snapshots(image):
                image.remove_snap(snapshot)
        rbd.RBD().remove(ioctx, unfinished, on_progress=goes_on())
    except rbd.ImageNotFound:
        pass


def has_long_id(cluster, ioctx, name):
    """Tells whether the random part of the id has all its digits.

    The rights of a key are prefixes of object names. With ids of one length none is a prefix of another.
    """
    digits = len(f"{cluster.get_instance_id():x}") + RANDOM_DIGITS
    return len(read_id(ioctx, name)) == min(LONGEST_ID, digits)


def finish(cluster, ioctx, volume, make, complete=lambda image: None):
    """Creates a volume with `make`, which gets the name to use, and returns it."""
    pool, name = ioctx.name, volume["name"]
    with one_at_a_time(pool, name):
        same = find_same(ioctx, volume)
        if same is not None:
            return same
        need_space(cluster, pool)
        unfinished = name + UNFINISHED
        drop_unfinished(ioctx, name)
        make(unfinished)
        while not has_long_id(cluster, ioctx, unfinished):
            drop_unfinished(ioctx, name)
            make(unfinished)
        with rbd.Image(ioctx, unfinished) as image:
            size = size_with_header(volume) if "sizeBytes" in volume else image.size()
            is_smaller = size < image.size()
            if not is_smaller:
                set_labels(image, volume)
                if size > image.size():
                    image.resize(size)
                complete(image)
            # This program is the only client that has it open.
            made = {**describe(image), "watchers": [], "locker": None}
        if is_smaller:
            drop_unfinished(ioctx, name)
            raise OSError(errno.EINVAL, f"The volume {name} would be smaller than its image.")
        try:
            rbd.RBD().rename(ioctx, unfinished, name)
        except rbd.ImageExists:
            # Another process was faster.
            drop_unfinished(ioctx, name)
            return find_same(ioctx, volume)
        return made


def grow_volume(cluster, pool, name, sizeBytes):
    with open_pool(cluster, pool) as ioctx, rbd.Image(ioctx, name) as image:
        size = sizeBytes + header_bytes(image)
        if size < image.size():
            raise OSError(errno.EINVAL, f"The volume {name} has {image.size()} bytes and cannot shrink.")
        if size > image.size():
            image.resize(size, False)


def need_unused(found, name):
    if found["watchers"]:
        raise OSError(errno.EBUSY, f"{', '.join(found['watchers'])} have the volume {name} open.")


def remove_volume(cluster, pool, name):
    with open_pool_to_remove(cluster, pool) as ioctx, one_at_a_time(pool, name):
        drop_unfinished(ioctx, name)
        found = look_at(ioctx, name)
        if found is None:
            return
        if found["labels"] is None:
            raise OSError(errno.EPERM, f"The volume {name} has no labels, so it is not ours.")
        need_unused(found, name)
        with rbd.Image(ioctx, name) as image:
            image.metadata_set(DISCARDED, found["labels"]["installation"])
            for snapshot in found["snapshots"]:
                image.remove_snap(snapshot)
        rbd.RBD().trash_move(ioctx, name, 0)
        remove_trash(ioctx, found["id"])


def remove_trash(ioctx, image_id):
    try:
        rbd.RBD().trash_remove(ioctx, image_id, on_progress=goes_on())
    except (rbd.ImageHasSnapshots, rbd.ImageBusy, rbd.ImageNotFound):
        # A clone needs it, or another process removes it.
        pass


def is_discarded(ioctx, image_id):
    try:
        with rbd.Image(ioctx, image_id=image_id, read_only=True) as image:
            image.metadata_get(DISCARDED)
            return True
    except (KeyError, rbd.ImageNotFound):
        return False


def empty_trash(cluster, pool):
    with open_pool_to_remove(cluster, pool) as ioctx:
        for each in list(rbd.RBD().trash_list(ioctx)):
            if is_discarded(ioctx, each["id"]):
                remove_trash(ioctx, each["id"])


METHODS = {
    "readVolume": read_volume,
    "listVolumes": list_volumes,
    "growVolume": grow_volume,
    "removeVolume": remove_volume,
    "emptyTrash": empty_trash,
}
