import type { Schemas } from '@gantry/sdk';
import type { ProjectConnection } from '../../config/connect.ts';
import type { Style } from '../../terminal/style.ts';
import type { Column } from '../../terminal/table.ts';
import { vmNames } from '../complete-names.ts';
import { isId, onlyOne } from '../find-by-name.ts';
import { argument } from '../flags.ts';
import { showTags } from '../tags.ts';

export type Vm = Schemas['Vm'];

export const vmArgument = {
  kind: 'tuple',
  parameters: [argument('The name or the id of the VM', 'vm', vmNames)],
} as const;

/** A name of a VM can look like an id, so the id counts first. */
export async function findVm(
  { client, project_id }: ProjectConnection,
  wanted: string,
): Promise<Vm> {
  // A comma would make it a list of names.
  if (wanted === '' || wanted.includes(',')) return onlyOne('VM', wanted, []);
  const byId = isId(wanted) ? await client.vms.list({ project_id, ids: wanted }) : { items: [] };
  const [vm] = byId.items;
  if (vm !== undefined) return vm;
  const { items } = await client.vms.list({ project_id, names: wanted });
  return onlyOne('VM', wanted, items);
}

/** `STATE_RUNNING` is `running` for people. */
export function stateText({ state }: Vm): string {
  return state.replace('STATE_', '').toLowerCase();
}

const STYLES: Partial<Record<Vm['state'], Style>> = {
  STATE_RUNNING: 'green',
  STATE_SHUTOFF: 'dim',
  STATE_CRASHED: 'red',
  STATE_ERROR: 'red',
  STATE_UNREACHABLE: 'red',
};

export const vmColumns: readonly Column<Vm>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'STATE', value: stateText, style: ({ state }) => STYLES[state] ?? 'yellow' },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'LOCATION', value: ({ location }) => location },
  { title: 'ADDRESS', value: ({ ssh_destination }) => ssh_destination },
  { title: 'CREATED', value: ({ created_at }) => created_at.slice(0, 16), isExtra: true },
  { title: 'TAGS', value: ({ tags }) => showTags(tags), isExtra: true },
];

export function vmFields(vm: Vm) {
  const ips = vm.network_interfaces.flatMap((each) => each.ips);
  return [
    ['Name', vm.name],
    ['Id', vm.id],
    ['State', stateText(vm)],
    ['Type', vm.type],
    ['Location', vm.location],
    [
      'Public address',
      ips
        .map(({ public_ipv4 }) => public_ipv4.address)
        .join(' ')
        .trim(),
    ],
    [
      'Private address',
      ips
        .map(({ private_ipv4 }) => private_ipv4.address)
        .join(' ')
        .trim(),
    ],
    ['Network', vm.network_interfaces.map(({ network }) => network).join(' ')],
    ['Disks', vm.disks.map(({ name, size }) => `${name} (${size})`).join(', ')],
    ['Tags', showTags(vm.tags)],
    ['Created', vm.created_at],
  ] as const;
}
