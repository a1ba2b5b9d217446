import { StartError } from '../base/start-error.ts';

/** The names of a guest's architecture in Debian, UEFI and Linux. */
export type Architecture = {
  /** The name in Debian. */
  debian: 'arm64' | 'amd64';
  /** The file that UEFI boots from a disk without boot entries. */
  bootFile: string;
  /** The program of systemd-boot-efi that a unified kernel image starts with. */
  stub: string;
  /** The directory of its libraries, and the path of its dynamic loader. */
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
  throw new StartError(
    `The tiny guest can be built on arm64 and x64. This machine is ${nodeName}.`,
  );
}
