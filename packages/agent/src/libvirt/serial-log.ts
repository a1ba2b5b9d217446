import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';

/** The wire's limit for one console. */
const TAIL_BYTES = 65_536;
const SUFFIX = '.log';

/**
 * The console output of guests, one file each. libvirt's virtlogd writes the files and rotates them
 * when they are full: <VM id>.log, and before it <VM id>.log.0, .log.1 and so on.
 */
export function serialLogs(directory: string) {
  const path = (vmId: string) => join(directory, `${vmId}${SUFFIX}`);

  return {
    path,
    /** virtlogd creates the files, but not their directory. */
    prepare: async () => void (await mkdir(directory, { recursive: true, mode: 0o711 })),

    async readTail(vmId: string): Promise<string> {
      const newest = await readEnd(path(vmId), TAIL_BYTES);
      const older =
        newest.length < TAIL_BYTES
          ? await readEnd(`${path(vmId)}.0`, TAIL_BYTES - newest.length)
          : Buffer.alloc(0);
      return Buffer.concat([older, newest]).toString('utf8');
    },

    async remove(vmId: string): Promise<void> {
      const names = (await unlessMissing(readdir(directory))) ?? [];
      const own = names.filter((name) => vmOfLog(name) === vmId);
      for (const name of own) await rm(join(directory, name), { force: true });
    },
  };
}

export type SerialLogFiles = ReturnType<typeof serialLogs>;

/** Returns the VM of a file; null for a file that is not a log. */
export function vmOfLog(name: string): string | null {
  return /^(.+)\.log(\.\d+)?$/.exec(name)?.[1] ?? null;
}

async function readEnd(path: string, limit: number): Promise<Buffer> {
  const file = await unlessMissing(open(path, 'r'));
  if (!file) return Buffer.alloc(0);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, limit);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
