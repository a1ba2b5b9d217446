#!/bin/sh
# machine.sh FOLDER BASE CGROUP ARGUMENT...: boots Debian with systemd from the folder BASE. It changes nothing
# there: what the machine writes is in FOLDER/upper. It runs in its own namespaces of mounts and processes,
# so that nothing is left when the process that started it is killed, except an empty cgroup.
set -eu
folder=$1
base=$2
cgroup=$3
shift 3

mkdir -p "$folder/upper" "$folder/work" "$folder/root"
layers="lowerdir=$base,upperdir=$folder/upper,workdir=$folder/work"
# The machine is removed in the end, so its programs need not wait for the disk. Kernels before 5.10 cannot say so.
mount -t overlay overlay -o "$layers,volatile" "$folder/root" || mount -t overlay overlay -o "$layers" "$folder/root"
# systemd-nspawn needs a temporary file system here.
mount -t tmpfs tmpfs /run
mkdir /run/cgroups
mount -t cgroup2 cgroup2 /run/cgroups
mkdir -p "/run/cgroups/$cgroup"
echo 0 >"/run/cgroups/$cgroup/cgroup.procs"

exec unshare --cgroup sh -c '
umount -l /run/cgroups
umount -l /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec "$@"
' sh systemd-nspawn --quiet --directory "$folder/root" --hostname=machine --register=no --keep-unit --private-network --boot \
  --console=pipe --link-journal=no --resolv-conf=off --bind=/dev/net/tun "$@"
