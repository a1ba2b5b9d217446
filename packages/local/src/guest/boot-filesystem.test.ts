import { expect, test } from 'vitest';
import { renderBootFilesystem } from './boot-filesystem.ts';

test.each([0, 1, 8192, 8193, 40 * 1024 * 1024])('UEFI finds a file of %d bytes', (size) => {
  const content = Buffer.alloc(size, 'gantry ');
  const disk = renderBootFilesystem({ name: 'BOOTAA64.EFI', content });
  const found = readFile(disk, ['EFI        ', 'BOOT       ', 'BOOTAA64EFI']);
  expect(found.equals(content)).toBe(true);
});

test('the file system has a number of clusters that makes it FAT16', () => {
  for (const size of [1, 100 * 1024 * 1024]) {
    const { clusters } = readGeometry(
      renderBootFilesystem({ name: 'A.EFI', content: Buffer.alloc(size) }),
    );
    expect(clusters).toBeGreaterThanOrEqual(4085);
    expect(clusters).toBeLessThanOrEqual(65_524);
  }
});

test('a file that does not fit is refused', () => {
  const content = Buffer.alloc(513 * 1024 * 1024);
  expect(() => renderBootFilesystem({ name: 'A.EFI', content })).toThrow('too large');
});

function readGeometry(disk: Buffer) {
  const [reserved, fats, fatSectors] = [
    disk.readUInt16LE(14),
    disk.readUInt8(16),
    disk.readUInt16LE(22),
  ];
  const rootAt = (reserved + fats * fatSectors) * 512;
  const dataAt = rootAt + disk.readUInt16LE(17) * 32;
  const cluster = disk.readUInt8(13) * 512;
  const sectors = disk.readUInt16LE(19) || disk.readUInt32LE(32);
  return {
    rootAt,
    dataAt,
    cluster,
    fatAt: reserved * 512,
    clusters: (sectors * 512 - dataAt) / cluster,
  };
}

/** Follows directories and cluster chains as a driver does. */
function readFile(disk: Buffer, names: readonly string[]): Buffer {
  const { rootAt, dataAt, cluster, fatAt } = readGeometry(disk);
  const readChain = (first: number) => {
    const pieces: Buffer[] = [];
    for (let next = first; next >= 2 && next < 0xfff8; next = disk.readUInt16LE(fatAt + next * 2)) {
      const at = dataAt + (next - 2) * cluster;
      pieces.push(disk.subarray(at, at + cluster));
    }
    return Buffer.concat(pieces);
  };
  let folder = disk.subarray(rootAt, dataAt);
  for (const [index, name] of names.entries()) {
    const at = folder.indexOf(name, 0, 'latin1');
    expect(at % 32).toBe(0);
    const found = readChain(folder.readUInt16LE(at + 26));
    if (index === names.length - 1) return found.subarray(0, folder.readUInt32LE(at + 28));
    folder = found;
  }
  throw new Error('no such file');
}
