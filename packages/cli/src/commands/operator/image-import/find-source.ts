import { ImportError } from '../../../cli-errors.ts';
import type { Algorithm, ImageList, SignedSums } from './image-list.ts';
import { readSmallFile, shown } from './open-url.ts';
import { readSum } from './read-sums.ts';
import { verifySignature } from './verify-signature.ts';

/** The checksum that an image must have, and why it is trusted. */
export type Source = { algorithm: Algorithm; digest: string; trust: string };

type Sums = { url: URL; sums: SignedSums; keys: ImageList['keys']; signal: AbortSignal };

/** Returns the checksum of the image at a URL from the signed file beside it. */
export async function verifySums({ url, sums, keys, signal }: Sums): Promise<Source> {
  const key = keys[sums.key];
  if (key === undefined) throw new Error(`BUG: the list has no key ${sums.key}`);
  const sumsUrl = new URL(sums.file, url);
  const content = await readSmallFile(sumsUrl, signal);
  const signature = await readSmallFile(new URL(sums.signature, url), signal);
  await verifySignature({ key, content, signature, file: shown(sumsUrl) });
  const name = decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
  const { algorithm } = sums;
  const digest = readSum(content.toString(), { algorithm, file: name });
  if (digest === undefined)
    throw new ImportError(`${shown(sumsUrl)}: it has no ${algorithm} of ${name}`);
  return { algorithm, digest, trust: `signed by ${key.owner}` };
}

/**
 * A mirror has a folder for each server, as `wget --force-directories` makes it. The files of a mirror
 * are verified like those of the distribution.
 */
export function mirroredUrl(url: string, mirror: string | undefined): URL {
  const original = new URL(url);
  if (mirror === undefined) return original;
  return new URL(`${mirror.replace(/\/+$/, '')}/${original.host}${original.pathname}`);
}
