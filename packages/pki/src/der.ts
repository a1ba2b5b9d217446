/**
 * The part of DER that certificates need. Values are written with their tag and length, and read as
 * slices that are checked to be inside the value that contains them.
 */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export const contextTag = (number: number, constructed: boolean) =>
  (constructed ? 0xa0 : 0x80) | number;

export function write(tag: number, ...parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(length)]), ...parts]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...parts: Buffer[]) => write(TAG.sequence, ...parts);
export const octetString = (value: Buffer) => write(TAG.octetString, value);
/** `unused` is the number of bits at the end that are not part of the value. */
export const bitString = (value: Buffer, unused = 0) =>
  write(TAG.bitString, Buffer.from([unused]), value);
export const utf8String = (text: string) => write(TAG.utf8, Buffer.from(text, 'utf8'));
export const TRUE = write(TAG.boolean, Buffer.from([0xff]));
export const NULL = write(TAG.null);

/** The bytes must be a positive number without leading zero bytes. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes[0] ?? 0;
  return write(TAG.integer, first >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest.flatMap(base128)];
  return write(TAG.oid, Buffer.from(bytes));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

/** In seconds. X.509 requires two digits for years up to 2049 and four for later years. */
export function time(moment: Date): Buffer {
  const digits = moment
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/[-:T]/g, '');
  return moment.getUTCFullYear() < 2050
    ? write(TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : write(TAG.generalizedTime, Buffer.from(`${digits}Z`));
}

export class DerError extends Error {
  override name = 'DerError';
}

/** One value: `whole` includes its tag and length, `content` does not. */
export type Value = { tag: number; whole: Buffer; content: Buffer };

/** Reads the only value in these bytes. */
export function readOnly(bytes: Buffer): Value {
  const [value, ...others] = readAll(bytes);
  if (!value || others.length > 0) throw new DerError('expected exactly one value');
  return value;
}

export function readSequence(value: Value | undefined): Value[] {
  return readAll(expectTag(value, TAG.sequence).content);
}

export function expectTag(value: Value | undefined, tag: number): Value {
  if (value?.tag !== tag) throw new DerError('unexpected type of value');
  return value;
}

/** Returns the bytes of a bit string without unused bits. */
export function readBits(value: Value | undefined): Buffer {
  const { content } = expectTag(value, TAG.bitString);
  if (content[0] !== 0) throw new DerError('the bit string has unused bits');
  return content.subarray(1);
}

function readAll(bytes: Buffer): Value[] {
  const values: Value[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readAt(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

function readAt(bytes: Buffer, at: number): Value {
  const tag = byteAt(bytes, at);
  if ((tag & 0x1f) === 0x1f) throw new DerError('tags of several bytes are not supported');
  const first = byteAt(bytes, at + 1);
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError('the length is indefinite or too long');
    length = 0;
    for (let read = 0; read < count; read += 1) length = length * 256 + byteAt(bytes, start + read);
    start += count;
  }
  if (start + length > bytes.length)
    throw new DerError('the value is longer than what contains it');
  const end = start + length;
  return { tag, whole: bytes.subarray(at, end), content: bytes.subarray(start, end) };
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new DerError('unexpected end of data');
  return byte;
}
