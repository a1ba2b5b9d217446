import { homedir } from 'node:os';
import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { rememberVmKey } from '../../config/vm-keys.ts';
import { printOne } from '../../terminal/print.ts';
import { imageNames, locationNames, sshKeyNames, typeNames } from '../complete-names.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../flags.ts';
import { defaultKey, type GivenKey, givenKeys, privateKeyFile, readGiven } from '../public-keys.ts';
import { type Tag, tagFlag, tagObject } from '../tags.ts';
import { chooseDisks, diskFlag, type GivenDisk } from './choose-disks.ts';
import { chooseNetwork, givenAddress, type NetworkFlags, networkFlags } from './choose-network.ts';
import { estimateFields } from './estimate.ts';
import { type Vm, vmFields } from './vm.ts';

const ON_HOST_FAILURE = ['leave', 'restart'] as const;
type CreateFlags = CommonFlags &
  WaitFlag &
  NetworkFlags & {
    type: string;
    location: string;
    image: string;
    sshKey: readonly string[] | undefined;
    startupScript: string | undefined;
    shutdownScript: string | undefined;
    userData: string | undefined;
    onHostFailure: (typeof ON_HOST_FAILURE)[number] | undefined;
    tag: readonly Tag[] | undefined;
    disk: readonly GivenDisk[] | undefined;
    dryRun: boolean;
  };

export const createVm = buildCommand<CreateFlags, [string], CliContext>({
  docs: {
    brief: 'Create a VM',
    fullDescription:
      '`gantry availability` lists the types and locations, `gantry image list` the images.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      type: requiredText('The VM type, such as a40.1x', 'type', typeNames),
      location: requiredText('Where the VM runs', 'location', locationNames),
      image: requiredText('The name of the image', 'image', imageNames),
      sshKey: {
        ...optionalText(
          'A file with a public SSH key, or the name of a stored one; may be repeated (default: the key of ~/.ssh)',
          'file|name',
          sshKeyNames,
        ),
        variadic: true,
      },
      ...networkFlags,
      disk: diskFlag,
      startupScript: optionalText('A script that runs at the first boot', 'file'),
      shutdownScript: optionalText('A script that runs at each shutdown', 'file'),
      userData: optionalText('User data for cloud-init', 'file'),
      onHostFailure: {
        ...({ kind: 'enum', values: ON_HOST_FAILURE, optional: true } as const),
        brief: 'Whether the VM restarts on another host after its host has failed (default: leave)',
      },
      tag: tagFlag('A tag of the VM; may be repeated'),
      dryRun: {
        ...({ kind: 'boolean', default: false, withNegated: false } as const),
        brief: 'Create nothing; print the price and whether the VM fits now',
      },
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new VM', 'name')] },
  },
  async func(flags, name) {
    // Mistakes on this computer are found before the server is asked.
    const address = givenAddress(flags);
    const keys = await (flags.sshKey === undefined
      ? Promise.all([defaultKey(this.process.env['HOME'] || homedir())])
      : givenKeys('--ssh-key', flags.sshKey));
    const body = await buildBody({ flags, name, keys });
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const network_interfaces = await chooseNetwork(connection, { ...flags, address });
    const disks = flags.disk && (await chooseDisks(connection, flags.disk));
    const chosen = { ...(network_interfaces && { network_interfaces }), ...(disks && { disks }) };
    const request = { project_id, body: { ...body, ...chosen } };
    if (flags.dryRun) {
      const estimate = await client.vms.validate(request);
      const fields = estimateFields(estimate, flags.type);
      return printOne(this, estimate, { format: flags.output, fields });
    }
    const { operation } = await client.vms.create(request);
    const key = privateKeyFile(keys);
    if (key !== undefined) await rememberVmKey(this.process.env, operation.metadata.id, key);
    const title = `create ${name}`;
    await finishOperation<Vm>(this, connection, { operation, title, flags, fields: vmFields });
  },
});

type Given = { flags: CreateFlags; name: string; keys: readonly GivenKey[] };

async function buildBody({ flags, name, keys }: Given): Promise<Schemas['CreateVm']> {
  const { type, location, image, startupScript, shutdownScript, userData, tag } = flags;
  return {
    ...{ name, type, location, image },
    ...(flags.sshKey === undefined
      ? { ssh_public_key: keys[0]?.sent ?? '' }
      : { ssh_keys: keys.map(({ sent }) => sent) }),
    ...(startupScript && { startup_script: await readGiven('--startup-script', startupScript) }),
    ...(shutdownScript && {
      shutdown_script: await readGiven('--shutdown-script', shutdownScript),
    }),
    ...(userData && { user_data: await readGiven('--user-data', userData) }),
    ...(flags.onHostFailure && { on_host_failure: flags.onHostFailure }),
    ...(tag && { tags: tagObject(tag) }),
  };
}
