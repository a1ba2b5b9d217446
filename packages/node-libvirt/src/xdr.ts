/**
 * XDR (RFC 4506), the part libvirt's remote protocol uses: big-endian, everything padded to four
 * bytes. The decoder trusts nothing: each length is checked against its limit and against the bytes
 * that are there before anything is allocated.
 */

/** libvirt's own limit for a string or byte block; both ends refuse longer ones. */
const MAX_BYTES = 4_194_304;

/** The bytes are not what their type says, or a value does not fit its type. */
export class XdrError extends Error {
  override readonly name = 'XdrError';
}

const padding = (length: number): number => (4 - (length % 4)) % 4;

export class XdrEncoder {
  readonly #parts: Buffer[] = [];

  int(value: number): this {
    checkRange(value, -0x8000_0000, 0x7fff_ffff);
    const part = Buffer.allocUnsafe(4);
    part.writeInt32BE(value);
    return this.#add(part);
  }

  uint(value: number): this {
    checkRange(value, 0, 0xffff_ffff);
    const part = Buffer.allocUnsafe(4);
    part.writeUInt32BE(value);
    return this.#add(part);
  }

  bool(value: boolean): this {
    return this.uint(value ? 1 : 0);
  }

  hyper(value: bigint): this {
    if (BigInt.asIntN(64, value) !== value) throw new XdrError(`${value} is no hyper`);
    const part = Buffer.allocUnsafe(8);
    part.writeBigInt64BE(value);
    return this.#add(part);
  }

  uhyper(value: bigint): this {
    if (BigInt.asUintN(64, value) !== value) throw new XdrError(`${value} is no unsigned hyper`);
    const part = Buffer.allocUnsafe(8);
    part.writeBigUInt64BE(value);
    return this.#add(part);
  }

  string(value: string): this {
    return this.opaque(Buffer.from(value, 'utf8'));
  }

  /** Bytes of any length, preceded by it. */
  opaque(value: Uint8Array, max = MAX_BYTES): this {
    if (value.length > max) throw new XdrError(`${value.length} bytes exceed the limit of ${max}`);
    this.uint(value.length);
    return this.fixedOpaque(value);
  }

  /** Bytes whose length both ends know, such as a UUID. */
  fixedOpaque(value: Uint8Array): this {
    return this.#add(Buffer.from(value)).#add(Buffer.alloc(padding(value.length)));
  }

  /** What C writes as a pointer that may be NULL. */
  optional<T>(value: T | undefined, write: (encoder: XdrEncoder, value: T) => void): this {
    this.bool(value !== undefined);
    if (value !== undefined) write(this, value);
    return this;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #add(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }
}

export class XdrDecoder {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int(): number {
    return this.#take(4).readInt32BE();
  }

  uint(): number {
    return this.#take(4).readUInt32BE();
  }

  bool(): boolean {
    const value = this.uint();
    if (value > 1) throw new XdrError(`${value} is no bool`);
    return value === 1;
  }

  hyper(): bigint {
    return this.#take(8).readBigInt64BE();
  }

  uhyper(): bigint {
    return this.#take(8).readBigUInt64BE();
  }

  string(max = MAX_BYTES): string {
    return this.opaque(max).toString('utf8');
  }

  opaque(max = MAX_BYTES): Buffer {
    return this.fixedOpaque(this.#length(max));
  }

  fixedOpaque(length: number): Buffer {
    const value = this.#take(length);
    this.#take(padding(length));
    return value;
  }

  optional<T>(read: (decoder: XdrDecoder) => T): T | undefined {
    return this.bool() ? read(this) : undefined;
  }

  /** Elements of any number up to `max`, preceded by it. */
  array<T>(max: number, read: (decoder: XdrDecoder) => T): T[] {
    const length = this.#length(max);
    const values: T[] = [];
    while (values.length < length) values.push(read(this));
    return values;
  }

  /** Bytes left over mean that the two ends disagree about the type. */
  end(): void {
    const left = this.#bytes.length - this.#offset;
    if (left > 0) throw new XdrError(`${left} bytes left over`);
  }

  #length(max: number): number {
    const length = this.uint();
    if (length > max) throw new XdrError(`a length of ${length} exceeds the limit of ${max}`);
    return length;
  }

  #take(length: number): Buffer {
    const end = this.#offset + length;
    if (end > this.#bytes.length) {
      throw new XdrError(`${length} bytes wanted, ${this.#bytes.length - this.#offset} are left`);
    }
    const value = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return value;
  }
}

function checkRange(value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new XdrError(`${value} is no integer from ${min} to ${max}`);
  }
}
