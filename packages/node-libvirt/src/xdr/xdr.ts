/**
 * The part of XDR (RFC 4506) that libvirt's remote protocol uses: big-endian, everything padded to
 * four bytes. The decoder does not trust its input: it checks each length against its limit and
 * against the available bytes before it allocates anything.
 */

/** libvirt's limit for a string or byte block. Both ends refuse longer ones. */
const MAX_BYTES = 4_194_304;
const FIRST_CAPACITY = 256;

/** The bytes do not match their type, or a value is outside its type. */
export class XdrError extends Error {
  override readonly name = 'XdrError';
}

const padding = (length: number): number => (4 - (length % 4)) % 4;

export class XdrEncoder {
  #buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  #size = 0;

  int(value: number): this {
    checkRange(value, -0x8000_0000, 0x7fff_ffff);
    const at = this.#reserve(4);
    this.#buffer.writeInt32BE(value, at);
    return this;
  }

  uint(value: number): this {
    checkRange(value, 0, 0xffff_ffff);
    const at = this.#reserve(4);
    this.#buffer.writeUInt32BE(value, at);
    return this;
  }

  bool(value: boolean): this {
    return this.uint(value ? 1 : 0);
  }

  hyper(value: bigint): this {
    if (BigInt.asIntN(64, value) !== value) throw new XdrError(`${value} is not a hyper`);
    const at = this.#reserve(8);
    this.#buffer.writeBigInt64BE(value, at);
    return this;
  }

  uhyper(value: bigint): this {
    if (BigInt.asUintN(64, value) !== value)
      throw new XdrError(`${value} is not an unsigned hyper`);
    const at = this.#reserve(8);
    this.#buffer.writeBigUInt64BE(value, at);
    return this;
  }

  double(value: number): this {
    const at = this.#reserve(8);
    this.#buffer.writeDoubleBE(value, at);
    return this;
  }

  string(value: string, max = MAX_BYTES): this {
    return this.opaque(Buffer.from(value, 'utf8'), max);
  }

  /** Bytes of variable length, preceded by their length. */
  opaque(value: Uint8Array, max = MAX_BYTES): this {
    if (value.length > max) throw new XdrError(`${value.length} bytes exceed the limit of ${max}`);
    this.uint(value.length);
    return this.fixedOpaque(value);
  }

  /** Bytes whose length both ends know, such as a UUID. */
  fixedOpaque(value: Uint8Array): this {
    const padded = value.length + padding(value.length);
    const at = this.#reserve(padded);
    this.#buffer.set(value, at);
    this.#buffer.fill(0, at + value.length, at + padded);
    return this;
  }

  /** A pointer in C that may be NULL. */
  optional<T>(value: T | null, write: (encoder: XdrEncoder, value: T) => void): this {
    this.bool(value !== null);
    if (value !== null) write(this, value);
    return this;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size);
  }

  /** Reserves `length` bytes for the caller to fill. Returns their offset. */
  #reserve(length: number): number {
    const at = this.#size;
    const needed = at + length;
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
      this.#buffer.copy(grown, 0, 0, at);
      this.#buffer = grown;
    }
    this.#size = needed;
    return at;
  }
}

export class XdrDecoder {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  uint(): number {
    return this.#bytes.readUInt32BE(this.#advance(4));
  }

  bool(): boolean {
    const value = this.uint();
    if (value > 1) throw new XdrError(`${value} is not a bool`);
    return value === 1;
  }

  hyper(): bigint {
    return this.#bytes.readBigInt64BE(this.#advance(8));
  }

  uhyper(): bigint {
    return this.#bytes.readBigUInt64BE(this.#advance(8));
  }

  double(): number {
    return this.#bytes.readDoubleBE(this.#advance(8));
  }

  string(max = MAX_BYTES): string {
    return this.opaque(max).toString('utf8');
  }

  opaque(max = MAX_BYTES): Buffer {
    return this.fixedOpaque(this.#length(max));
  }

  fixedOpaque(length: number): Buffer {
    const at = this.#advance(length + padding(length));
    return this.#bytes.subarray(at, at + length);
  }

  optional<T>(read: (decoder: XdrDecoder) => T): T | null {
    return this.bool() ? read(this) : null;
  }

  /** At most `max` elements, preceded by their number. */
  array<T>(max: number, read: (decoder: XdrDecoder) => T): T[] {
    const length = this.#length(max);
    const values: T[] = [];
    while (values.length < length) values.push(read(this));
    return values;
  }

  /** Remaining bytes mean that the two ends disagree about the type. */
  end(): void {
    const left = this.#bytes.length - this.#offset;
    if (left > 0) throw new XdrError(`${left} bytes remain after the value`);
  }

  #length(max: number): number {
    const length = this.uint();
    if (length > max) throw new XdrError(`a length of ${length} exceeds the limit of ${max}`);
    return length;
  }

  #advance(length: number): number {
    const at = this.#offset;
    const left = this.#bytes.length - at;
    if (length > left) throw new XdrError(`${length} bytes needed, but only ${left} remain`);
    this.#offset = at + length;
    return at;
  }
}

function checkRange(value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new XdrError(`${value} is not an integer from ${min} to ${max}`);
  }
}
