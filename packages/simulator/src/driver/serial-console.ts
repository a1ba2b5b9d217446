import type { VmSpec } from '@gantry/agent/spec';

/** The size of the log that a host keeps of one console. */
const LIMIT = 65_536;

export function bootLines(vm: VmSpec): string {
  const host = vm.name || vm.id;
  const gpus = vm.devices
    .filter(({ kind }) => kind === 'gpu')
    .map(
      (_gpu, index) => `[    1.${310 + index}] pci 0000:0${index + 1}:00.0: [10de] 3D controller`,
    );
  const disks = vm.disks.map(
    (disk, index) =>
      `[    1.${520 + index}] virtio_blk: vd${String.fromCharCode(97 + index)} ${disk.sizeBytes} bytes, serial ${disk.serialNumber}`,
  );
  return [
    'UEFI firmware (version gantry-sim)',
    `[    0.000000] Linux version 6.8.0 (simulated) ${vm.cpuCores} CPUs, ${vm.memoryMib} MiB`,
    ...gpus,
    ...disks,
    '[    3.204] cloud-init: modules:final',
    `${host} login: `,
    '',
  ].join('\n');
}

export function addLines(log: string, lines: string): string {
  return (log + lines).slice(-LIMIT);
}
