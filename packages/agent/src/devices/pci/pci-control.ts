import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { programRunner, type RunProgram } from '../../base/run-program.ts';
import type { Sysfs } from '../../base/sysfs.ts';
import { DEVICE_FAILED, KernelWrites } from './kernel-writes.ts';

/** Writes to the kernel's PCI attributes, and runs the programs that control drives. */
export type PciControl = {
  /**
   * Writes an attribute in sysfs for the function at this address. Throws the kernel's error, or
   * `device_stuck` after the time limit and while an earlier write to the same card has not returned.
   */
  write(write: { path: string; value: string; address: string; timeoutMs?: number }): Promise<void>;
  /** Returns the attribute whose write to this card has not returned, or null. */
  unfinishedWrite(address: string): Promise<string | null>;
  /** Reads the first 64 bytes of a function's config space from the device itself. */
  readConfig(address: string): Promise<Buffer>;
  writeConfig(address: string, at: { offset: number; bytes: Uint8Array }): Promise<void>;
  run: RunProgram;
};

/** The host as its PCI devices need it. */
export type PciHost = { sysfs: Sysfs; control: PciControl };

/** A driver may need some time to release a device; one that needs longer may never do it. */
const WRITE_TIMEOUT_MS = 30_000;
const CONFIG_HEADER_BYTES = 64;

export function pciControl(sysfsRoot: string, procRoot = '/proc'): PciControl {
  const run = programRunner(DEVICE_FAILED);
  const writes = new KernelWrites({ sysfsRoot, procRoot });
  const configOf = (address: string) => join(sysfsRoot, 'bus/pci/devices', address, 'config');
  return {
    run,
    write: (write) => writes.write({ timeoutMs: WRITE_TIMEOUT_MS, ...write }),
    unfinishedWrite: (address) => writes.unfinishedOf(address),
    async readConfig(address) {
      const file = await open(configOf(address), 'r');
      try {
        const { buffer, bytesRead } = await file.read(
          Buffer.alloc(CONFIG_HEADER_BYTES),
          0,
          CONFIG_HEADER_BYTES,
          0,
        );
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
    async writeConfig(address, { offset, bytes }) {
      const file = await open(configOf(address), 'r+');
      try {
        await file.write(bytes, 0, bytes.length, offset);
      } finally {
        await file.close();
      }
    },
  };
}
