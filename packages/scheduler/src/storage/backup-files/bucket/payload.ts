import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';

/** The body of a request, which can be read again if the request is repeated. */
export type Payload = {
  bytes: number;
  /** Part of the signature, so that every server compares it with what arrives. */
  sha256: string;
  /** Buckets with object lock refuse a body without it. */
  md5: string;
  read(): Readable;
};

/** The largest piece that is in memory at a time. */
const CHUNK_BYTES = 256 * 1024;

export function payloadOfText(text: string): Payload {
  const [sha256, md5] = [createHash('sha256').update(text), createHash('md5').update(text)];
  return {
    bytes: Buffer.byteLength(text),
    ...digests(sha256, md5),
    read: () => Readable.from([text]),
  };
}

/**
 * A part of a file, which must not be empty. It is read twice, because its checksums are sent before it: checksums after
 * the body are a newer part of S3 that many servers do not have.
 */
export async function payloadOfFile(
  file: string,
  { start, bytes }: { start: number; bytes: number },
): Promise<Payload> {
  const read = () =>
    createReadStream(file, { start, end: start + bytes - 1, highWaterMark: CHUNK_BYTES });
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  for await (const chunk of read()) {
    sha256.update(chunk);
    md5.update(chunk);
  }
  return { bytes, ...digests(sha256, md5), read };
}

function digests(sha256: Hash, md5: Hash) {
  return { sha256: sha256.digest('hex'), md5: md5.digest('base64') };
}
