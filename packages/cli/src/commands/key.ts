import { homedir } from 'node:os';
import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { connect, connectToProject } from '../config/connect.ts';
import { printList, printOne } from '../terminal/print.ts';
import { sshKeyNames } from './complete-names.ts';
import { findByName } from './find-by-name.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from './flags.ts';
import { defaultKey, readPublicKey } from './public-keys.ts';

/** A key of the project, or one of the user's own. */
type SshKey = Pick<Schemas['SshKey'], 'id' | 'name' | 'fingerprint' | 'created_at'>;
type NewKey = { name: string; public_key: string };

type OwnFlag = { own: boolean };
const ownFlag = {
  own: {
    ...({ kind: 'boolean', default: false, withNegated: false } as const),
    brief: 'Your own keys, for the VMs that you create in any project. An access key has none',
  },
} as const;

type KeyStore = {
  list(): AsyncIterable<SshKey>;
  create(body: NewKey): Promise<SshKey>;
  delete(id: string): Promise<SshKey>;
};

/** Opens the keys of the project, or with `--own` those of the user. */
async function openKeys(cli: CliContext, flags: CommonFlags & OwnFlag): Promise<KeyStore> {
  if (flags.own) {
    const { userSshKeys } = (await connect(cli, flags)).client;
    return {
      list: () => userSshKeys.list(),
      create: (body) => userSshKeys.create({ body }),
      delete: (user_ssh_key_id) => userSshKeys.delete({ user_ssh_key_id }),
    };
  }
  const { client, project_id } = await connectToProject(cli, flags);
  return {
    list: () => client.sshKeys.list({ project_id }),
    create: (body) => client.sshKeys.create({ project_id, body }),
    delete: (ssh_key_id) => client.sshKeys.delete({ project_id, ssh_key_id }),
  };
}

const list = buildCommand<CommonFlags & OwnFlag, [], CliContext>({
  docs: { brief: 'List the SSH keys of the project, or your own' },
  parameters: { flags: { ...commonFlags, ...ownFlag }, aliases: outputAlias },
  async func(flags) {
    const keys: SshKey[] = [];
    for await (const key of (await openKeys(this, flags)).list()) keys.push(key);
    printList(this, keys, {
      ...{ format: flags.output, nothing: 'There are no SSH keys.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'FINGERPRINT', value: ({ fingerprint }) => fingerprint },
        { title: 'CREATED', value: ({ created_at }) => created_at.slice(0, 16), isExtra: true },
      ],
    });
  },
});

const add = buildCommand<CommonFlags & OwnFlag, [string, string | undefined], CliContext>({
  docs: {
    brief: 'Store an SSH public key under a name',
    fullDescription: 'New VMs can name it: gantry vm create … --ssh-key NAME',
  },
  parameters: {
    ...{ flags: { ...commonFlags, ...ownFlag }, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [
        argument('The name of the new key', 'name'),
        {
          ...argument('A file with the public key (default: that of ~/.ssh)', 'file'),
          optional: true,
        },
      ],
    },
  },
  async func(flags, name, file) {
    const home = this.process.env['HOME'] || homedir();
    const public_key =
      file === undefined ? (await defaultKey(home)).sent : await readPublicKey('file', file);
    const key = await (await openKeys(this, flags)).create({ name, public_key });
    printOne(this, key, { format: flags.output, fields: keyFields(key) });
  },
});

function keyFields({ id, name, fingerprint }: SshKey) {
  return [
    ['Name', name],
    ['Id', id],
    ['Fingerprint', fingerprint],
  ] as const;
}

const remove = buildCommand<CommonFlags & OwnFlag, [string], CliContext>({
  docs: {
    brief: 'Remove a stored SSH key',
    fullDescription: 'VMs that were created with it keep it: remove it in the guests too.',
  },
  parameters: {
    ...{ flags: { ...commonFlags, ...ownFlag }, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [argument('The name or the id', 'key', sshKeyNames)],
    },
  },
  async func(flags, wanted) {
    const keys = await openKeys(this, flags);
    const { id } = await findByName('SSH key', wanted, keys.list());
    const key = await keys.delete(id);
    if (flags.output !== 'table') printOne(this, key, { format: flags.output, fields: [] });
  },
});

export const keyRoutes = buildRouteMap({
  routes: { list, add, remove },
  docs: { brief: 'SSH keys that new VMs can name' },
});
