# The first process of the namespaces that private-libvirtd.ts creates.
#   private-libvirtd.sh DIRECTORY 'network'|'' [libvirtd's options]
set -eu
directory=$1 network=$2
shift 2

# /sys/class/net shows the interfaces of the network namespace it was mounted in.
if [ -n "$network" ]; then
  mount -t sysfs sysfs /sys
  ip link set lo up
fi
mkdir -p /run/libvirt
mount --bind "$directory/etc" /etc/libvirt
mount --bind "$directory/lib" /var/lib/libvirt
mount --bind "$directory/log" /var/log/libvirt
mount --bind "$directory/cache" /var/cache/libvirt
mount --bind "$directory/run" /run/libvirt
# libvirt keeps a lock file there for each open console.
mount -t tmpfs tmpfs "$(realpath /var/lock)"

# Left behind by an earlier start, whose processes have exited.
rm -f /run/libvirt/*.pid
# The daemons must not inherit the pipes, because closing those stops everything.
virtlogd --daemon --pid-file /run/libvirt/virtlogd.pid </dev/null >/dev/null
if ! libvirtd --daemon --pid-file /run/libvirt/libvirtd.pid "$@" </dev/null >/dev/null; then
  cat /var/log/libvirt/libvirtd.log >&2
  exit 1
fi
echo ready

# Waits until the pipe closes. bash reaps QEMU processes whose libvirtd has exited.
cat >/dev/null
