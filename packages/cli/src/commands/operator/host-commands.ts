import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connect } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { locationNames } from '../complete-names.ts';
import { type CommonFlags, commonFlags, optionalText, outputAlias } from '../flags.ts';
import { fenceHost, liftStorageFence } from './fence-host.ts';
import { findHost, type Host, hostArgument, hostColumns, hostFields, vmText } from './host.ts';
import { labelHost } from './label-host.ts';

const STATES = ['ready', 'unreachable', 'fenced'] as const;
const ADMIN_STATES = ['active', 'cordoned', 'draining'] as const;
type ListFlags = CommonFlags & {
  location: string | undefined;
  state: (typeof STATES)[number] | undefined;
  adminState: (typeof ADMIN_STATES)[number] | undefined;
};

const list = buildCommand<ListFlags, [], CliContext>({
  docs: { brief: 'List hosts' },
  parameters: {
    flags: {
      ...commonFlags,
      location: optionalText('Only hosts of this location', 'location', locationNames),
      state: {
        ...({ kind: 'enum', values: STATES, optional: true } as const),
        brief: 'Only hosts in this state',
      },
      adminState: {
        ...({ kind: 'enum', values: ADMIN_STATES, optional: true } as const),
        brief: 'Only hosts that operators have put into this state',
      },
    },
    aliases: outputAlias,
  },
  async func({ location, state, adminState, ...flags }) {
    const { client } = await connect(this, flags);
    const filters = {
      ...(location && { location }),
      ...(state && { state }),
      ...(adminState && { admin_state: adminState }),
    };
    const hosts: Host[] = [];
    for await (const host of client.adminHosts.list(filters)) hosts.push(host);
    printList(this, hosts, {
      ...{ format: flags.output, columns: hostColumns },
      nothing: Object.keys(filters).length === 0 ? 'There are no hosts.' : 'No host matches.',
    });
  },
});

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a host with its VMs' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: hostArgument },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id: host_id } = await findHost(client, wanted);
    const host = await client.adminHosts.get({ host_id });
    printOne(this, host, { format: flags.output, fields: hostFields(host) });
  },
});

type Change = 'cordon' | 'uncordon' | 'accept';

function changeCommand(change: Change, brief: string, fullDescription: string) {
  return buildCommand<CommonFlags, [string], CliContext>({
    docs: { brief, fullDescription },
    parameters: { flags: commonFlags, aliases: outputAlias, positional: hostArgument },
    async func(flags, wanted) {
      const { client } = await connect(this, flags);
      const { id: host_id } = await findHost(client, wanted);
      const host = await client.adminHosts[change]({ host_id });
      printOne(this, host, { format: flags.output, fields: hostFields(host) });
    },
  });
}

const cordon = changeCommand(
  ...(['cordon', 'Place no new VMs on a host', 'Its VMs stay. Ends a drain.'] as const),
);
const uncordon = changeCommand(
  ...(['uncordon', 'Place VMs on a host again', 'Ends a cordon or a drain.'] as const),
);
const accept = changeCommand(
  'accept',
  'Accept the present hardware and software of a host',
  'Ends its drift, so that new VMs are placed on it again. Look first: gantry host show HOST',
);

export const drainHost = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'Take a host out of service, and list the VMs that have to leave (for operators)',
    fullDescription:
      'No new VMs are placed on it, and the owners of its VMs are asked to stop them. To end the ' +
      'drain: gantry host uncordon HOST',
  },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: hostArgument },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id: host_id } = await findHost(client, wanted);
    const host = await client.adminHosts.drain({ host_id });
    const remaining = host.remaining_vms.map((vm) => ['Remaining VM', vmText(vm)] as const);
    const count = ['Remaining VMs', String(host.remaining_vms.length)] as const;
    const state = ['Admin state', host.admin_state] as const;
    const fields = [['Name', host.name], state, count, ...remaining] as const;
    printOne(this, host, { format: flags.output, fields });
  },
});

export const hostRoutes = buildRouteMap({
  routes: {
    ...{ list, show, cordon, uncordon, drain: drainHost, label: labelHost, accept },
    ...{ fence: fenceHost, liftStorageFence },
  },
  docs: { brief: 'Hosts (for operators)' },
});
