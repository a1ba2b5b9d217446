import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { MIB } from '@gantry/daemon/units';
import { renderBootFilesystem } from './boot-filesystem.ts';
import { ALIGNMENT, type Partition, renderPartitionTable } from './partition-table.ts';
import { runProgram } from './run-program.ts';

/** The guest finds the partition by its name. */
const PERSIST = 'gantry-persist';
const PERSIST_BYTES = 32 * MIB;
/** Fixed, so that the same input gives the same bytes. */
const PERSIST_UUID = '67616e74-7279-4000-8000-74696e790000';
const READ_BYTES = 4 * MIB;

type DiskImage = { file: string; bootFile: string; bootProgram: Buffer; target: string };

/** Writes a disk that UEFI boots and that stores the guest's data. Returns its SHA-256. */
export async function writeDiskImage(image: DiskImage): Promise<string> {
  const { file, bootFile, bootProgram, target } = image;
  const boot = renderBootFilesystem({ name: bootFile, content: bootProgram });
  const { partitions, diskBytes } = planPartitions(boot.length);
  const table = renderPartitionTable(diskBytes, partitions);
  const persist = await renderPersist(`${file}.persist`);
  const handle = await open(file, 'wx+', 0o644);
  try {
    await handle.truncate(diskBytes);
    await handle.write(table.start, 0, table.start.length, 0);
    await writeSparse(handle, boot, partitions[0]?.firstByte ?? 0);
    await writeSparse(handle, persist, partitions[1]?.firstByte ?? 0);
    await handle.write(table.end, 0, table.end.length, table.endsAt);
    const digest = await digestOf(handle, diskBytes);
    await handle.sync();
    await rename(file, target);
    await syncDirectory(path.dirname(target));
    return digest;
  } finally {
    await handle.close();
  }
}

export function planPartitions(bootBytes: number): { partitions: Partition[]; diskBytes: number } {
  const bytes = Math.ceil(bootBytes / ALIGNMENT) * ALIGNMENT;
  const partitions: Partition[] = [
    { name: 'gantry-boot', type: 'efi', firstByte: ALIGNMENT, bytes },
    { name: PERSIST, type: 'linux', firstByte: ALIGNMENT + bytes, bytes: PERSIST_BYTES },
  ];
  // The last unit contains the second copy of the partition table.
  return { partitions, diskBytes: ALIGNMENT + bytes + PERSIST_BYTES + ALIGNMENT };
}

/** An empty ext4 with a journal, because a guest may lose power at any time. */
async function renderPersist(file: string): Promise<Buffer> {
  const handle = await open(file, 'wx+');
  try {
    await handle.truncate(PERSIST_BYTES);
    const fixed = ['-U', PERSIST_UUID, '-E', `hash_seed=${PERSIST_UUID},lazy_itable_init=0`];
    const size = ['-b', '1024', '-N', '2048', '-m', '0', '-J', 'size=1'];
    await runProgram('mke2fs', [
      '-q',
      '-F',
      '-t',
      'ext4',
      '-L',
      'persist',
      ...size,
      ...fixed,
      file,
    ]);
    return await handle.readFile();
  } finally {
    await handle.close();
    await rm(file);
  }
}

/** Leaves holes instead of writing zeroes. */
async function writeSparse(handle: FileHandle, content: Buffer, at: number): Promise<void> {
  const unit = 64 * 1024;
  const empty = Buffer.alloc(unit);
  for (let start = 0; start < content.length; start += unit) {
    const piece = content.subarray(start, start + unit);
    if (empty.subarray(0, piece.length).equals(piece)) continue;
    await handle.write(piece, 0, piece.length, at + start);
  }
}

async function digestOf(handle: FileHandle, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(READ_BYTES);
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, at);
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest('hex');
}
