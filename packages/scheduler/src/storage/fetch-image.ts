import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { openImageSource, shownUrl } from '@gantry/daemon/image-source';

type Image = { name: string; url: string; sha256: string };

const LIMITS = { replyMs: 30_000, stallMs: 60_000, redirects: 5 };
const QCOW2 = Buffer.from('514649fb', 'hex');

/** Downloads an image to a file and verifies it. Returns its format. Throws with the reason as its message. */
export async function fetchImage(
  image: Image,
  path: string,
  signal: AbortSignal,
): Promise<'raw' | 'qcow2'> {
  const { stream } = await openImageSource(new URL(image.url), LIMITS);
  signal.addEventListener('abort', () => stream.destroy(new Error('the scheduler stops')));
  const hash = createHash('sha256');
  let start = Buffer.alloc(0);
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (start.length < QCOW2.length) start = Buffer.concat([start, chunk.subarray(0, 16)]);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
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
