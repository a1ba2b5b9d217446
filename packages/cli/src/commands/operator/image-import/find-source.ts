import { ImportError } from '../../../cli-errors.ts';
import type { Algorithm, ImageFile, ImageList, SignedSums } from './image-list.ts';
import { readSmallFile, shown } from './open-url.ts';
import { readSum } from './read-sums.ts';
import { verifySignature } from './verify-signature.ts';

/** The checksum that an image must have, and why it is trusted. */
export type Source = { algorithm: Algorithm; digest: string; trust: string };

/** The signed file beside an image, and its signature. */
export type SumsUrls = { file: URL; signature: URL };

const nameOf = (url: URL) => url.pathname.split('/').at(-1) ?? '';

export function urlsOfSums(url: URL, sums: SignedSums): SumsUrls {
  const beside = (name: string) => new URL(name.replaceAll('{image}', nameOf(url)), url);
  return { file: beside(sums.file), signature: beside(sums.signature) };
}

type Sums = { url: URL; file: ImageFile; sums: SignedSums; keys: ImageList['keys'] };

/**
 * Returns the checksum of the image at a URL from the signed file beside it. Throws if the list has
 * another checksum of the image.
 */
export async function verifySums(
  { url, file, sums, keys }: Sums,
  signal: AbortSignal,
): Promise<Source> {
  const key = keys[sums.key];
  if (key === undefined) throw new Error(`BUG: the list has no key ${sums.key}`);
  const at = urlsOfSums(url, sums);
  const content = await readSmallFile(at.file, signal);
  const signature = await readSmallFile(at.signature, signal);
  await verifySignature({ key, content, signature, file: shown(at.file) });
  const name = decodeURIComponent(nameOf(url));
  const { algorithm } = sums;
  const digest = readSum(content.toString(), { algorithm, file: name });
  if (digest === undefined)
    throw new ImportError(`${shown(at.file)}: it has no ${algorithm} of ${name}`);
  const pinned = file[algorithm] ?? digest;
  if (pinned !== digest)
    throw new ImportError(
      `${shown(at.file)}: its ${algorithm} of ${name} is ${digest}, and the list has ${pinned}`,
    );
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
