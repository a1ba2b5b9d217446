import { ByteReader } from './byte-reader.ts';

/** The part of the ustar format that a backup needs: regular files with short names. */
export type TarEntry = { name: string; content: Buffer };

const BLOCK_BYTES = 512;
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const { name, content } of entries) {
    yield renderHeader(name, content.length);
    yield content;
    yield Buffer.alloc(-content.length & (BLOCK_BYTES - 1));
  }
  // Two empty blocks are the end.
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** Throws if the archive is not complete. */
export async function* readTar(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(archive);
  for (;;) {
    const header = await reader.exactly(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    const field = (start: number, size: number) =>
      header.toString('utf8', start, start + size).replace(/\0.*$/s, '');
    const size = Number.parseInt(field(124, 12), 8);
    const isRegular =
      field(156, 1) === '0' && checksum(header) === Number.parseInt(field(148, 8), 8);
    if (!isRegular || !(size >= 0 && size <= MAX_ENTRY_BYTES)) throw new Error('it is no backup');
    const content = await reader.exactly(size);
    await reader.exactly(-size & (BLOCK_BYTES - 1));
    yield { name: field(0, 100), content };
  }
  // The rest is read, too, because it is where a file that was cut short would end.
  while (!(await reader.isAtEnd())) await reader.upTo(BLOCK_BYTES);
}

function renderHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  if (Buffer.byteLength(name) > 99) throw new Error(`BUG: the name ${name} is too long`);
  header.write(name, 0);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The sum of all bytes, with spaces in the place of the sum. */
function checksum(header: Buffer): number {
  const sum = header.reduce((total, byte) => total + byte, 0);
  return sum - header.subarray(148, 156).reduce((total, byte) => total + byte, 0) + 8 * 32;
}
