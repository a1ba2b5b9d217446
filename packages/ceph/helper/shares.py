"""Shared volumes: directories of a CephFS file system, /gantry/<installation>/<name>/data.

Clients are limited to "data", and its quota and layout are set there. A share is created beside its final name and renamed,
so a directory of the final name is complete. What is being removed has another name too, so it is never taken for a share.
"""

import errno
import json
import threading

import cephfs

from progress import goes_on
from space import command, is_full
from volumes import one_at_a_time

ROOT = "gantry"
UNFINISHED = ".new"
REMOVED = ".removed"
QUOTA = "ceph.quota.max_bytes"
POOL = "ceph.dir.layout.pool"
NAMESPACE = "ceph.dir.layout.pool_namespace"

mounts = {}
mounts_lock = threading.Lock()


def find_file_system(cluster, name):
    """Returns the map of the file system. Throws if it does not exist or no metadata server serves it.

    Without a metadata server the volumes of the cluster are still usable, so that is not the error of a cluster that does
    not reply.
    """
    for each in command(cluster, "fs dump")["filesystems"]:
        found = each["mdsmap"]
        if found["fs_name"] != name:
            continue
        if not found["up"]:
            raise OSError(errno.EBUSY, f"No metadata server serves the file system {name}.")
        return found
    raise OSError(errno.ENOENT, f"There is no file system {name}.")


def mount(cluster, name):
    """Returns the file system. It stays mounted in this process, because that costs a session of the metadata server."""
    with mounts_lock:
        if name not in mounts:
            # A mount without a metadata server would wait for the time limit.
            find_file_system(cluster, name)
            made = cephfs.LibCephFS(rados_inst=cluster)
            made.mount(filesystem_name=name)
            mounts[name] = made
        return mounts[name]


def folder_of(installation):
    return f"/{ROOT}/{installation}"


def path_of(installation, name):
    return f"{folder_of(installation)}/{name}"


def data_of(path):
    return f"{path}/data"


def exists(fs, path):
    try:
        fs.stat(path)
        return True
    except cephfs.ObjectNotFound:
        return False


def read_text(fs, path, attribute):
    try:
        return fs.getxattr(path, attribute).decode()
    except cephfs.NoData:
        return ""


def each_server(cluster, fs, name, prefix, **arguments):
    """Runs a command on every active metadata server, and returns what they print."""
    ranks = sorted(each[len("mds_") :] for each in find_file_system(cluster, name)["up"])
    request = json.dumps({"prefix": prefix, "format": "json", **arguments})
    for rank in ranks:
        number, output, message = fs.mds_command(f"{name}:{rank}", request, b"")
        if number != 0:
            raise OSError(abs(number), f"{prefix}: {message or 'the metadata server refuses it'}")
        yield output


def list_clients(cluster, fs, file_system, path):
    """Returns the addresses of the clients that have mounted the directory."""
    found = set()
    for output in each_server(cluster, fs, file_system, "session ls"):
        for session in json.loads(output):
            if session["client_metadata"].get("root") == path:
                found.add(session["inst"].split(" ")[1])
    return sorted(found)


def look_at(cluster, fs, fileSystem, installation, name):
    data = data_of(path_of(installation, name))
    try:
        quota = read_text(fs, data, QUOTA)
    except cephfs.ObjectNotFound:
        return None
    return {
        "pool": read_text(fs, data, POOL),
        "namespace": read_text(fs, data, NAMESPACE),
        "path": data,
        "sizeBytes": int(quota or 0),
        "watchers": list_clients(cluster, fs, fileSystem, data),
    }


def read_share(cluster, fileSystem, installation, name):
    return look_at(cluster, mount(cluster, fileSystem), fileSystem, installation, name)


def list_shares(cluster, fileSystem, installation):
    fs = mount(cluster, fileSystem)
    folder = folder_of(installation)
    names = [name for name, _ in entries(fs, folder)] if exists(fs, folder) else []
    return [name for name in names if not name.endswith((UNFINISHED, REMOVED))]


def create_share(cluster, fileSystem, pool, installation, name, namespace, sizeBytes):
    fs = mount(cluster, fileSystem)
    with one_at_a_time(fileSystem, name):
        return ensure_share(cluster, fs, fileSystem, pool, installation, name, namespace, sizeBytes)


def ensure_share(cluster, fs, fileSystem, pool, installation, name, namespace, sizeBytes):
    found = look_at(cluster, fs, fileSystem, installation, name)
    if found is not None:
        if found["pool"] != pool:
            raise OSError(errno.EEXIST, f"The share {name} is in the pool {found['pool']}.")
        return found
    need_data_pool(cluster, fileSystem, pool)
    if is_full(cluster, pool):
        raise OSError(errno.ENOSPC, f"The pool {pool} is full.")
    path = path_of(installation, name)
    unfinished = path + UNFINISHED
    remove_tree(fs, unfinished)
    data = data_of(unfinished)
    fs.mkdirs(data, 0o755)
    # Independent of the umask: the guests decide what their users may do.
    fs.chmod(data, 0o755)
    fs.setxattr(data, POOL, pool.encode(), 0)
    fs.setxattr(data, NAMESPACE, namespace.encode(), 0)
    fs.setxattr(data, QUOTA, str(sizeBytes).encode(), 0)
    try:
        fs.rename(unfinished, path)
    except (cephfs.ObjectExists, cephfs.ObjectNotFound, cephfs.ObjectNotEmpty):
        # Another process was faster, which the next look shows.
        pass
    made = look_at(cluster, fs, fileSystem, installation, name)
    if made is None:
        raise OSError(errno.EBUSY, f"Another process is creating the share {name}.")
    return made


def need_data_pool(cluster, file_system, pool):
    if cluster.pool_lookup(pool) not in find_file_system(cluster, file_system)["data_pools"]:
        text = f"The pool {pool} is no data pool of {file_system}: ceph fs add_data_pool {file_system} {pool}"
        raise OSError(errno.ENOENT, text)


def grow_share(cluster, fileSystem, installation, name, sizeBytes):
    fs = mount(cluster, fileSystem)
    data = data_of(path_of(installation, name))
    size = int(read_text(fs, data, QUOTA) or 0)
    if sizeBytes < size:
        raise OSError(errno.EINVAL, f"The share {name} has {size} bytes and cannot shrink.")
    if sizeBytes > size:
        fs.setxattr(data, QUOTA, str(sizeBytes).encode(), 0)


def remove_share(cluster, fileSystem, installation, name):
    """Removes a share with its data. An interrupted removal is completed by the next one."""
    fs = mount(cluster, fileSystem)
    path = path_of(installation, name)
    with one_at_a_time(fileSystem, name):
        remove_tree(fs, path + UNFINISHED)
        remove_tree(fs, path + REMOVED)
        if exists(fs, path):
            retire(cluster, fs, fileSystem, path, name)
            remove_tree(fs, path + REMOVED)


def retire(cluster, fs, fileSystem, path, name):
    clients = list_clients(cluster, fs, fileSystem, data_of(path))
    if clients:
        raise OSError(errno.EBUSY, f"{', '.join(clients)} have the share {name} mounted.")
    fs.rename(path, path + REMOVED)


def entries(fs, path):
    """Returns the entries of a directory as (name, whether it is a directory)."""
    found = []
    handle = fs.opendir(path)
    try:
        entry = fs.readdir(handle)
        while entry:
            name = entry.d_name.decode(errors="surrogateescape")
            if name not in (".", ".."):
                found.append((name, entry.is_dir()))
            entry = fs.readdir(handle)
    finally:
        fs.closedir(handle)
    return found


def remove_tree(fs, top):
    """Removes a directory with everything in it. Guests nest directories deeper than Python's stack allows."""
    if not exists(fs, top):
        return
    left = [os_path(top)]
    note = goes_on()
    while left:
        path = left[-1]
        below = []
        for name, is_directory in entries(fs, path):
            note()
            child = path + b"/" + os_path(name)
            if is_directory:
                below.append(child)
            else:
                fs.unlink(child)
        if below:
            left.extend(below)
        else:
            fs.rmdir(path)
            left.pop()


def os_path(text):
    """Guests may use names that are not UTF-8."""
    return text.encode(errors="surrogateescape")


def spread_fences(cluster, fileSystem):
    """Returns when every metadata server has the newest map with the fences, so that it has ended fenced sessions."""
    fs = mount(cluster, fileSystem)
    epoch = command(cluster, "osd dump")["epoch"]
    for _ in each_server(cluster, fs, fileSystem, "osdmap barrier", target_epoch=epoch):
        pass


METHODS = {
    "readShare": read_share,
    "listShares": list_shares,
    "createShare": create_share,
    "growShare": grow_share,
    "removeShare": remove_share,
    "spreadFences": spread_fences,
}
