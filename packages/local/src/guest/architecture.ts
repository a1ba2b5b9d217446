import { StartError } from '../base/start-error.ts';

/** What a guest's architecture is called by those who build and boot it. */
export type Architecture = {
  /** Debian's name. */
  debian: 'arm64' | 'amd64';
  /** Where UEFI looks on a disk nobody has told it about. */
  bootFile: string;
  /** Of systemd-boot-efi: the program in front of a unified kernel image. */
  stub: string;
  /** Where its libraries are, and what programs name as their loader. */
  libraries: string;
  loader: string;
  /** The first serial port. */
  console: string;
};

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  arm64: {
    debian: 'arm64',
    bootFile: 'BOOTAA64.EFI',
    stub: 'linuxaa64.efi.stub',
    libraries: 'usr/lib/aarch64-linux-gnu',
    loader: 'usr/lib/ld-linux-aarch64.so.1',
    console: 'ttyAMA0',
  },
  x64: {
    debian: 'amd64',
    bootFile: 'BOOTX64.EFI',
    stub: 'linuxx64.efi.stub',
    libraries: 'usr/lib/x86_64-linux-gnu',
    loader: 'usr/lib64/ld-linux-x86-64.so.2',
    console: 'ttyS0',
  },
};

export function readArchitecture(nodeName: string = process.arch): Architecture {
  const found = ARCHITECTURES[nodeName];
  if (found) return found;
  throw new StartError(`The tiny guest is built on arm64 and x64; this machine is ${nodeName}.`);
}
