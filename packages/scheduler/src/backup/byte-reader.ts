/** Reads a stream of bytes in pieces of the size that the caller wants. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffered: Buffer[] = [];
  #size = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns this many bytes, or fewer at the end of the stream. */
  async upTo(size: number): Promise<Buffer> {
    while (this.#size < size && (await this.#more()));
    const all = Buffer.concat(this.#buffered);
    const wanted = all.subarray(0, size);
    this.#buffered = [all.subarray(wanted.length)];
    this.#size = all.length - wanted.length;
    return wanted;
  }

  async exactly(size: number): Promise<Buffer> {
    const bytes = await this.upTo(size);
    if (bytes.length < size) throw new Error('it is not complete');
    return bytes;
  }

  async isAtEnd(): Promise<boolean> {
    return this.#size === 0 && !(await this.#more());
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#buffered.push(Buffer.from(value));
    this.#size += value.length;
    return true;
  }
}
