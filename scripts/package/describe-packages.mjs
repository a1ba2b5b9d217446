import { NODE } from './pins.mjs';

const NODE_DEPENDENCY = [`gantry-node (>= ${NODE.version})`, 'gantry-node (<< 25)'];

/** QEMU and its firmware have other names on each architecture. */
const EMULATOR = {
  amd64: ['qemu-system-x86', 'ovmf'],
  arm64: ['qemu-system-arm', 'qemu-efi-aarch64'],
};

/** What the agent starts or reads. Older releases have virtiofsd in QEMU's own package. */
const HOST_PROGRAMS = [
  ...['libvirt-daemon-system', 'libvirt-clients', 'qemu-utils', 'nftables', 'iproute2', 'procps'],
  ...['nvme-cli', 'pciutils', 'kmod', 'virtiofsd | qemu-system-common (<< 1:8)'],
  // They limit the sizes of shared volumes.
  ...['e2fsprogs', 'quota'],
];

/**
 * The fields of each package. `architectures` are those for which it is built; `workspace` are the
 * packages of this repository that it contains, whose licences it lists.
 */
export const PACKAGES = {
  'gantry-node': {
    architectures: ['amd64', 'arm64'],
    version: NODE.version,
    date: NODE.date,
    workspace: [],
    depends: () => ['libc6 (>= 2.28)', 'libstdc++6 (>= 9)'],
    summary: 'Node.js runtime of the Gantry packages',
    description: `This is Node.js ${NODE.version}, which Gantry's programs run on. It is in
/usr/lib/gantry and does not conflict with other versions of Node.js.`,
  },
  'gantry-agent': {
    architectures: ['amd64', 'arm64'],
    workspace: ['agent'],
    depends: (architecture) => [
      ...NODE_DEPENDENCY,
      'systemd',
      ...EMULATOR[architecture],
      ...HOST_PROGRAMS,
    ],
    suggests: ['ceph-fuse', 'lvm2', 'thin-provisioning-tools'],
    summary: 'Gantry agent, which runs GPU VMs on this server',
    description: `The agent makes a server a host of a Gantry fleet. It runs VMs with libvirt
and QEMU, and passes whole GPUs and NVMe drives to them. VMs keep running
while the agent is restarted or upgraded.`,
  },
  'gantry-control-plane': {
    architectures: ['amd64', 'arm64'],
    workspace: ['api', 'scheduler', 'console'],
    // libc is for the native part of argon2.
    depends: () => [...NODE_DEPENDENCY, 'libc6 (>= 2.28)', 'systemd'],
    recommends: ['gantry', 'postgresql-client'],
    // The scheduler stores disks in a Ceph cluster with them, and converts images with qemu-utils.
    suggests: ['postgresql', 'python3-cephfs', 'python3-rados', 'python3-rbd', 'qemu-utils'],
    summary: 'Gantry API, scheduler and web console',
    description: `The control plane of Gantry turns servers with GPUs into a cloud: tenants
create VMs over HTTP, in the console or with the command line, and the
scheduler places them on hosts. It needs a PostgreSQL server, version 15 or
later, here or elsewhere, and brings the database to its schema when it
starts.`,
  },
  gantry: {
    architectures: ['all'],
    workspace: ['cli'],
    depends: () => NODE_DEPENDENCY,
    summary: 'command line of Gantry',
    description: `The program gantry creates and manages VMs, disks and networks of a Gantry
installation. Operators manage hosts with it.`,
  },
};
