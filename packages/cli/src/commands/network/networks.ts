import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { networkNames } from '../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { findByName } from '../find-by-name.ts';
import { argument, type CommonFlags, commonFlags, outputAlias, requiredText } from '../flags.ts';
import { showTags, type Tag, tagFlag, tagObject } from '../tags.ts';
import { subnetRoutes } from './subnets.ts';

const networkParameter = argument('The name or the id of the network', 'network', networkNames);
const networkArgument = { kind: 'tuple', parameters: [networkParameter] } as const;

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List networks' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items } = await client.networks.list({ project_id });
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no networks.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'CIDR', value: ({ cidr }) => cidr },
        { title: 'SUBNETS', value: ({ subnets }) => String(subnets.length) },
        { title: 'ID', value: ({ id }) => id, isExtra: true },
      ],
    });
  },
});

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a network and its subnets' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: networkArgument },
  async func(flags, wanted) {
    const { client, project_id } = await connectToProject(this, flags);
    const networks = client.networks.list({ project_id });
    const network = await findByName('network', wanted, networks);
    const { items } = await client.subnets.list({ project_id });
    const subnets = items
      .filter(({ vpc_network_id }) => vpc_network_id === network.id)
      .map(({ name, cidr, location }) => ['Subnet', `${name} ${cidr} ${location}`] as const);
    const fields = [...networkFields(network), ...subnets];
    printOne(this, network, { format: flags.output, fields });
  },
});

function networkFields({ id, name, cidr, gateway, tags }: Schemas['Network']) {
  return [
    ['Name', name],
    ['Id', id],
    ['CIDR', cidr],
    ['Gateway', gateway],
    ['Tags', showTags(tags)],
  ] as const;
}

type CreateFlags = CommonFlags & { cidr: string; tag: readonly Tag[] | undefined };

const create = buildCommand<CreateFlags, [string], CliContext>({
  docs: {
    brief: 'Create a network',
    fullDescription:
      'It has no subnets and no firewall rules: continue with gantry network subnet create and ' +
      'gantry firewall create.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      cidr: requiredText('Its block of private addresses, such as 10.0.0.0/16', 'cidr'),
      tag: tagFlag('A tag of the network; may be repeated'),
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new network', 'name')] },
  },
  async func({ cidr, tag, ...flags }, name) {
    const { client, project_id } = await connectToProject(this, flags);
    const body = { name, cidr, ...(tag && { tags: tagObject(tag) }) };
    const network = await client.networks.create({ project_id, body });
    printOne(this, network, { format: flags.output, fields: networkFields(network) });
  },
});

const rename = buildCommand<CommonFlags, [string, string], CliContext>({
  docs: { brief: 'Rename a network' },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [networkParameter, argument('The new name', 'name')],
    },
  },
  async func(flags, wanted, name) {
    const { client, project_id } = await connectToProject(this, flags);
    const networks = client.networks.list({ project_id });
    const { id: network_id } = await findByName('network', wanted, networks);
    const network = await client.networks.change({ project_id, network_id, body: { name } });
    printOne(this, network, { format: flags.output, fields: networkFields(network) });
  },
});

const remove = buildCommand<CommonFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Delete a network and its subnets',
    fullDescription:
      'Refused while VMs are in it, or firewall rules refer to it. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: networkArgument,
  },
  async func(flags, wanted) {
    const { client, project_id } = await connectToProject(this, flags);
    const networks = client.networks.list({ project_id });
    const { id: network_id, name } = await findByName('network', wanted, networks);
    await confirm(this, flags, `Delete the network ${name} and its subnets?`);
    const network = await client.networks.delete({ project_id, network_id });
    if (flags.output !== 'table') printOne(this, network, { format: flags.output, fields: [] });
  },
});

export const networkRoutes = buildRouteMap({
  routes: { list, show, create, rename, delete: remove, subnet: subnetRoutes },
  docs: { brief: 'Networks and their subnets' },
});
