import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { connectToProject, type ProjectConnection } from '../../config/connect.ts';
import { rememberVmKey } from '../../config/vm-keys.ts';
import {
  imageNames,
  locationNames,
  networkNames,
  subnetNames,
  typeNames,
} from '../complete-names.ts';
import { findByName } from '../find-by-name.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../flags.ts';
import { type Tag, tagFlag, tagObject } from '../tags.ts';
import { type Vm, vmFields } from './vm.ts';

type CreateFlags = CommonFlags &
  WaitFlag & {
    type: string;
    location: string;
    image: string;
    sshKey: string | undefined;
    network: string | undefined;
    subnet: string | undefined;
    publicAddress: boolean;
    startupScript: string | undefined;
    shutdownScript: string | undefined;
    tag: readonly Tag[] | undefined;
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
      sshKey: optionalText('A file with your public SSH key (default: that of ~/.ssh)', 'file'),
      network: optionalText(
        'The network, by name or id (default: that of the project)',
        'network',
        networkNames,
      ),
      subnet: optionalText('The subnet, by name or id', 'subnet', subnetNames),
      publicAddress: { kind: 'boolean', default: true, brief: 'Give the VM a public address' },
      startupScript: optionalText('A script that runs at the first boot', 'file'),
      shutdownScript: optionalText('A script that runs at each shutdown', 'file'),
      tag: tagFlag('A tag of the VM; may be repeated'),
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new VM', 'name')] },
  },
  async func(flags, name) {
    // Mistakes on this computer are found before the server is asked.
    const body = await buildBody(this, flags, name);
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const network_interfaces = await chooseNetwork(connection, flags);
    const { operation } = await client.vms.create({
      project_id,
      body: { ...body, ...(network_interfaces && { network_interfaces }) },
    });
    const key = flags.sshKey && path.resolve(flags.sshKey.replace(/\.pub$/, ''));
    if (key) await rememberVmKey(this.process.env, operation.metadata.id, key);
    const title = `create ${name}`;
    await finishOperation<Vm>(this, connection, { operation, title, flags, fields: vmFields });
  },
});

async function buildBody(
  { process: { env } }: CliContext,
  flags: CreateFlags,
  name: string,
): Promise<Schemas['CreateVm']> {
  const { type, location, image, startupScript, shutdownScript, tag } = flags;
  return {
    ...{ name, type, location, image },
    ssh_public_key: await readPublicKey(flags.sshKey, env['HOME'] || homedir()),
    ...(startupScript && { startup_script: await readGiven('--startup-script', startupScript) }),
    ...(shutdownScript && {
      shutdown_script: await readGiven('--shutdown-script', shutdownScript),
    }),
    ...(tag && { tags: tagObject(tag) }),
  };
}

/** The names that ssh itself tries first. */
const DEFAULT_KEYS = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub'];

async function readPublicKey(given: string | undefined, home: string): Promise<string> {
  if (given !== undefined) {
    const text = await readGiven('--ssh-key', given);
    // It must not reach the server, where everyone who may read the project could read it.
    if (text.includes('PRIVATE KEY'))
      throw new UsageError(
        `--ssh-key: ${given} is a private key. Give the public one: ${given}.pub`,
      );
    return text.trim();
  }
  for (const file of DEFAULT_KEYS) {
    const text = await unlessMissing(readFile(path.join(home, '.ssh', file), 'utf8'));
    if (text !== undefined) return text.trim();
  }
  throw new UsageError(`there is no public key in ${home}/.ssh: give one with --ssh-key FILE`);
}

async function readGiven(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`);
  }
}

/** Undefined means the default of the project. */
async function chooseNetwork(
  { client, project_id }: ProjectConnection,
  { network, subnet, publicAddress }: CreateFlags,
): Promise<Schemas['NewNetworkInterface'][] | undefined> {
  if (network === undefined && subnet === undefined && publicAddress) return undefined;
  const networks = () => client.networks.list({ project_id });
  const chosen = network && (await findByName('network', network, networks()));
  const subnets = () => client.subnets.list({ project_id });
  const inside = subnet && (await findByName('subnet', subnet, subnets()));
  return [
    {
      ...(chosen && { network_id: chosen.id }),
      ...(inside && { subnet_id: inside.id }),
      public_ipv4: { type: publicAddress ? 'dynamic' : 'none' },
    },
  ];
}
