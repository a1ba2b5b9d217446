import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap, numberParser } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { connectToProject } from '../config/connect.ts';
import { printList, printOne } from '../terminal/print.ts';
import { accessKeyNames } from './complete-names.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { findByName } from './find-by-name.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from './flags.ts';
import { showTags, type Tag, tagFlag, tagObject } from './tags.ts';

type AccessKey = Schemas['AccessKey'];

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List the access keys of the project, without their secrets' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items } = await client.accessKeys.list({ project_id });
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no access keys.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'ROLE', value: ({ role }) => role },
        { title: 'LAST USED', value: ({ last_used_at }) => last_used_at.slice(0, 16) },
        { title: 'EXPIRES', value: ({ expires_at }) => expires_at.slice(0, 16) || 'never' },
        { title: 'CREATOR', value: ({ creator }) => creator, isExtra: true },
        { title: 'TAGS', value: ({ tags }) => showTags(tags), isExtra: true },
        { title: 'ID', value: ({ id }) => id, isExtra: true },
      ],
    });
  },
});

const ROLES = ['member', 'read-only'] as const;
type CreateFlags = CommonFlags & {
  role: (typeof ROLES)[number];
  days: number | undefined;
  tag: readonly Tag[] | undefined;
};
const DAY_MS = 86_400_000;

const create = buildCommand<CreateFlags, [string], CliContext>({
  docs: {
    brief: 'Create an access key for a program',
    fullDescription: 'The key itself is printed this once, and cannot be read again.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      role: {
        ...({ kind: 'enum', values: ROLES, default: 'member' } as const),
        brief: 'What the key may do',
      },
      days: {
        ...({ kind: 'parsed', parse: numberParser, optional: true, placeholder: 'n' } as const),
        brief: 'How many days it works (default: until it is deleted)',
      },
      tag: tagFlag('A tag of the key; may be repeated'),
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new key', 'name')] },
  },
  async func({ role, days, tag, ...flags }, name) {
    if (days !== undefined && !(days > 0)) throw new UsageError('--days must be more than 0');
    const expires = days && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() };
    const { client, project_id } = await connectToProject(this, flags);
    const body = { name, role, ...expires, ...(tag && { tags: tagObject(tag) }) };
    const key = await client.accessKeys.create({ project_id, body });
    const fields = [...keyFields(key), ['Access key', key.access_key]] as const;
    printOne(this, key, { format: flags.output, fields });
  },
});

function keyFields({ id, name, role, expires_at }: AccessKey) {
  return [
    ['Name', name],
    ['Id', id],
    ['Role', role],
    ['Expires', expires_at || 'never'],
  ] as const;
}

const remove = buildCommand<CommonFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Delete an access key: it stops working at once',
    fullDescription: 'Keys that were created with it are deleted too. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: {
      kind: 'tuple',
      parameters: [argument('The name or the id', 'key', accessKeyNames)],
    },
  },
  async func(flags, wanted) {
    const { client, project_id } = await connectToProject(this, flags);
    const keys = client.accessKeys.list({ project_id });
    const { id: access_key_id, name } = await findByName('access key', wanted, keys);
    await confirm(this, flags, `Delete the access key ${name}?`);
    const key = await client.accessKeys.delete({ project_id, access_key_id });
    if (flags.output !== 'table') printOne(this, key, { format: flags.output, fields: [] });
  },
});

export const accessKeyRoutes = buildRouteMap({
  routes: { list, create, delete: remove },
  docs: { brief: 'Access keys of programs' },
});
