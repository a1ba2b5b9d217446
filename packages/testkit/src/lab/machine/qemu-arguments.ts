import type { LabImage } from '../image/lab-image.ts';
import { readPlatform } from './platforms.ts';
import { type LabSlot, rootComplexArguments, slotArguments } from './slots.ts';

/** Each of several sockets is a NUMA node with an equal part of the memory and a root complex. */
export type LabTopology = { sockets: number; coresPerSocket: number; threadsPerCore: number };

/** The folder in the lab's directory from which the firmware starts the boot loader. */
export const BOOT_VOLUME = 'boot';

export type Machine = {
  image: LabImage;
  slots: readonly LabSlot[];
  memoryMib: number;
  topology: LabTopology;
  /** Returns the path of a file in the lab's directory: sockets, the console's log, drives. */
  file(name: string): string;
  /** The folder that the machine mounts as /share. */
  share: string;
  /** A folder that the machine may mount by the tag `source`, and cannot write to. */
  source?: string | undefined;
  /** Additional arguments of the kernel. */
  kernelArguments: string;
  /** A device tree that replaces QEMU's own. */
  deviceTree?: string | undefined;
};

/** Returns the program and its arguments. */
export function qemuCommand(machine: Machine): [string, ...string[]] {
  const { image, slots, file, share, source } = machine;
  const platform = readPlatform();
  const { fixed, cards } = slotArguments(slots, (id) => file(`${id}.raw`));
  const socket = (id: string) => `socket,id=${id},path=${file(id)},server=on,wait=off`;
  return [
    platform.emulator,
    ...platform.machine,
    ...topologyArguments(machine),
    ...['-nodefaults', '-no-user-config', '-display', 'none'],
    // Writes go to an overlay that survives resets and that QEMU discards when it ends.
    ...['-drive', `if=none,id=root,file=${image.root},format=raw,snapshot=on,cache=unsafe`],
    ...['-device', 'virtio-blk-pci,drive=root,bootindex=2', '-device', 'virtio-rng-pci'],
    ...bootArguments(machine),
    ...['-netdev', 'user,id=net', '-device', 'virtio-net-pci,netdev=net,romfile='],
    ...['-fsdev', `local,id=share,path=${share},security_model=none,multidevs=remap`],
    ...['-device', 'virtio-9p-pci,fsdev=share,mount_tag=share'],
    ...(source === undefined ? [] : sourceArguments(source)),
    ...['-device', 'virtio-serial-pci', '-chardev', socket('commands')],
    ...['-device', 'virtserialport,chardev=commands,name=gantry.lab'],
    ...['-chardev', `file,id=console,path=${file('console.log')}`, '-serial', 'chardev:console'],
    ...['-chardev', socket('monitor'), '-mon', 'chardev=monitor,mode=control'],
    ...rootComplexArguments(numaNodes(machine.topology)),
    ...fixed,
    ...cards.flatMap((card) => ['-device', card]),
    ...(machine.deviceTree === undefined ? [] : ['-dtb', machine.deviceTree]),
  ];
}

function topologyArguments({ topology, memoryMib }: Machine): string[] {
  const { sockets, coresPerSocket, threadsPerCore } = topology;
  const cpus = coresPerSocket * threadsPerCore;
  const shape = `sockets=${sockets},cores=${coresPerSocket},threads=${threadsPerCore}`;
  const nodes = Array.from({ length: numaNodes(topology) }, (_, node) => [
    ...['-object', `memory-backend-ram,id=memory${node},size=${memoryMib / sockets}M`],
    ...['-numa', `node,cpus=${node * cpus}-${(node + 1) * cpus - 1},memdev=memory${node}`],
  ]);
  return ['-smp', `${sockets * cpus},${shape}`, '-m', `${memoryMib}`, ...nodes.flat()];
}

function sourceArguments(source: string): string[] {
  const folder = `path=${source},security_model=none,multidevs=remap,readonly=on`;
  return [
    ...['-fsdev', `local,id=source,${folder}`],
    ...['-device', 'virtio-9p-pci,fsdev=source,mount_tag=source'],
  ];
}

function numaNodes({ sockets }: LabTopology): number {
  return sockets > 1 ? sockets : 0;
}

/** Returns the kernel's command line. */
export function kernelLine({ kernelArguments }: Pick<Machine, 'kernelArguments'>): string {
  return `${readPlatform().kernel} rw quiet mitigations=off ${kernelArguments}`.trim();
}

function bootArguments(machine: Machine): string[] {
  const { image, file } = machine;
  if ('kernel' in image) {
    return ['-kernel', image.kernel, '-initrd', image.initramfs, '-append', kernelLine(machine)];
  }
  // QEMU presents the folder as a disk with a FAT file system. The firmware initializes only disks
  // with a boot index, so that it does not start what a tenant wrote to a drive.
  const volume = `file=fat:${file(BOOT_VOLUME)},format=raw,readonly=on`;
  return [
    ...['-bios', readPlatform().firmware, '-drive', `if=none,id=boot,${volume}`],
    ...['-device', 'virtio-blk-pci,drive=boot,bootindex=1'],
  ];
}
