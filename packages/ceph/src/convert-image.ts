import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecError, exec } from '@gantry/daemon/exec';
import { GIB } from '@gantry/daemon/units';
import { QCOW2_HEADER_BYTES, readQcow2Size } from './qcow2-header.ts';
import { StorageError } from './storage-error.ts';

const CPU_SECONDS = 3600;
const MEMORY_BYTES = 2 * GIB;
const LARGEST_DISK_BYTES = 16_384 * GIB;
const WALL_MS = 2 * 3600_000;

/**
 * Calls `work` with a raw file of the image's content, which is removed afterwards unless it is the image itself.
 *
 * An image file may be hostile. The header is checked before QEMU's program sees the file, and the program has limits of
 * processor time, memory, file size and time.
 */
export async function withRawFile<Result>(
  { file, format, directory = tmpdir() }: { file: string; format: 'raw' | 'qcow2'; directory?: string },
  work: (raw: string) => Promise<Result>,
): Promise<Result> {
  const source = path.resolve(file);
  const head = await readHead(source);
  if (format === 'raw') return work(source);
  const sizeBytes = readQcow2Size(source, head);
  if (sizeBytes === 0 || sizeBytes > LARGEST_DISK_BYTES)
    throw new StorageError('failed', `The image file ${file} has a disk of ${sizeBytes} bytes.`);
  const scratch = await mkdtemp(path.join(directory, 'gantry-image-'));
  try {
    const raw = path.join(scratch, 'raw');
    await runQemuImg(sizeBytes, ['convert', '-f', 'qcow2', '-O', 'raw', source, raw]);
    return await work(raw);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function readHead(file: string): Promise<Buffer> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(QCOW2_HEADER_BYTES), 0, QCOW2_HEADER_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw new StorageError('failed', `The image file ${file} cannot be read.`, { cause });
  }
}

async function runQemuImg(sizeBytes: number, args: readonly string[]): Promise<void> {
  const limits = [`--cpu=${CPU_SECONDS}`, `--as=${MEMORY_BYTES}`, `--fsize=${sizeBytes + GIB}`, '--core=0'];
  try {
    await exec('prlimit', [...limits, 'qemu-img', ...args], { timeoutMs: WALL_MS });
  } catch (cause) {
    const reason = cause instanceof ExecError ? cause.stderr.split('\n').at(-1) || cause.reason : 'failed';
    throw new StorageError('failed', `The image file could not be converted: ${reason}`, { cause });
  }
}
