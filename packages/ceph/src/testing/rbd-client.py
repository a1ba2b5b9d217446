"""Opens a volume, and reads and writes its first bytes as told by lines of JSON on the standard input."""

import json
import sys

import rados
import rbd

LENGTH = 4096
state = {}


def connect(request):
    conf = {"key": request["key"], "keyring": "/dev/null"} if request.get("key") else {}
    conf.update(client_mount_timeout="5", rados_mon_op_timeout="5", rados_osd_op_timeout="5")
    cluster = rados.Rados(conffile=request["configFile"], rados_id=request["user"], conf=conf)
    cluster.connect()
    state.update(cluster=cluster, ioctx=cluster.open_ioctx(request["pool"]))
    reader = request["isReader"]
    state["image"] = rbd.Image(state["ioctx"], request["name"], read_only=reader)
    if request.get("passphrase"):
        state["image"].encryption_load(rbd.RBD_ENCRYPTION_FORMAT_LUKS1, request["passphrase"])
    # "[v2:127.0.0.1:0/123,v1:...]" or "127.0.0.1:0/123"
    return cluster.get_addrs().strip("[]").split(",")[0].removeprefix("v2:").removeprefix("v1:")


def handle(request):
    if "configFile" in request:
        return connect(request)
    image = state["image"]
    if "write" in request:
        image.write(request["write"].encode().ljust(LENGTH, b"\0"), 0)
        image.flush()
    if "read" in request:
        return image.read(0, LENGTH).rstrip(b"\0").decode(errors="replace")
    if "close" in request:
        image.close()
        state["ioctx"].close()
        state["cluster"].shutdown()
    return ""


for line in sys.stdin:
    try:
        reply = {"result": handle(json.loads(line))}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
