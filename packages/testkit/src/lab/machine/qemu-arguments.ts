import type { LabImage } from '../image/lab-image.ts';
import { readPlatform } from './platforms.ts';
import { type LabSlot, slotArguments } from './slots.ts';

export type Machine = {
  image: LabImage;
  slots: readonly LabSlot[];
  memoryMib: number;
  /** Returns the path of a file in the lab's directory: sockets, the console's log, drives. */
  file(name: string): string;
  /** The folder that the machine mounts as /share. */
  share: string;
  /** Additional arguments of the kernel. */
  kernelArguments: string;
  /** A device tree that replaces QEMU's own. */
  deviceTree?: string | undefined;
};

/** Returns the program and its arguments. */
export function qemuCommand(machine: Machine): [string, ...string[]] {
  const { image, slots, file, share } = machine;
  const platform = readPlatform();
  const line = `${platform.kernel} rw quiet mitigations=off ${machine.kernelArguments}`.trim();
  const { fixed, cards } = slotArguments(slots, (id) => file(`${id}.raw`));
  const socket = (id: string) => `socket,id=${id},path=${file(id)},server=on,wait=off`;
  return [
    platform.emulator,
    ...platform.machine,
    ...['-smp', '2', '-m', `${machine.memoryMib}`],
    ...['-nodefaults', '-no-user-config', '-display', 'none'],
    ...['-kernel', image.kernel, '-initrd', image.initramfs, '-append', line],
    // Writes go to an overlay that survives resets and that QEMU discards when it ends.
    ...['-drive', `if=none,id=root,file=${image.root},format=raw,snapshot=on,cache=unsafe`],
    ...['-device', 'virtio-blk-pci,drive=root', '-device', 'virtio-rng-pci'],
    ...['-netdev', 'user,id=net', '-device', 'virtio-net-pci,netdev=net,romfile='],
    ...['-fsdev', `local,id=share,path=${share},security_model=none,multidevs=remap`],
    ...['-device', 'virtio-9p-pci,fsdev=share,mount_tag=share'],
    ...['-device', 'virtio-serial-pci', '-chardev', socket('commands')],
    ...['-device', 'virtserialport,chardev=commands,name=gantry.lab'],
    ...['-chardev', `file,id=console,path=${file('console.log')}`, '-serial', 'chardev:console'],
    ...['-chardev', socket('monitor'), '-mon', 'chardev=monitor,mode=control'],
    ...fixed,
    ...(platform.plugsCardsLate ? [] : cards.flatMap((card) => ['-device', card])),
    ...(machine.deviceTree === undefined ? [] : ['-dtb', machine.deviceTree]),
  ];
}
