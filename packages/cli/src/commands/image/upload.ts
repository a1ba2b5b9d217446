import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { connectToProject } from '../../config/connect.ts';
import { locationNames } from '../complete-names.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import { argument, type CommonFlags, commonFlags, outputAlias, requiredText } from '../flags.ts';

const CHUNK_BYTES = 4 * 2 ** 20;

type UploadFlags = CommonFlags & WaitFlag & { format: string; size: string; location: string };
type Connection = Awaited<ReturnType<typeof connectToProject>>;

export const uploadImage = buildCommand<UploadFlags, [string, string], CliContext>({
  docs: {
    brief: 'Make an image of a file here',
    fullDescription: 'Run the same command again to continue an upload that was interrupted.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      format: requiredText('The format of the file: raw, qcow2 or vmdk', 'format'),
      size: requiredText('The most that the disk in the file may have: 20GiB', 'size'),
      location: requiredText('Where the image is stored', 'location', locationNames),
    },
    aliases: outputAlias,
    positional: {
      kind: 'tuple',
      parameters: [argument('The file', 'file'), argument('The name of the new image', 'name')],
    },
  },
  async func(flags, path, name) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const image_id = await beginUpload(connection, { flags, path, name });
    await sendFile(connection, image_id, path);
    const { operation } = await client.images.finishUpload({ project_id, image_id });
    await finishOperation<Schemas['Image']>(this, connection, {
      ...{ operation, title: `upload ${name}`, flags },
      fields: (image) => [
        ['Name', image.name],
        ['Id', image.id],
        ['Size', image.size],
        ['State', image.state],
      ],
    });
  },
});

type Wanted = { flags: UploadFlags; path: string; name: string };

/** Creates the image, or returns the id of the one that an earlier upload began. */
async function beginUpload({ client, project_id }: Connection, wanted: Wanted): Promise<string> {
  const { path, name } = wanted;
  const { format, size, location } = wanted.flags;
  const { items } = await client.images.list({ project_id });
  const begun = items.find((each) => each.project_id === project_id && each.name === name);
  if (begun?.state === 'uploading') return begun.id;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash).catch((error: Error) => {
    throw new UsageError(`${path} cannot be read: ${error.message}`);
  });
  const file = await open(path);
  const upload_bytes = await file.stat().then(({ size: bytes }) => bytes);
  await file.close();
  const body = { name, upload_bytes, sha256: hash.digest('hex'), format, size, location };
  const { operation } = await client.images.create({ project_id, body: body as never });
  return operation.metadata.id;
}

/** The server verifies the whole file at the end, so a file that has changed is noticed. */
async function sendFile(
  { client, project_id }: Connection,
  image_id: string,
  path: string,
): Promise<void> {
  const file = await open(path);
  try {
    let { received_bytes: offset, upload_bytes } = await client.imageUploads.get({
      ...{ project_id, image_id },
    });
    while (offset < upload_bytes) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, upload_bytes - offset));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, offset);
      if (bytesRead === 0) throw new UsageError(`${path} has become shorter`);
      const data = chunk.toString('base64', 0, bytesRead);
      const body = { offset, data };
      ({ received_bytes: offset } = await client.imageUploads.add({ project_id, image_id, body }));
    }
  } finally {
    await file.close();
  }
}
