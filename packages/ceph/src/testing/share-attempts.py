"""Tries one thing in a file system as a user: share-attempts.py CONFIG-FILE USER ATTEMPT ARGUMENT…"""

import sys

import cephfs

config, user, attempt, *arguments = sys.argv[1:]


def mount(path):
    fs = cephfs.LibCephFS(auth_id=user, conffile=config)
    fs.mount(mount_root=path.encode(), filesystem_name="shares")
    return fs


def list_directory(path):
    fs = mount(path)
    with fs.opendir("/") as directory:
        fs.readdir(directory)


def set_attribute(path, name, value):
    fs = mount(path)
    before = fs.getxattr("/", name)
    fs.setxattr("/", name, value.encode(), 0)
    fs.setxattr("/", name, before, 0)


def make_snapshot(path, name):
    fs = mount(path)
    fs.mkdir(f"/.snap/{name}", 0o755)
    fs.rmdir(f"/.snap/{name}")


def write_file(path, name):
    fs = mount(path)
    handle = fs.open(f"/{name}", "w", 0o644)
    fs.write(handle, b"text", 0)
    fs.fsync(handle, 0)
    fs.close(handle)
    fs.unlink(f"/{name}")


ATTEMPTS = {
    "list": list_directory,
    "set": set_attribute,
    "snapshot": make_snapshot,
    "write": write_file,
}
ATTEMPTS[attempt](*arguments)
