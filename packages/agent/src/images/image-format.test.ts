import { MIB } from '@gantry/daemon/units';
import { describe, expect, it } from 'vitest';
import { parseImageFormat } from './image-format.ts';

function qcow2(change: (header: Buffer) => void = () => {}): Buffer {
  const header = Buffer.alloc(512);
  header.write('QFI\xfb', 'latin1');
  header.writeUInt32BE(3, 4);
  header.writeBigUInt64BE(BigInt(10 * MIB), 24);
  change(header);
  return header;
}

describe('the format of an image', () => {
  it('is qcow2 by its first bytes, with the size of its disk', () => {
    const found = { format: 'qcow2', virtualSizeBytes: 10 * MIB };
    expect(parseImageFormat(qcow2(), MIB)).toEqual(found);
    const second = qcow2((header) => header.writeUInt32BE(2, 4));
    expect(parseImageFormat(second, MIB)).toEqual(found);
  });

  it('is raw for everything else, with the size of its file', () => {
    const found = { format: 'raw', virtualSizeBytes: MIB };
    expect(parseImageFormat(Buffer.alloc(512), MIB)).toEqual(found);
  });

  it.each<[string, (header: Buffer) => void]>([
    ['a backing file', (header) => header.writeBigUInt64BE(512n, 8)],
    ['data in another file', (header) => header.writeBigUInt64BE(4n, 72)],
    ['encryption', (header) => header.writeUInt32BE(2, 32)],
    ['another version', (header) => header.writeUInt32BE(4, 4)],
    ['no size', (header) => header.writeBigUInt64BE(0n, 24)],
    ['an impossible size', (header) => header.writeBigUInt64BE(2n ** 63n, 24)],
  ])('qcow2 with %s is refused', (_, change) => {
    expect(() => parseImageFormat(qcow2(change), MIB)).toThrow();
  });

  it.each([8, 71, 80])('qcow2 truncated after %d bytes is refused', (length) => {
    expect(() => parseImageFormat(qcow2().subarray(0, length), length)).toThrow();
  });

  it.each(['1f8b0800', 'fd377a585a000004', '28b52ffd00', '425a6839', '4b444d56'])(
    'a file that starts with %s is not a disk',
    (start) => {
      const bytes = Buffer.alloc(512);
      Buffer.from(start, 'hex').copy(bytes);
      expect(() => parseImageFormat(bytes, MIB)).toThrow('raw or qcow2');
    },
  );

  it.each([0, 100, 513])('a file of %d bytes is not a disk', (sizeBytes) => {
    expect(() => parseImageFormat(Buffer.alloc(0), sizeBytes)).toThrow('sectors');
  });
});
