import type { Client } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../../cli-context.ts';
import { ImportError } from '../../../cli-errors.ts';
import { connect } from '../../../config/connect.ts';
import { describeError } from '../../../describe-error.ts';
import { EXIT } from '../../../exit-codes.ts';
import { printList } from '../../../terminal/print.ts';
import { startProgress } from '../../../terminal/progress.ts';
import { whileInterruptible } from '../../../terminal/while-interruptible.ts';
import { locationNames, type Propose } from '../../complete-names.ts';
import { argument, type CommonFlags, commonFlags, optionalText, outputAlias } from '../../flags.ts';
import { ARCHITECTURES, type Choice, type ChosenImage, chooseImages } from './choose-images.ts';
import { readImageList } from './image-list.ts';
import { registerImage } from './register-image.ts';
import { verifyImage } from './verify-image.ts';

type Flags = CommonFlags &
  Choice & {
    dryRun: boolean;
    list: string | undefined;
    location: readonly string[] | undefined;
  };

/** What became of an image. */
type Row = {
  name: string;
  build: string;
  url: string;
  /** The files that a mirror needs beside a signed image. */
  sums_url: string | undefined;
  signature_url: string | undefined;
  sha256: string;
  trust: string;
  outcome: 'created' | 'updated' | 'unchanged' | 'not imported' | 'failed';
};

const listedNames: Propose = async () => (await readImageList()).images.map(({ name }) => name);
const yes = { kind: 'boolean', default: false, withNegated: false } as const;

export const importImage = buildCommand<Flags, string[], CliContext>({
  docs: {
    brief: 'Import cloud images of distributions, or one of a URL (for operators)',
    fullDescription:
      'Downloads each image, verifies its checksum and the signature of the checksum, and adds the ' +
      'image to the catalogue. Hosts download it from the same address. An image that cannot be ' +
      'verified is not added.',
    customUsage: [
      'debian-12 ubuntu-24-04',
      '--all --mirror https://mirror.example.com',
      'https://example.com/own.qcow2 --name own --sha256 …',
    ],
  },
  parameters: {
    flags: {
      ...commonFlags,
      all: { ...yes, brief: 'Import all images of the list' },
      dryRun: { ...yes, brief: 'Print what would be imported, and download nothing' },
      mirror: optionalText('A mirror, with a folder for each server', 'url'),
      arch: {
        ...({ kind: 'enum', values: ARCHITECTURES, default: 'amd64' } as const),
        brief: 'The architecture of the hosts',
      },
      name: optionalText('The name of the image (default: that in the list)', 'name'),
      sha256: optionalText('The checksum of the image of a URL', 'digest'),
      list: optionalText('A file with another list of images', 'file'),
      location: {
        ...({ kind: 'parsed', parse: (text: string) => text, variadic: ',' } as const),
        ...({ optional: true, placeholder: 'location,…' } as const),
        ...{
          proposeCompletions: locationNames,
          brief: 'Where it can be used (default: everywhere)',
        },
      },
    },
    aliases: outputAlias,
    positional: {
      ...({ kind: 'array' } as const),
      parameter: argument('Names of images in the list, or a URL', 'image', listedNames),
    },
  },
  async func(flags, ...typed) {
    const chosen = chooseImages(await readImageList(flags.list), typed, flags);
    const rows = flags.dryRun ? chosen.map(plannedRow) : await importAll(this, chosen, flags);
    printList(this, rows, {
      ...{ format: flags.output, nothing: 'The list has no images.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'BUILD', value: ({ build }) => build },
        { title: 'RESULT', value: ({ outcome }) => outcome },
        { title: 'TRUST', value: ({ trust }) => trust, isExtra: true },
        { title: 'URL', value: ({ url }) => url, isExtra: true },
      ],
    });
    if (rows.some(({ outcome }) => outcome === 'failed')) this.process.exitCode = EXIT.unverified;
  },
});

function plannedRow({ name, build, url, sumsUrls }: ChosenImage): Row {
  return {
    ...{ name, build, url: url.href },
    ...{ sums_url: sumsUrls?.file.href, signature_url: sumsUrls?.signature.href },
    ...{ sha256: '', trust: '', outcome: 'not imported' },
  };
}

/** An image that cannot be verified is reported, and the others are still imported. */
async function importAll(cli: CliContext, chosen: ChosenImage[], flags: Flags): Promise<Row[]> {
  const { client } = await connect(cli, flags);
  return await whileInterruptible('the import was interrupted', async (signal) => {
    const rows: Row[] = [];
    for (const image of chosen) {
      try {
        rows.push(await importOne(cli, image, { client, location: flags.location, signal }));
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        cli.process.stderr.write(`${describeError(error)}\n`);
        rows.push({ ...plannedRow(image), outcome: 'failed' });
      }
    }
    return rows;
  });
}

type Import = { client: Client; location: readonly string[] | undefined; signal: AbortSignal };

async function importOne(
  cli: CliContext,
  image: ChosenImage,
  { client, location, signal }: Import,
): Promise<Row> {
  const { name, description, tags, url } = image;
  const progress = startProgress(cli);
  try {
    progress.show(`${name}: verifying the checksum`);
    const source = await image.findSource(signal);
    let shownPercent = -1;
    const sha256 = await verifyImage({
      ...{ url, source, signal },
      onProgress({ receivedBytes, sizeBytes }) {
        const percent =
          Math.floor((receivedBytes / (sizeBytes ?? Number.POSITIVE_INFINITY)) * 10) * 10;
        if (percent === shownPercent) return;
        shownPercent = percent;
        progress.show(`${name}: downloaded ${percent} %`);
      },
    });
    const wanted = { name, description, tags, url: url.href, sha256 };
    const outcome = await registerImage(client, {
      ...wanted,
      locations: location && [...location],
    });
    progress.show(`${name}: ${outcome}`);
    return { ...plannedRow(image), sha256, trust: source.trust, outcome };
  } finally {
    progress.end();
  }
}
