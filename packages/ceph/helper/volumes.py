"""Volumes.

A volume is created under another name, gets its labels and its size, and is renamed. So a volume of the final name is
always complete, and what an interrupted creation has left is removed by the next one and by the removal.
"""

import errno
import threading
from contextlib import contextmanager

import rbd

from space import need_space, open_pool

INSTALLATION = "gantry.installation"
RESOURCE = "gantry.resource"
DISCARDED = "gantry.discarded"
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


def set_labels(image, labels):
    """Replaces the labels. A clone and a copy begin with all metadata of their origin."""
    for key, _ in list(image.metadata_list()):
        if key.startswith("gantry."):
            image.metadata_remove(key)
    image.metadata_set(INSTALLATION, labels["installation"])
    image.metadata_set(RESOURCE, labels["resource"])


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
        "sizeBytes": image.size(),
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


def find_same(ioctx, name, labels):
    found = look_at(ioctx, name)
    if found is not None and found["labels"] != labels:
        raise OSError(errno.EEXIST, f"The volume {name} exists with other labels.")
    return found


def drop_unfinished(ioctx, name):
    unfinished = name + UNFINISHED
    try:
        with rbd.Image(ioctx, unfinished) as image:
            for snapshot in user_snapshots(image):
                image.remove_snap(snapshot)
        rbd.RBD().remove(ioctx, unfinished)
    except rbd.ImageNotFound:
        pass


def has_long_id(cluster, ioctx, name):
    """Tells whether the random part of the id has all its digits.

    The rights of a key are prefixes of object names. With ids of one length none is a prefix of another.
    """
    with rbd.Image(ioctx, name, read_only=True) as image:
        digits = len(f"{cluster.get_instance_id():x}") + RANDOM_DIGITS
        return len(image.id()) == min(LONGEST_ID, digits)


def finish(cluster, ioctx, volume, make, complete=lambda image: None):
    """Creates a volume with `make`, which gets the name to use, and returns it."""
    pool, name, labels = ioctx.name, volume["name"], volume["labels"]
    with one_at_a_time(pool, name):
        same = find_same(ioctx, name, labels)
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
            set_labels(image, labels)
            if volume.get("sizeBytes", 0) > image.size():
                image.resize(volume["sizeBytes"])
            complete(image)
        try:
            rbd.RBD().rename(ioctx, unfinished, name)
        except rbd.ImageExists:
            drop_unfinished(ioctx, name)
        return find_same(ioctx, name, labels)


def need_size(image, volume):
    if volume["sizeBytes"] < image.size():
        raise OSError(errno.EINVAL, f"The volume {volume['name']} would be smaller than its origin.")


def create_volume(cluster, pool, volume, snapshot):
    with open_pool(cluster, pool) as ioctx:

        def make(name):
            if volume.get("image") is None:
                rbd.RBD().create(ioctx, name, volume["sizeBytes"], old_format=False, features=FEATURES)
                return
            parent = volume["image"]
            with rbd.Image(ioctx, parent, snapshot=snapshot, read_only=True) as image:
                need_size(image, volume)
            rbd.RBD().clone(ioctx, parent, snapshot, ioctx, name, features=FEATURES)

        return finish(cluster, ioctx, volume, make)


def grow_volume(cluster, pool, name, sizeBytes):
    with open_pool(cluster, pool) as ioctx, rbd.Image(ioctx, name) as image:
        if sizeBytes < image.size():
            raise OSError(errno.EINVAL, f"The volume {name} has {image.size()} bytes and cannot shrink.")
        if sizeBytes > image.size():
            image.resize(sizeBytes, False)


def flatten_volume(cluster, pool, name):
    with open_pool(cluster, pool) as ioctx, rbd.Image(ioctx, name) as image:
        if read_parent_id(image) is not None:
            need_space(cluster, pool)
            image.flatten()


def need_unused(found, name):
    if found["watchers"]:
        raise OSError(errno.EBUSY, f"{', '.join(found['watchers'])} have the volume {name} open.")


def remove_volume(cluster, pool, name):
    with open_pool(cluster, pool) as ioctx, one_at_a_time(pool, name):
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
        rbd.RBD().trash_remove(ioctx, image_id)
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
    with open_pool(cluster, pool) as ioctx:
        for each in list(rbd.RBD().trash_list(ioctx)):
            if is_discarded(ioctx, each["id"]):
                remove_trash(ioctx, each["id"])


METHODS = {
    "createVolume": create_volume,
    "readVolume": read_volume,
    "listVolumes": list_volumes,
    "growVolume": grow_volume,
    "flattenVolume": flatten_volume,
    "removeVolume": remove_volume,
    "emptyTrash": empty_trash,
}
