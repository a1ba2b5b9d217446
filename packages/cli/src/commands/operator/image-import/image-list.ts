import { readFile } from 'node:fs/promises';
import { UsageError } from '../../../cli-errors.ts';
import bundled from './cloud-images.json' with { type: 'json' };

/**
 * The cloud images that `gantry image import` knows: cloud-images.json, or the file of `--list`, which
 * has the same form. An image is trusted for one of two reasons: a sums file beside it is signed with a
 * key of the list (`sums`), or the list has the checksum itself and says why (`pinned`). If the list has
 * a signed sums file and a checksum, both must agree.
 */
export type ImageList = {
  /** When the URLs and checksums were last looked at. */
  date: string;
  keys: Record<string, SigningKey>;
  images: ListedImage[];
};

/** An OpenPGP key, with its binary form in lines of base64. */
export type SigningKey = { owner: string; fingerprint: string; base64: string[] };

export type ListedImage = {
  name: string;
  description: string;
  tags: string[];
  build: string;
  /** By architecture, as Debian spells it. */
  files: Record<string, ImageFile>;
  sums?: SignedSums;
  pinned?: string;
};

export const ALGORITHMS = ['sha256', 'sha512'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];
export type ImageFile = { url: string } & { [algorithm in Algorithm]?: string };

/**
 * Both names are relative to the URL of the image, whose own file name replaces `{image}`. `key` is a name in
 * the list's keys.
 */
export type SignedSums = { algorithm: Algorithm; file: string; signature: string; key: string };

/** Returns the list of this version, or that of a file. */
export async function readImageList(file?: string): Promise<ImageList> {
  if (file === undefined) return parseImageList(bundled);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--list: ${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return parseImageList(JSON.parse(text));
  } catch (error) {
    throw new UsageError(`--list: ${file} is no list of images: ${(error as Error).message}`);
  }
}

/** Throws an error that names the first wrong field. */
export function parseImageList(data: unknown): ImageList {
  if (typeof data !== 'object' || data === null) throw new Error('the list must be an object');
  const list: Partial<ImageList> = data;
  require(/^\d{4}-\d\d-\d\d$/.test(list.date ?? ''), 'date', 'must be a day such as 2026-01-31');
  for (const [name, key] of Object.entries(list.keys ?? {})) {
    const isFingerprint = /^[0-9A-F]{40}$/.test(key.fingerprint ?? '');
    require(isFingerprint, `keys.${name}.fingerprint`, 'must be 40 hexadecimal digits');
    require(Array.isArray(key.base64), `keys.${name}.base64`, 'must be an array of lines');
  }
  require(Array.isArray(list.images), 'images', 'must be an array');
  for (const [index, image] of (list.images ?? []).entries())
    requireImage(image, { at: `images[${index}]`, keys: list.keys ?? {} });
  return { keys: {}, ...list } as ImageList;
}

function requireImage(
  image: Partial<ListedImage>,
  { at, keys }: { at: string; keys: ImageList['keys'] },
): void {
  require(/^[a-z0-9-]{1,63}$/.test(image.name ?? ''), `${at}.name`, 'must be a name of an image');
  const files = Object.entries(image.files ?? {});
  require(files.length > 0, `${at}.files`, 'must have a file');
  const { sums } = image;
  if (sums !== undefined) {
    const known = ALGORITHMS.includes(sums.algorithm) && sums.key in keys;
    require(known, `${at}.sums`, 'must have a known algorithm and a key of the list');
    const named = Boolean(sums.file) && Boolean(sums.signature);
    require(named, `${at}.sums`, 'must name a file and its signature');
  }
  for (const [architecture, file] of files) {
    const field = `${at}.files.${architecture}`;
    require(URL.canParse(file.url ?? ''), `${field}.url`, 'must be a URL');
    const pins = ALGORITHMS.filter((algorithm) => isDigest(algorithm, file[algorithm]));
    const isTrusted = sums !== undefined || pins.length > 0;
    require(isTrusted, field, 'must have a sha256 or sha512, because nothing is signed');
    const compared = sums === undefined || pins.every((algorithm) => algorithm === sums.algorithm);
    require(compared, field, 'must have no other checksum than that of its sums');
  }
}

export function isDigest(algorithm: Algorithm, text: string | undefined): boolean {
  return new RegExp(`^[0-9a-f]{${algorithm === 'sha256' ? 64 : 128}}$`).test(text ?? '');
}

function require(isTrue: boolean, field: string, message: string): void {
  if (!isTrue) throw new Error(`${field} ${message}`);
}
