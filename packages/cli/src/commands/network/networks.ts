import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { networkNames } from '../complete-names.ts';
import { findByName } from '../find-by-name.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from '../flags.ts';

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
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [argument('The name or the id', 'network', networkNames)],
    },
  },
  async func(flags, wanted) {
    const { client, project_id } = await connectToProject(this, flags);
    const networks = client.networks.list({ project_id });
    const network = await findByName('network', wanted, networks);
    const subnets = (await client.subnets.list({ project_id })).items.filter(
      ({ vpc_network_id }) => vpc_network_id === network.id,
    );
    const subnetFields = subnets.map(
      ({ name, cidr, location }) => ['Subnet', `${name} ${cidr} ${location}`] as const,
    );
    const { id, name, cidr, gateway } = network;
    const fields = [
      ...([
        ['Name', name],
        ['Id', id],
        ['CIDR', cidr],
        ['Gateway', gateway],
      ] as const),
      ...subnetFields,
    ];
    printOne(this, network, { format: flags.output, fields });
  },
});

export const networkRoutes = buildRouteMap({
  routes: { list, show },
  docs: { brief: 'Networks' },
});
