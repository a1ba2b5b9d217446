import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { locationNames, networkNames, subnetNames } from '../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { findByName } from '../find-by-name.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../flags.ts';
import { showTags, type Tag, tagFlag, tagObject } from '../tags.ts';

type Subnet = Schemas['Subnet'];

const subnetParameter = argument('The name or the id of the subnet', 'subnet', subnetNames);

const list = buildCommand<CommonFlags & { network: string | undefined }, [], CliContext>({
  docs: { brief: 'List subnets' },
  parameters: {
    flags: {
      ...commonFlags,
      network: optionalText('Only those of this network', 'network', networkNames),
    },
    aliases: outputAlias,
  },
  async func({ network, ...flags }) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items: networks } = await client.networks.list({ project_id });
    const only = network && (await findByName('network', network, networks)).id;
    const { items } = await client.subnets.list({ project_id });
    const shown = items.filter(({ vpc_network_id }) => !only || vpc_network_id === only);
    const networkName = ({ vpc_network_id }: Subnet) =>
      networks.find(({ id }) => id === vpc_network_id)?.name ?? vpc_network_id;
    printList(this, shown, {
      ...{ format: flags.output, nothing: 'There are no subnets.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'CIDR', value: ({ cidr }) => cidr },
        { title: 'LOCATION', value: ({ location }) => location },
        { title: 'NETWORK', value: networkName },
        { title: 'TAGS', value: ({ tags }) => showTags(tags), isExtra: true },
        { title: 'ID', value: ({ id }) => id, isExtra: true },
      ],
    });
  },
});

type CreateFlags = CommonFlags & {
  network: string;
  cidr: string;
  location: string;
  tag: readonly Tag[] | undefined;
};

const create = buildCommand<CreateFlags, [string], CliContext>({
  docs: { brief: 'Create a subnet of a network in a location' },
  parameters: {
    flags: {
      ...commonFlags,
      network: requiredText('The network, by name or id', 'network', networkNames),
      cidr: requiredText('Its block inside the network, such as 10.0.1.0/24', 'cidr'),
      location: requiredText('The location of its VMs', 'location', locationNames),
      tag: tagFlag('A tag of the subnet; may be repeated'),
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new subnet', 'name')] },
  },
  async func({ network, cidr, location, tag, ...flags }, name) {
    const { client, project_id } = await connectToProject(this, flags);
    const networks = client.networks.list({ project_id });
    const { id: vpc_network_id } = await findByName('network', network, networks);
    const tags = tag && { tags: tagObject(tag) };
    const body = { name, cidr, location, vpc_network_id, ...tags };
    const subnet = await client.subnets.create({ project_id, body });
    printOne(this, subnet, { format: flags.output, fields: subnetFields(subnet) });
  },
});

function subnetFields({ id, name, cidr, location, vpc_network_id, tags }: Subnet) {
  return [
    ['Name', name],
    ['Id', id],
    ['CIDR', cidr],
    ['Location', location],
    ['Network', vpc_network_id],
    ['Tags', showTags(tags)],
  ] as const;
}

const rename = buildCommand<CommonFlags, [string, string], CliContext>({
  docs: { brief: 'Rename a subnet' },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: { kind: 'tuple', parameters: [subnetParameter, argument('The new name', 'name')] },
  },
  async func(flags, wanted, name) {
    const { client, project_id } = await connectToProject(this, flags);
    const subnets = client.subnets.list({ project_id });
    const { id: subnet_id } = await findByName('subnet', wanted, subnets);
    const subnet = await client.subnets.change({ project_id, subnet_id, body: { name } });
    printOne(this, subnet, { format: flags.output, fields: subnetFields(subnet) });
  },
});

const remove = buildCommand<CommonFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Delete a subnet',
    fullDescription:
      'Refused while VMs or firewall rules refer to it. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: { kind: 'tuple', parameters: [subnetParameter] },
  },
  async func(flags, wanted) {
    const { client, project_id } = await connectToProject(this, flags);
    const subnets = client.subnets.list({ project_id });
    const { id: subnet_id, name } = await findByName('subnet', wanted, subnets);
    await confirm(this, flags, `Delete the subnet ${name}?`);
    const subnet = await client.subnets.delete({ project_id, subnet_id });
    if (flags.output !== 'table') printOne(this, subnet, { format: flags.output, fields: [] });
  },
});

export const subnetRoutes = buildRouteMap({
  routes: { list, create, rename, delete: remove },
  docs: { brief: 'Subnets' },
});
