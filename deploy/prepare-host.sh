#!/bin/sh
# Prepares a Debian or Ubuntu machine to be a host: installs what the agent needs to run VMs, and
# loads vfio-pci at every boot. It does not change the kernel command line or the BIOS, and installs
# no units: `gantry-agent doctor` reports what to set there.
#
#   prepare-host.sh             as root: installs what is missing, then checks
#   prepare-host.sh --check     changes nothing; prints what is missing, and exits 1 if anything is
#   prepare-host.sh --with-lvm  also installs what disks on LVM need
#
# It can be repeated. It starts services if systemd runs; otherwise you start them.
set -eu

MODULES_FILE=/etc/modules-load.d/gantry.conf
LEAST_LIBVIRT=8.0.0
LEAST_QEMU=6.2.0

check_only=no
with_lvm=no
for argument in "$@"; do
  case "$argument" in
    --check) check_only=yes ;;
    --with-lvm) with_lvm=yes ;;
    *)
      sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This machine has no apt. Gantry's hosts are Debian or Ubuntu." >&2
  exit 1
fi

architecture=$(dpkg --print-architecture)
case "$architecture" in
  arm64)
    emulator=/usr/bin/qemu-system-aarch64
    emulator_package=qemu-system-arm
    firmware=/usr/share/AAVMF/AAVMF_CODE.fd
    firmware_package=qemu-efi-aarch64
    ;;
  amd64)
    emulator=/usr/bin/qemu-system-x86_64
    emulator_package=qemu-system-x86
    firmware=/usr/share/OVMF/OVMF_CODE_4M.fd
    firmware_package=ovmf
    ;;
  *)
    echo "Gantry's hosts are arm64 or amd64; this machine is $architecture." >&2
    exit 1
    ;;
esac

# PACKAGE FILE... : prints the package unless one of the files exists.
need() {
  package=$1
  shift
  for file in "$@"; do
    [ -e "$file" ] && return
  done
  echo "$package"
}

missing_packages() {
  need libvirt-daemon-system /usr/sbin/libvirtd
  need libvirt-clients /usr/bin/virsh
  need "$emulator_package" "$emulator"
  need "$firmware_package" "$firmware"
  need qemu-utils /usr/bin/qemu-img
  need nftables /usr/sbin/nft
  need iproute2 /sbin/ip /usr/sbin/ip /bin/ip
  need procps /sbin/sysctl /usr/sbin/sysctl
  # nvme-cli erases drives and reads their wear; pciutils has the names of PCI devices.
  need nvme-cli /usr/sbin/nvme /sbin/nvme
  need pciutils /usr/bin/lspci /sbin/lspci
  # They limit the sizes of shared volumes.
  need quota /usr/sbin/setquota
  need e2fsprogs /usr/bin/chattr
  # In older releases virtiofsd is part of QEMU's own package.
  if apt-cache show virtiofsd >/dev/null 2>&1; then
    need virtiofsd /usr/libexec/virtiofsd /usr/lib/qemu/virtiofsd
  fi
  if [ "$with_lvm" = yes ]; then
    need lvm2 /sbin/lvm /usr/sbin/lvm
    need thin-provisioning-tools /usr/sbin/thin_check
  fi
}

# NAME FOUND LEAST : prints a problem if the version that was found is older.
require_version() {
  if [ -z "$2" ]; then
    echo "The version of $1 cannot be read."
  elif dpkg --compare-versions "$2" lt "$3"; then
    echo "$1 is $2; at least $3 is needed: use a newer release of Debian or Ubuntu."
  fi
}

version_in() {
  sed -n 's/^[^0-9]*\([0-9]\{1,\}\.[0-9]\{1,\}\.[0-9]\{1,\}\).*/\1/p' | head -n 1
}

problems() {
  for package in $(missing_packages); do echo "missing: $package"; done
  if [ -x /usr/sbin/libvirtd ]; then
    require_version libvirt "$(/usr/sbin/libvirtd --version | version_in)" "$LEAST_LIBVIRT"
  fi
  if [ -x "$emulator" ]; then
    require_version QEMU "$("$emulator" --version | version_in)" "$LEAST_QEMU"
  fi
}

notes() {
  if [ ! -e /dev/kvm ]; then
    echo "note: no /dev/kvm: the agent does not start, unless GANTRY_ACCELERATOR=tcg allows emulated VMs, which are slow."
  fi
  if [ -z "$(ls /sys/kernel/iommu_groups 2>/dev/null)" ]; then
    echo "note: no IOMMU: GPUs and drives cannot be given to VMs. Turn it on in the firmware and the kernel."
  fi
  if [ ! -e "$MODULES_FILE" ]; then
    echo "note: no $MODULES_FILE: vfio-pci is not loaded at boot. Without --check this script writes it."
  elif [ ! -d /sys/bus/pci/drivers/vfio-pci ]; then
    echo "note: vfio-pci is not loaded and could not be: GPUs and drives cannot be given to VMs."
  fi
}

# Makes cards available for VMs right after a boot.
load_vfio() {
  if [ "$(cat "$MODULES_FILE" 2>/dev/null)" != vfio-pci ]; then
    echo "+ write $MODULES_FILE"
    mkdir -p "$(dirname "$MODULES_FILE")"
    echo vfio-pci >"$MODULES_FILE.new"
    mv "$MODULES_FILE.new" "$MODULES_FILE"
  fi
  # If it cannot be loaded, the notes report it.
  modprobe vfio-pci 2>/dev/null || true
}

if [ "$check_only" = no ]; then
  if [ "$(id -u)" -ne 0 ]; then
    echo "Installing needs root. Use --check to only look." >&2
    exit 1
  fi
  wanted=$(missing_packages)
  if [ -n "$wanted" ]; then
    echo "+ apt-get update"
    apt-get -q update
    # The update may have changed which packages exist.
    wanted=$(missing_packages)
    # One word per package.
    # shellcheck disable=SC2086
    set -- $wanted
    echo "+ apt-get install $*"
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@"
  fi
  load_vfio
  if [ -d /run/systemd/system ]; then
    echo "+ systemctl enable --now libvirtd"
    systemctl enable --now libvirtd
  else
    echo "note: no systemd here: start virtlogd and libvirtd before the agent."
  fi
fi

found=$(problems)
[ -z "$found" ] || echo "$found"
notes
[ -z "$found" ] || exit 1
echo "This machine can be a host."
