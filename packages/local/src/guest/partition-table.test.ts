import { crc32 } from 'node:zlib';
import { MIB } from '@gantry/daemon/units';
import { expect, test } from 'vitest';
import { planPartitions } from './disk-image.ts';
import { renderPartitionTable } from './partition-table.ts';

const { partitions, diskBytes } = planPartitions(5 * MIB + 1);
const { start, end, endsAt } = renderPartitionTable(diskBytes, partitions);

test('partitions are aligned and contiguous, and leave room for both copies of the table', () => {
  expect(partitions.map(({ firstByte, bytes }) => [firstByte / MIB, bytes / MIB])).toEqual([
    [1, 6],
    [7, 32],
  ]);
  expect(diskBytes).toBe(40 * MIB);
  expect(endsAt + end.length).toBe(diskBytes);
});

test('each copy has valid checksums and the position of the other copy', () => {
  const last = diskBytes / 512 - 1;
  const [first, second] = [start.subarray(512, 1024), end.subarray(-512)];
  for (const header of [first, second]) {
    expect(header.toString('latin1', 0, 8)).toBe('EFI PART');
    const unsigned = Buffer.from(header.subarray(0, 92));
    unsigned.writeUInt32LE(0, 16);
    expect(header.readUInt32LE(16)).toBe(crc32(unsigned));
    expect(header.readUInt32LE(88)).toBe(crc32(start.subarray(1024)));
  }
  const places = [first, second].map((header) => [24, 32].map((at) => header.readBigUInt64LE(at)));
  expect(places).toEqual([
    [1n, BigInt(last)],
    [BigInt(last), 1n],
  ]);
  expect(second.readBigUInt64LE(72)).toBe(BigInt(endsAt / 512));
});

test('the guest finds its partition by name', () => {
  const entry = start.subarray(1024 + 128, 1024 + 256);
  expect(entry.toString('utf16le', 56).replaceAll('\0', '')).toBe('gantry-persist');
});
