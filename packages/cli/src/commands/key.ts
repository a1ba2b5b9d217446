import { homedir } from 'node:os';
import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { connectToProject } from '../config/connect.ts';
import { printList, printOne } from '../terminal/print.ts';
import { sshKeyNames } from './complete-names.ts';
import { findByName } from './find-by-name.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from './flags.ts';
import { defaultPublicKey, readPublicKey } from './public-keys.ts';

type SshKey = Schemas['SshKey'];

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List the SSH keys of the project' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const keys: SshKey[] = [];
    for await (const key of client.sshKeys.list({ project_id })) keys.push(key);
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

const add = buildCommand<CommonFlags, [string, string | undefined], CliContext>({
  docs: {
    brief: 'Store an SSH public key under a name',
    fullDescription: 'New VMs can name it: gantry vm create … --ssh-key NAME',
  },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
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
      file === undefined ? await defaultPublicKey(home) : await readPublicKey('file', file);
    const { client, project_id } = await connectToProject(this, flags);
    const key = await client.sshKeys.create({ project_id, body: { name, public_key } });
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

const remove = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'Remove a stored SSH key',
    fullDescription: 'VMs that were created with it keep it: remove it in the guests too.',
  },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [argument('The name or the id', 'key', sshKeyNames)],
    },
  },
  async func(flags, wanted) {
    const { client, project_id } = await connectToProject(this, flags);
    const keys = client.sshKeys.list({ project_id });
    const { id: ssh_key_id } = await findByName('SSH key', wanted, keys);
    const key = await client.sshKeys.delete({ project_id, ssh_key_id });
    if (flags.output !== 'table') printOne(this, key, { format: flags.output, fields: [] });
  },
});

export const keyRoutes = buildRouteMap({
  routes: { list, add, remove },
  docs: { brief: 'SSH keys that new VMs can name' },
});
