import type { Client, Schemas } from '@gantry/sdk';
import type { Style } from '../../terminal/style.ts';
import type { Column } from '../../terminal/table.ts';
import { hostNames } from '../complete-names.ts';
import { findByName } from '../find-by-name.ts';
import { argument } from '../flags.ts';
import { showTags } from '../tags.ts';

export type Host = Schemas['Host'];

export const hostArgument = {
  kind: 'tuple',
  parameters: [argument('The name or the id of the host', 'host', hostNames)],
} as const;

export async function findHost(client: Client, wanted: string): Promise<Host> {
  return await findByName('host', wanted, client.adminHosts.list({ limit: 1000 }));
}

const STYLES: Record<Host['state'], Style> = { ready: 'green', unreachable: 'red', fenced: 'dim' };

export const hostColumns: readonly Column<Host>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'LOCATION', value: ({ location }) => location },
  { title: 'STATE', value: ({ state }) => state, style: ({ state }) => STYLES[state] },
  { title: 'ADMIN', value: ({ admin_state }) => admin_state },
  { title: 'GPUS FREE', value: freeGpus },
  { title: 'VMS', value: ({ vm_count }) => String(vm_count) },
  { title: 'ATTENTION', value: attention, style: () => 'yellow' },
  { title: 'LAST SEEN', value: ({ last_seen_at }) => last_seen_at.slice(0, 16), isExtra: true },
  { title: 'AGENT', value: ({ agent_version }) => agent_version, isExtra: true },
  { title: 'ID', value: ({ id }) => id, isExtra: true },
];

function freeGpus({ gpus }: Host): string {
  const isFree = (gpu: Schemas['HostGpu']) => gpu.state === 'ready' && gpu.vm_id === '';
  return `${gpus.filter(isFree).length} of ${gpus.length}`;
}

/** Why no new VM is placed on a host that is connected, in a few words. */
function attention({ drift, trouble, refusal, unresponsive_vms, unknown_vms }: Host): string {
  return [
    ...(drift.length > 0 ? ['drift'] : []),
    ...(trouble !== '' || refusal !== '' ? ['trouble'] : []),
    ...(unresponsive_vms.length > 0 ? ['VMs do not reply'] : []),
    ...(unknown_vms.length > 0 ? ['unknown VMs'] : []),
  ].join(', ');
}

export function hostFields(host: Schemas['HostDetails']) {
  const { software } = host;
  const certificate = host.certificates.find(({ revoked_at }) => revoked_at === '');
  return [
    ['Name', host.name],
    ['Id', host.id],
    ['Location', host.location],
    ['Labels', showTags(host.labels)],
    ['State', host.state],
    ['Admin state', host.admin_state],
    ['Connected', host.connected ? 'yes' : 'no'],
    ['Last seen', host.last_seen_at],
    ...host.drift.map((each) => ['Drift', each] as const),
    ['Trouble', host.trouble],
    ['Refusal', host.refusal],
    ['Fence', host.storage_fence_problem],
    ...host.unresponsive_vms.map(
      ({ vm_id, message }) => ['No reply', `${vm_id}: ${message}`] as const,
    ),
    ...host.unknown_vms.map((id) => ['Unknown VM', id] as const),
    ['GPUs free', freeGpus(host)],
    ['Drives', String(host.drives.length)],
    ['Agent', host.agent_version],
    ['System', [software.os, software.kernel].filter(Boolean).join(', ')],
    ['Libvirt', software.libvirt],
    ['Certificate', certificate === undefined ? 'none' : `until ${certificate.not_after}`],
    ...host.vms.map((vm) => ['VM', vmText(vm)] as const),
  ] as const;
}

export function vmText({ name, id, state }: Schemas['PlacedVm']): string {
  return `${name} ${state.replace('STATE_', '').toLowerCase()} ${id}`;
}
