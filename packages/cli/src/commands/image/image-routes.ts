import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList } from '../../terminal/print.ts';
import { imageNames, locationNames, snapshotNames } from '../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { findByName } from '../find-by-name.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import { argument, type CommonFlags, commonFlags, optionalText, outputAlias } from '../flags.ts';
import { importImage } from '../operator/image-import/import-image.ts';
import { uploadImage } from './upload.ts';

type Image = Schemas['Image'];

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List the images that VMs can be created from' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items } = await client.images.list({ project_id });
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no images.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'LOCATIONS', value: ({ locations }) => locations.join(' ') },
        { title: 'VISIBILITY', value: ({ visibility }) => visibility },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'SIZE', value: ({ size }) => size, isExtra: true },
        { title: 'DESCRIPTION', value: ({ description }) => description, isExtra: true },
        { title: 'PROBLEM', value: ({ problem }) => problem, isExtra: true },
      ],
    });
  },
});

type NewImageFlags = CommonFlags &
  WaitFlag & {
    snapshot?: string | undefined;
    url?: string | undefined;
    sha256?: string | undefined;
    format?: string | undefined;
    size?: string | undefined;
    location?: string | undefined;
    description?: string | undefined;
    organization: boolean;
  };

const create = buildCommand<NewImageFlags, [string], CliContext>({
  docs: {
    brief: 'Make an image of a snapshot, or of a file at a URL',
    fullDescription:
      'Give --snapshot; or --url with --sha256, --format, --size and --location. ' +
      'Only the project can use it, or with --organization all projects of its organization.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      snapshot: optionalText('Copy a snapshot', 'snapshot', snapshotNames),
      url: optionalText('Fetch a file', 'url'),
      sha256: optionalText('The SHA-256 of the file', 'hash'),
      format: optionalText('The format of the file: raw, qcow2 or vmdk', 'format'),
      size: optionalText('The most that the disk in the file may have: 20GiB', 'size'),
      location: optionalText('Where the image is stored', 'location', locationNames),
      description: optionalText('What it is', 'text'),
      organization: {
        kind: 'boolean',
        brief: 'Let all projects of the organization use it',
        default: false,
      },
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new image', 'name')] },
  },
  async func(flags, name) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { snapshot, url, sha256, format, size, location, description = '' } = flags;
    const snapshot_id =
      snapshot &&
      (await findByName('snapshot', snapshot, client.snapshots.list({ project_id }))).id;
    const source = { snapshot_id, source_url: url, sha256, format, size, location };
    const given = Object.entries(source).filter(([, value]) => value !== undefined);
    const visibility = flags.organization ? 'organization' : 'project';
    // The server says which of them are missing.
    const body = { name, description, visibility, ...Object.fromEntries(given) } as const;
    const { operation } = await client.images.create({ project_id, body });
    const title = `create ${name}`;
    await finishOperation<Image>(this, connection, { operation, title, flags, fields });
  },
});

function fields({ id, name, size, state, visibility, locations }: Image) {
  return [
    ['Name', name],
    ['Id', id],
    ['Size', size],
    ['State', state],
    ['Visibility', visibility],
    ['Location', locations.join(' ')],
  ] as const;
}

const remove = buildCommand<CommonFlags & WaitFlag & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Delete an image of the project',
    fullDescription: 'VMs that were created from it keep running. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: {
      kind: 'tuple',
      parameters: [argument('The name or the id', 'image', imageNames)],
    },
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { items } = await client.images.list({ project_id });
    const own = items.filter((each) => each.project_id === project_id);
    const { id, name } = await findByName('image', wanted, own);
    await confirm(this, flags, `Delete the image ${name}?`);
    const { operation } = await client.images.delete({ project_id, image_id: id });
    await finishOperation(this, connection, { operation, title: `delete ${name}`, flags });
  },
});

export const imageRoutes = buildRouteMap({
  routes: { list, create, upload: uploadImage, delete: remove, import: importImage },
  docs: { brief: 'Images' },
});
