import { fail, ok, warn } from '../base/finding.ts';
import type { Check } from './doctor-host.ts';

export const checkNftables: Check = async ({ run }) => {
  try {
    await run('nft', ['list', 'tables']);
    return [ok('nftables', 'works')];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fail('nftables', reason, 'apt-get install nftables; the kernel needs nf_tables')];
  }
};

/** With it, other programs' filters also apply to guests' packets. */
export const checkBridgeFilter: Check = async ({ files }) => {
  const isOn = (await files.integer('proc/sys/net/bridge/bridge-nf-call-iptables')) === 1;
  if (!isOn) return [ok('bridge filter', 'off')];
  return [
    warn(
      'bridge filter',
      'br_netfilter is on: rules of other programs, such as Docker, may drop packets of guests',
      'do not run them on this host, or set net.bridge.bridge-nf-call-iptables=0',
    ),
  ];
};

/**
 * Asks every name server that guests get. The host asks from its own address; a server that replies
 * only to some networks may still refuse guests.
 */
export const checkNameServers: Check = async ({ readNameServers, askNameServer, settings }) => {
  if (settings.uplink === undefined) return [];
  const servers = await readNameServers();
  if (servers.length === 0) {
    const found = 'none: guests resolve no names; the host itself names only loopback or IPv6 ones';
    return [fail('name servers', found, 'list some in GANTRY_NAMESERVERS')];
  }
  const problems = await Promise.all(servers.map(askNameServer));
  const broken = servers.flatMap((server, index) => {
    const problem = problems[index];
    return typeof problem === 'string' ? [`${server}: ${problem}`] : [];
  });
  if (broken.length === 0) return [ok('name servers', servers.join(', '))];
  const severity = broken.length === servers.length ? fail : warn;
  return [severity('name servers', broken.join('; '), 'list others in GANTRY_NAMESERVERS')];
};

export const checkUplink: Check = async ({ sysfs, settings: { uplink } }) => {
  if (uplink === undefined) {
    return [
      warn('uplink', 'none: guests reach only each other', 'name an interface in GANTRY_UPLINK'),
    ];
  }
  const state = await sysfs.text(`class/net/${uplink}/operstate`);
  if (state === undefined) {
    return [
      fail('uplink', `there is no interface ${uplink}`, 'set GANTRY_UPLINK to one that is there'),
    ];
  }
  if (state === 'down' || state === 'lowerlayerdown') {
    return [fail('uplink', `${uplink} is down`, `ip link set ${uplink} up, and see to its cable`)];
  }
  return [ok('uplink', `${uplink} is ${state}`)];
};

/** Below the roots where distributions put QEMU's modules. */
const MODULES = [
  'usr/lib/x86_64-linux-gnu/qemu/block-rbd.so',
  'usr/lib/aarch64-linux-gnu/qemu/block-rbd.so',
  'usr/lib/qemu/block-rbd.so',
  'usr/lib64/qemu-kvm/block-rbd.so',
];
const CEPH_FUSE = 'usr/bin/ceph-fuse';
const PROFILE = 'etc/apparmor.d/abstractions/libvirt-qemu';

/** Whether the host can open volumes of storage clusters, if it is set up for them. */
export const checkStorageNetwork: Check = async ({ settings, files, readAddresses }) => {
  const { storageAddress } = settings;
  if (storageAddress === undefined) {
    return [ok('storage network', 'none: this host gets no VMs with volumes of a storage cluster')];
  }
  if (!readAddresses().includes(storageAddress)) {
    const found = `no interface of this host has ${storageAddress}`;
    const advice = 'set GANTRY_STORAGE_ADDRESS to the address from which it reaches the cluster';
    return [fail('storage network', found, advice)];
  }
  const found = await Promise.all(MODULES.map((path) => files.exists(path)));
  if (!found.includes(true)) {
    const missing = 'QEMU cannot open volumes of Ceph: block-rbd.so is missing';
    return [fail('storage network', missing, 'apt-get install qemu-block-extra')];
  }
  const profile = await files.text(PROFILE);
  if (profile !== undefined && !profile.includes('/etc/ceph/*.conf')) {
    const denied = 'the AppArmor profile of VMs does not let QEMU read /etc/ceph/gantry.conf';
    const advice = 'add "/etc/ceph/*.conf r," to /etc/apparmor.d/abstractions/libvirt-qemu';
    return [warn('storage network', denied, advice)];
  }
  if (!(await files.exists(CEPH_FUSE))) {
    const missing = `${storageAddress}; this host cannot mount shared volumes: ceph-fuse is missing`;
    return [
      warn('storage network', missing, 'apt-get install ceph-fuse, if VMs have such volumes'),
    ];
  }
  return [ok('storage network', `${storageAddress}; QEMU can open volumes of Ceph`)];
};
