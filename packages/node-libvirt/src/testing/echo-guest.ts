/**
 * A guest of a few instructions for tests that need a running guest. It prints ">" on its serial
 * port and then echoes its input. It needs no firmware files, kernel or initrd, and starts in
 * milliseconds under emulation.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** For the PL011 of QEMU's "virt" machine at 0x09000000. */
const ARM64 = [
  0xd2a12001, // movz x1, #0x0900, lsl #16
  0x528007c0, // movz w0, #'>'
  0xb9000020, // str  w0, [x1]
  0xb9401822, // ldr  w2, [x1, #0x18]   the flags
  0x3727ffe2, // tbnz w2, #4, .-4       nothing received yet
  0xb9400020, // ldr  w0, [x1]
  0xb9000020, // str  w0, [x1]
  0x17fffffc, // b    .-16
];

/** A boot sector for a 16550 at 0x3f8. */
const X64 = [
  ...[0xba, 0xf8, 0x03], // mov dx, 0x3f8
  ...[0xb0, 0x3e, 0xee], // mov al, '>' and out dx, al
  ...[0xba, 0xfd, 0x03], // mov dx, 0x3fd
  ...[0xec, 0xa8, 0x01], // in al, dx and test al, 1
  ...[0x74, 0xf8], //       jz: nothing received yet
  ...[0xba, 0xf8, 0x03], // mov dx, 0x3f8
  ...[0xec, 0xee], //       in al, dx and out dx, al
  ...[0xeb, 0xf1], //       jmp to the wait
];

export type EchoGuestOptions = {
  name: string;
  /** The path of its program, which must be the same for libvirt. */
  directory: string;
  uuid?: string;
  /** More devices, as XML. */
  devices?: string;
  arch?: 'arm64' | 'x64';
};

/** Writes the guest's program and returns the XML of a domain that runs it. */
export async function writeEchoGuest(options: EchoGuestOptions): Promise<string> {
  const { name, directory, uuid, devices = '', arch = process.arch } = options;
  const path = join(directory, `${name}.bin`);
  const isArm = arch === 'arm64';
  await writeFile(path, isArm ? arm64Image() : bootDisk());
  const machine = isArm ? "arch='aarch64' machine='virt'" : "arch='x86_64' machine='q35'";
  const disk = `<disk type='file' device='disk'><driver name='qemu' type='raw'/>
      <source file='${path}'/><target dev='sda' bus='sata'/></disk>`;
  return `<domain type='qemu'>
    <name>${name}</name>
    ${uuid ? `<uuid>${uuid}</uuid>` : ''}
    <memory unit='MiB'>64</memory>
    <os><type ${machine}>hvm</type>${isArm ? `<kernel>${path}</kernel>` : ''}</os>
    <features><tcg><tb-cache unit='MiB'>32</tb-cache></tcg></features>
    ${isArm ? "<cpu mode='custom'><model>cortex-a57</model></cpu>" : ''}
    <devices>
      ${isArm ? '' : disk}
      <serial type='pty'/>
      <console type='pty'/>
      ${devices}
    </devices>
  </domain>`;
}

function arm64Image(): Buffer {
  const image = Buffer.alloc(ARM64.length * 4);
  for (const [index, word] of ARM64.entries()) image.writeUInt32LE(word, index * 4);
  return image;
}

function bootDisk(): Buffer {
  // The firmware does not read from a disk that is smaller than a cylinder.
  const disk = Buffer.alloc(1024 * 1024);
  disk.set(X64);
  disk.writeUInt16LE(0xaa55, 510);
  return disk;
}
