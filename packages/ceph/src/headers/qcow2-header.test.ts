import { describe, expect, it } from 'vitest';
import { QCOW2_HEADER_BYTES, readQcow2Size } from './qcow2-header.ts';

function makeHeader(change: (head: Buffer) => void = () => {}): Buffer {
  const head = Buffer.alloc(QCOW2_HEADER_BYTES);
  head.writeUInt32BE(0x51_46_49_fb, 0);
  head.writeUInt32BE(3, 4);
  head.writeBigUInt64BE(1_048_576n, 24);
  change(head);
  return head;
}

describe('the header of a qcow2 file', () => {
  it('has the size of the disk', () => {
    expect(readQcow2Size('f', makeHeader())).toBe(1_048_576);
  });

  it.each<[reason: string, change: (head: Buffer) => void]>([
    ['has a backing file', (head) => head.writeBigUInt64BE(512n, 8)],
    ['has a backing file', (head) => head.writeUInt32BE(9, 16)],
    ['has its data in another file', (head) => head.writeBigUInt64BE(0b100n, 72)],
    ['has features that are not known', (head) => head.writeBigUInt64BE(1n << 40n, 72)],
    ['is encrypted', (head) => head.writeUInt32BE(2, 32)],
    ['has the unknown version 4', (head) => head.writeUInt32BE(4, 4)],
    ['is not a qcow2 file', (head) => head.writeUInt32BE(0, 0)],
  ])('is refused if it %s', (reason, change) => {
    expect(() => readQcow2Size('f', makeHeader(change))).toThrow(reason);
  });

  it('is refused if it is incomplete', () => {
    expect(() => readQcow2Size('f', makeHeader().subarray(0, 20))).toThrow('not a qcow2 file');
    expect(() => readQcow2Size('f', makeHeader().subarray(0, 80))).toThrow('incomplete');
  });
});
