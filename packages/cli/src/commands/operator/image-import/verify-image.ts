import { createHash } from 'node:crypto';
import { ImportError } from '../../../cli-errors.ts';
import type { Source } from './find-source.ts';
import { openUrl, readBody, shown } from './open-url.ts';

type Download = {
  url: URL;
  source: Source;
  signal: AbortSignal;
  onProgress(progress: { receivedBytes: number; sizeBytes: number | undefined }): void;
};

/**
 * Downloads the image, keeps nothing of it, and returns its SHA-256, which hosts need and not every
 * distribution publishes. The download also shows that hosts can have the image from this URL.
 */
export async function verifyImage({ url, source, signal, onProgress }: Download): Promise<string> {
  const { algorithm, digest } = source;
  const sha256 = createHash('sha256');
  const other = createHash(algorithm);
  const opened = await openUrl(url, signal);
  let receivedBytes = 0;
  for await (const chunk of readBody(url, opened)) {
    sha256.update(chunk);
    if (algorithm !== 'sha256') other.update(chunk);
    receivedBytes += chunk.length;
    onProgress({ receivedBytes, sizeBytes: opened.sizeBytes });
  }
  const result = sha256.digest('hex');
  const found = algorithm === 'sha256' ? result : other.digest('hex');
  if (found === digest) return result;
  throw new ImportError(`${shown(url)}: its ${algorithm} is ${found} and should be ${digest}`);
}
