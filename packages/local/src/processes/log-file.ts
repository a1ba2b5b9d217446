import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { MIB } from '@gantry/daemon/units';

const LIMIT_BYTES = 20 * MIB;

/**
 * Keeps a log below its limit by moving it to ".1". Its writers keep the file open in append mode,
 * some of them through several of our lives, so the text is copied and the file emptied in place: a
 * line written in between is lost, and a renamed file would go on growing out of sight.
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

/** The end of a log, at most `bytes` of it, and nothing before `from`. */
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
