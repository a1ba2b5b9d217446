import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { MIB } from '@gantry/daemon/units';

const LIMIT_BYTES = 20 * MIB;

/**
 * Limits the size of a log: copies it to ".1" and truncates it. The file cannot be renamed, because
 * its writers keep it open in append mode, and some of them outlive the launcher: they would
 * continue to write to the renamed file. A line that is written between the copy and the
 * truncation is lost.
 */
export async function boundLog(file: string, limitBytes = LIMIT_BYTES): Promise<void> {
  const size = await stat(file).then(
    (info) => info.size,
    () => 0,
  );
  if (size <= limitBytes) return;
  await copyFile(file, `${file}.1`);
  await truncate(file);
}

type Tail = { from?: number; bytes?: number };

/** Returns the end of a log: at most `bytes`, and nothing before the offset `from`. */
export async function readTail(file: string, { from = 0, bytes = 16_384 }: Tail): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const start = Math.max(size - bytes, from <= size ? from : 0);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), {
      position: start,
    });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
