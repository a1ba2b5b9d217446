#!/bin/sh
# Usage: unshare --mount --uts --net --pid --fork boot-twice.sh FIRST-SEED SECOND-SEED RESULTS MAC
#
# Runs every stage of the installed cloud-init for a first and a second boot, on a copy-on-write view
# of this machine's root that ends with the namespaces, and keeps in RESULTS what each boot made. The
# configuration stands for an image's own; modules that would look for disks to grow are left out.
set -e
first=$1 second=$2 results=$3 mac=$4

mount --make-rprivate /
layers=$results/layers
mkdir "$layers"
mount -t tmpfs none "$layers"
mkdir "$layers/upper" "$layers/work" "$layers/root"
root=$layers/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/run"
ip link add ens9 address "$mac" type veth peer name outside

rm -rf "$root/var/lib/cloud" "$root/var/lib/gantry" "$root"/etc/cloud/cloud.cfg.d/*
mkdir -p "$root/var/lib/cloud/seed"
cat > "$root/etc/cloud/cloud.cfg" <<'CONFIG'
datasource_list: [NoCloud]
users: [default]
disable_root: true
cloud_init_modules: [write-files, set_hostname, update_hostname, update_etc_hosts, users-groups, ssh]
cloud_config_modules: [runcmd]
cloud_final_modules: [scripts-vendor, scripts-user]
system_info:
  distro: debian
  default_user: { name: debian, lock_passwd: true, shell: /bin/sh }
  network: { renderers: [networkd] }
CONFIG

boot() {
  rm -rf "$root/var/lib/cloud/seed/nocloud" "$root/run/cloud-init"
  cp -r "$1" "$root/var/lib/cloud/seed/nocloud"
  mkdir "$2"
  for stage in 'init --local' init 'modules --mode=config' 'modules --mode=final'; do
    # The last stage fails where the startup script did; what matters is what the boot left.
    # shellcheck disable=SC2086 # a stage is several words
    chroot "$root" cloud-init $stage < /dev/null >> "$2/output" 2>&1 || true
  done
  hostname > "$2/hostname"
  ip -o link show > "$2/links"
  cp "$root/etc/systemd/network/10-cloud-init-eth0.network" "$2/network"
  cp "$root/run/cloud-init/result.json" "$2/result"
  cp "$root/var/log/gantry-startup.log" "$2/startup-log"
  cp "$root/root/.ssh/authorized_keys" "$2/root-keys"
  # User data decides whether these exist.
  [ ! -e "$root/home/debian" ] || cp "$root/home/debian/.ssh/authorized_keys" "$2/user-keys"
  [ ! -e "$root/root/of-tenant" ] || cp "$root/root/of-tenant" "$2/of-tenant"
}

boot "$first" "$results/first"
boot "$second" "$results/second"

readlink "$root/etc/systemd/system/multi-user.target.wants/gantry-shutdown.service" > "$results/unit"
chroot "$root" /bin/sh /var/lib/gantry/run-script shutdown > "$results/shutdown-console"
cp "$root/var/log/gantry-shutdown.log" "$results/shutdown-log"
chroot "$root" systemd-analyze verify --man=no gantry-shutdown.service multi-user.target > "$results/verify" 2>&1 ||
  echo "status $?" >> "$results/verify"
