import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { AddressRules } from '@gantry/daemon/address-rules';
import { openImageSource, shownUrl } from '@gantry/daemon/image-source';

type Image = { url: string; sha256: string };

type Fetching = {
  signal: AbortSignal;
  /** Which addresses the URL of a tenant may have; absent: the URL is of an operator. */
  rules?: AddressRules;
  /** A longer file is refused. */
  maxBytes?: number;
};

const LIMITS = { replyMs: 30_000, stallMs: 60_000, redirects: 5 };
const QCOW2 = Buffer.from('514649fb', 'hex');

/** Downloads an image to a file and verifies it. Returns its format. Throws with the reason as its message. */
export async function fetchImage(
  image: Image,
  path: string,
  { signal, rules, maxBytes = Number.POSITIVE_INFINITY }: Fetching,
): Promise<'raw' | 'qcow2'> {
  const { stream } = await openImageSource(new URL(image.url), LIMITS, rules);
  const abort = () => stream.destroy(new Error('the download was ended'));
  signal.addEventListener('abort', abort);
  const hash = createHash('sha256');
  let start = Buffer.alloc(0);
  let bytes = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    signal.throwIfAborted();
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (start.length < QCOW2.length) start = Buffer.concat([start, chunk.subarray(0, 16)]);
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`the file has more than ${maxBytes} bytes`);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    signal.removeEventListener('abort', abort);
    stream.destroy();
    await file.close();
  }
  const found = hash.digest('hex');
  if (found !== image.sha256) {
    const source = shownUrl(new URL(image.url));
    throw new Error(`the SHA-256 of ${source} is ${found} and should be ${image.sha256}`);
  }
  return start.subarray(0, QCOW2.length).equals(QCOW2) ? 'qcow2' : 'raw';
}
