import { type Algorithm, isDigest } from './image-list.ts';

/**
 * Returns the checksum of a file from the text of a sums file, in the form of coreutils
 * (`<digest> *<file>`) or of BSD (`SHA256 (<file>) = <digest>`). Returns undefined if it has none, or
 * two that differ.
 */
export function readSum(
  text: string,
  { algorithm, file }: { algorithm: Algorithm; file: string },
): string | undefined {
  const found = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const coreutils = /^([0-9a-f]+) [ *](.+)$/.exec(line);
    const bsd = /^(SHA\d+) \((.+)\) = ([0-9a-f]+)$/.exec(line);
    if (coreutils?.[2] === file && isDigest(algorithm, coreutils[1])) found.add(coreutils[1] ?? '');
    if (bsd?.[2] === file && bsd[1]?.toLowerCase() === algorithm) found.add(bsd[3] ?? '');
  }
  const [digest] = found;
  return found.size === 1 && isDigest(algorithm, digest) ? digest : undefined;
}
