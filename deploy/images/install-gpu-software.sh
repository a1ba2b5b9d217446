#!/bin/sh
# Installs the GPU driver and the container toolkit from a mirror, in the guest that becomes an image.
# build-gpu-image.sh runs it in a VM. It may be repeated.
set -eu

usage() {
    echo "usage: $0 --repository 'deb [signed-by=FILE] URL SUITE COMPONENT…' … [--package NAME …]" >&2
    exit 2
}

repositories='' packages=''
while [ $# -gt 0 ]; do
    case "$1" in
        --repository) [ $# -ge 2 ] || usage; repositories="$repositories$2
"; shift 2 ;;
        --package) [ $# -ge 2 ] || usage; packages="$packages $2"; shift 2 ;;
        *) usage ;;
    esac
done
[ -n "$repositories" ] || usage
# NVIDIA's driver with the open kernel modules, and the runtime hook for containers.
: "${packages:=nvidia-open nvidia-container-toolkit}"

# apt would accept a repository without a signature if the line said so.
case "$repositories" in
    *trusted=*|*allow-insecure=*) echo "$0: a repository must be signed" >&2; exit 1 ;;
esac
printf '%s' "$repositories" > /etc/apt/sources.list.d/gantry-gpu.list

export DEBIAN_FRONTEND=noninteractive
apt-get -q update -o APT::Update::Error-Mode=any
# Kernel modules are built for the kernel of the image.
if apt-cache show "linux-headers-$(dpkg --print-architecture)" > /dev/null 2>&1; then
    packages="linux-headers-$(dpkg --print-architecture) $packages"
fi
# shellcheck disable=SC2086 # a list of names
apt-get -q -y install --no-install-recommends $packages

for package in $packages; do
    dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' "$package" | grep '^ii ' || {
        echo "$0: $package is not installed" >&2
        exit 1
    }
done

# Containers get GPUs through their runtime, if there is one.
if command -v nvidia-ctk > /dev/null && command -v dockerd > /dev/null; then
    nvidia-ctk runtime configure --runtime=docker
fi

# A VM must not inherit the identity, the logs or the package lists of this one.
apt-get -q clean
rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_* /var/lib/dbus/machine-id
: > /etc/machine-id
if command -v cloud-init > /dev/null; then cloud-init clean --logs; fi
