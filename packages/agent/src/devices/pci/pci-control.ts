import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { programRunner, type RunProgram } from '../../base/run-program.ts';
import type { Sysfs } from '../../base/sysfs.ts';

/** Writes to the kernel's PCI attributes, and runs the programs that control drives. */
export type PciControl = {
  /** Writes an attribute in sysfs. Throws the kernel's error, or after the time limit. */
  write(path: string, value: string, options?: { timeoutMs?: number }): Promise<void>;
  /** Reads the first 64 bytes of a function's config space from the device itself. */
  readConfig(address: string): Promise<Buffer>;
  writeConfig(address: string, at: { offset: number; bytes: Uint8Array }): Promise<void>;
  run: RunProgram;
};

/** The host as its PCI devices need it. */
export type PciHost = { sysfs: Sysfs; control: PciControl };

/** A driver may need some time to release a device; one that needs longer never will. */
const WRITE_TIMEOUT_MS = 30_000;
const CONFIG_HEADER_BYTES = 64;
export const DEVICE_FAILED = 'device_failed';

/**
 * Each write has its own process, because a driver that never releases its device blocks the writer
 * for ever, and that must not be one of the agent's few threads.
 */
export function pciControl(sysfsRoot: string): PciControl {
  const run = programRunner(DEVICE_FAILED);
  const configOf = (address: string) => join(sysfsRoot, 'bus/pci/devices', address, 'config');
  return {
    run,
    async write(path, value, { timeoutMs = WRITE_TIMEOUT_MS } = {}) {
      await run('tee', [join(sysfsRoot, path)], { input: value, timeoutMs });
    },
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
