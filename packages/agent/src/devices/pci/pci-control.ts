import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { programRunner, type RunProgram } from '../../base/run-program.ts';

/** The kernel's switches for PCI devices, and the programs that speak to drives. */
export type PciControl = {
  /** Writes an attribute below sysfs. Fails with the kernel's word, or after the limit. */
  write(path: string, value: string, options?: { timeoutMs?: number }): Promise<void>;
  /** The first 64 bytes of a function's config space, as the device itself answers now. */
  readConfig(address: string): Promise<Buffer>;
  writeConfig(address: string, at: { offset: number; bytes: Uint8Array }): Promise<void>;
  run: RunProgram;
};

/** A driver may take its time to let go of a device; one that needs longer will never. */
const WRITE_TIMEOUT_MS = 30_000;
const CONFIG_HEADER_BYTES = 64;
export const DEVICE_FAILED = 'device_failed';

/**
 * By a process of its own for each write: a driver that does not let go holds up whoever writes for
 * good, and that must not be one of the few threads the agent has.
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
