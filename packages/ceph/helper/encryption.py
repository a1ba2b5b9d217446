"""Encrypted volumes.

An encrypted volume begins with a header of LUKS 1, which has its key, encrypted with a passphrase. What follows is
encrypted. QEMU decrypts it on hosts; here librbd does. Sizes of volumes are those of what follows the header.
"""

import base64

import rbd

# Says that a volume is encrypted, because a client without the passphrase sees nothing but bytes.
ENCRYPTION = "gantry.encryption"
LUKS = "luks1"
HEADER_BYTES = 4 * 1024 * 1024


def is_encrypted(image):
    try:
        return image.metadata_get(ENCRYPTION) == LUKS
    except KeyError:
        return False


def header_bytes(image):
    return HEADER_BYTES if is_encrypted(image) else 0


def size_with_header(volume):
    return volume["sizeBytes"] + (HEADER_BYTES if "encryption" in volume else 0)


def write_header(ioctx, name, volume):
    with rbd.Image(ioctx, name) as image:
        image.write(base64.b64decode(volume["encryption"]["header"]), 0)
        image.flush()


def load(image, passphrase):
    """Makes the volume decrypted for this client. Throws a permission error if the passphrase does not open it."""
    image.encryption_load(rbd.RBD_ENCRYPTION_FORMAT_LUKS1, passphrase)


def need_passphrase(ioctx, name, volume):
    """Throws unless the passphrase opens the volume."""
    if "encryption" in volume:
        with rbd.Image(ioctx, name, read_only=True) as image:
            load(image, volume["encryption"]["passphrase"])
