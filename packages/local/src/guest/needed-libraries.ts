/** Constants of ELF files with 64 bits and the lowest byte first, as on arm64 and x64. */
const MAGIC = 0x02_46_4c_45_7f;
const PROGRAM_HEADERS = { at: 0x20, size: 0x36, count: 0x38 };
const LOAD = 1;
const DYNAMIC = 2;
const END = 0;
const NEEDED = 1;
const STRINGS = 5;
const ENTRY_BYTES = 16;

type Segment = { type: number; offset: number; address: number; bytes: number };

/** Returns the names of the libraries that a program or a library is linked with. */
export function neededLibraries(file: Buffer): string[] {
  if (file.length < 64 || file.readUIntLE(0, 5) !== MAGIC) {
    throw new Error('This is not an ELF file with 64 bits.');
  }
  const segments = readSegments(file);
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  if (dynamic === undefined) return [];
  const entries: { tag: number; value: number }[] = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.bytes; at += ENTRY_BYTES) {
    const entry = { tag: read(file, at), value: read(file, at + 8) };
    if (entry.tag === END) break;
    entries.push(entry);
  }
  const address = entries.find(({ tag }) => tag === STRINGS)?.value ?? 0;
  const strings = offsetOf(segments, address);
  return entries
    .filter(({ tag }) => tag === NEEDED)
    .map(({ value }) => {
      const start = strings + value;
      return file.toString('latin1', start, file.indexOf(0, start));
    });
}

function readSegments(file: Buffer): Segment[] {
  const start = read(file, PROGRAM_HEADERS.at);
  const size = file.readUInt16LE(PROGRAM_HEADERS.size);
  const count = file.readUInt16LE(PROGRAM_HEADERS.count);
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    return {
      type: file.readUInt32LE(at),
      offset: read(file, at + 0x08),
      address: read(file, at + 0x10),
      bytes: read(file, at + 0x20),
    };
  });
}

/** Addresses are those in memory after the file was loaded. */
function offsetOf(segments: readonly Segment[], address: number): number {
  const segment = segments.find(
    ({ type, address: first, bytes }) =>
      type === LOAD && address >= first && address < first + bytes,
  );
  if (segment === undefined) throw new Error('The names of the libraries are not in the file.');
  return segment.offset + address - segment.address;
}

function read(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at));
}
