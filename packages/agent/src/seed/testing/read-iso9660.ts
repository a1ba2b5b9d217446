/**
 * Reads images according to ECMA-119, Joliet and Rock Ridge, independently of the code that writes
 * them.
 */
export type ReadTree = { label: string; files: { name: string; content: Buffer }[] };
export type ReadImage = { primary: ReadTree; joliet: ReadTree; sectors: number };

const SECTOR = 2048;

export function readIso9660(image: Buffer): ReadImage {
  const descriptors = new Map<number, Buffer>();
  for (let sector = 16; ; sector += 1) {
    const descriptor = image.subarray(sector * SECTOR, (sector + 1) * SECTOR);
    const type = descriptor.readUInt8(0);
    if (descriptor.toString('latin1', 1, 6) !== 'CD001') throw new Error(`no descriptor ${sector}`);
    if (type === 255) break;
    descriptors.set(type, descriptor);
  }
  const primary = descriptors.get(1);
  const joliet = descriptors.get(2);
  if (!primary || !joliet) throw new Error('a descriptor is missing');
  if (joliet.toString('latin1', 88, 91) !== '%/E') throw new Error('the second is not Joliet');
  return {
    primary: {
      label: primary.toString('latin1', 40, 72).trimEnd(),
      files: readDirectory(image, primary).map((record) => ({
        name: rockRidgeName(record.systemUse),
        content: record.content,
      })),
    },
    joliet: {
      label: bigEndianText(joliet.subarray(40, 72)).trimEnd(),
      files: readDirectory(image, joliet).map(({ identifier, content }) => ({
        name: bigEndianText(identifier),
        content,
      })),
    },
    sectors: readBoth32(primary, 80),
  };
}

type DirectoryRecord = { identifier: Buffer; systemUse: Buffer; content: Buffer };

function readDirectory(image: Buffer, descriptor: Buffer): DirectoryRecord[] {
  const [first = Buffer.alloc(0)] = readRecords(contentOf(image, descriptor.subarray(156, 190)));
  const directory = contentOf(image, first);
  checkPathTables(image, descriptor);
  return readRecords(directory)
    .slice(2)
    .map((record) => {
      const length = record.readUInt8(32);
      const identifier = record.subarray(33, 33 + length);
      const systemUse = record.subarray(33 + length + (length % 2 === 0 ? 1 : 0));
      return { identifier, systemUse, content: contentOf(image, record) };
    });
}

function readRecords(directory: Buffer): Buffer[] {
  const records: Buffer[] = [];
  let at = 0;
  while (at < directory.length) {
    const length = directory.readUInt8(at);
    if (length === 0) {
      at = (Math.floor(at / SECTOR) + 1) * SECTOR;
      continue;
    }
    if (Math.floor(at / SECTOR) !== Math.floor((at + length - 1) / SECTOR)) {
      throw new Error('a record crosses a sector');
    }
    records.push(directory.subarray(at, at + length));
    at += length;
  }
  return records;
}

/** Both tables must name the same root as the descriptor. */
function checkPathTables(image: Buffer, descriptor: Buffer): void {
  const root = readBoth32(descriptor, 158);
  const little = image.readUInt32LE(descriptor.readUInt32LE(140) * SECTOR + 2);
  const big = image.readUInt32BE(descriptor.readUInt32BE(148) * SECTOR + 2);
  if (little !== root || big !== root) throw new Error('a path table points elsewhere');
}

function contentOf(image: Buffer, record: Buffer): Buffer {
  const start = readBoth32(record, 2) * SECTOR;
  const length = readBoth32(record, 10);
  if (start + length > image.length) throw new Error('an extent ends beyond the image');
  return image.subarray(start, start + length);
}

function rockRidgeName(systemUse: Buffer): string {
  let at = 0;
  while (at + 4 <= systemUse.length) {
    const length = systemUse.readUInt8(at + 2);
    if (systemUse.toString('latin1', at, at + 2) === 'NM') {
      return systemUse.toString('latin1', at + 5, at + length);
    }
    at += length;
  }
  throw new Error('a file has no name by Rock Ridge');
}

function readBoth32(bytes: Buffer, at: number): number {
  const value = bytes.readUInt32LE(at);
  if (bytes.readUInt32BE(at + 4) !== value) throw new Error('the byte orders differ');
  return value;
}

function bigEndianText(bytes: Buffer): string {
  return Buffer.from(bytes).swap16().toString('utf16le');
}
