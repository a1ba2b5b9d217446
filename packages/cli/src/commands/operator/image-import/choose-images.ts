import { UsageError } from '../../../cli-errors.ts';
import { mirroredUrl, type Source, type SumsUrls, urlsOfSums, verifySums } from './find-source.ts';
import { type ImageList, isDigest, type ListedImage } from './image-list.ts';

/** An image to import: one of the list, or one of a URL. */
export type ChosenImage = {
  name: string;
  description: string;
  tags: string[];
  build: string;
  url: URL;
  /** Undefined if the checksum is pinned or given. */
  sumsUrls: SumsUrls | undefined;
  /** Returns the checksum that the image must have, and why it is trusted. */
  findSource(signal: AbortSignal): Promise<Source>;
};

/** As Debian spells them. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const;

export type Choice = {
  all: boolean;
  arch: (typeof ARCHITECTURES)[number];
  mirror: string | undefined;
  name: string | undefined;
  sha256: string | undefined;
};

/** Throws a UsageError if the arguments do not say clearly what to import. */
export function chooseImages(
  list: ImageList,
  typed: readonly string[],
  choice: Choice,
): ChosenImage[] {
  const [first = ''] = typed;
  if (/^[a-z]+:\/\//.test(first)) return [imageOfUrl(typed, choice)];
  if (choice.sha256 !== undefined)
    throw new UsageError('--sha256 is the checksum of the image at a URL. Give its URL');
  if (choice.mirror !== undefined) requireHttp('--mirror', choice.mirror);
  const known = list.images.map(({ name }) => name).join(', ');
  if (choice.all === typed.length > 0)
    throw new UsageError(`give the names of images, or --all. There are: ${known}`);
  const names = choice.all
    ? list.images.filter(({ files }) => choice.arch in files).map(({ name }) => name)
    : typed;
  if (choice.name !== undefined && names.length !== 1)
    throw new UsageError('--name is the name of one image. Import the others on their own');
  return names.map((name) => {
    const image = list.images.find((each) => each.name === name);
    if (image === undefined)
      throw new UsageError(`there is no image ${name} in the list. There are: ${known}`);
    return listedImage(list, image, choice);
  });
}

function listedImage(list: ImageList, image: ListedImage, choice: Choice): ChosenImage {
  const file = image.files[choice.arch];
  if (file === undefined)
    throw new UsageError(
      `--arch: the list has ${image.name} for ${Object.keys(image.files).join(', ')} only`,
    );
  const url = mirroredUrl(file.url, choice.mirror);
  const { description, tags, build, sums } = image;
  return {
    ...{ name: choice.name ?? image.name, description, tags, build, url },
    sumsUrls: sums && urlsOfSums(url, sums),
    async findSource(signal) {
      if (sums !== undefined) return await verifySums({ url, file, sums, keys: list.keys }, signal);
      const trust = 'pinned checksum';
      return file.sha256 === undefined
        ? { algorithm: 'sha512', digest: file.sha512 ?? '', trust }
        : { algorithm: 'sha256', digest: file.sha256, trust };
    },
  };
}

function imageOfUrl(typed: readonly string[], { all, mirror, name, sha256 }: Choice): ChosenImage {
  const [text = ''] = typed;
  if (typed.length > 1 || all) throw new UsageError('import a URL on its own');
  if (mirror !== undefined) throw new UsageError('--mirror is for images of the list');
  const url = requireHttp('the image', text);
  if (name === undefined) throw new UsageError('give the image of a URL a --name');
  if (sha256 === undefined || !isDigest('sha256', sha256))
    throw new UsageError(
      'give the image of a URL its --sha256: 64 hexadecimal digits in lower case',
    );
  return {
    ...{ name, description: '', tags: [], build: '', url, sumsUrls: undefined },
    findSource: async () => ({ algorithm: 'sha256', digest: sha256, trust: 'given checksum' }),
  };
}

function requireHttp(field: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new UsageError(`${field}: ${text} is no http or https URL`);
}
