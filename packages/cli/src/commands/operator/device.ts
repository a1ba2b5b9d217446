import type { Client, Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { NoSuchNameError } from '../../cli-errors.ts';
import { connect } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import type { Style } from '../../terminal/style.ts';
import { hostNames } from '../complete-names.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../flags.ts';
import { findHost, type Host } from './host.ts';

type HostDevice = (Schemas['HostGpu'] | Schemas['HostDrive']) & {
  kind: 'gpu' | 'drive';
  host_id: string;
  host_name: string;
};
type State = Schemas['Device']['state'];

const deviceArgument = {
  kind: 'tuple',
  parameters: [argument('The id of the device, or HOST/PCI-ADDRESS', 'device')],
} as const;

function devicesOf(host: Host): HostDevice[] {
  const place = { host_id: host.id, host_name: host.name };
  return [
    ...host.gpus.map((gpu) => ({ kind: 'gpu' as const, ...gpu, ...place })),
    ...host.drives.map((drive) => ({ kind: 'drive' as const, ...drive, ...place })),
  ];
}

async function findDevice(client: Client, wanted: string): Promise<HostDevice> {
  const slash = wanted.indexOf('/');
  if (slash > 0) {
    const host = await findHost(client, wanted.slice(0, slash));
    const address = wanted.slice(slash + 1);
    const found = devicesOf(host).find((each) => each.pci_address === address);
    if (found !== undefined) return found;
    throw new NoSuchNameError(`the host ${host.name} has no device ${address}`);
  }
  for await (const host of client.adminHosts.list({ limit: 1000 })) {
    const found = devicesOf(host).find(({ id }) => id === wanted.toLowerCase());
    if (found !== undefined) return found;
  }
  throw new NoSuchNameError(`there is no device ${wanted}`);
}

const STYLES: Record<State, Style> = {
  ...({ ready: 'green', quarantined: 'red', missing: 'red', used_by_host: 'dim' } as const),
};

/** What a device is: the model of a GPU, the size and the serial number of a drive. */
function whatText(device: HostDevice): string {
  return 'model' in device ? device.model : `${device.size_gb} GB ${device.serial}`;
}

function problemText({ problems, state_reason, quarantine_reason }: HostDevice): string {
  const texts = problems.map(({ severity, message }) => `${severity}: ${message}`);
  return [quarantine_reason, state_reason, ...texts].filter(Boolean).join('; ');
}

const STATES = ['ready', 'quarantined', 'missing', 'used_by_host'] as const;
type ListFlags = CommonFlags & {
  host: string | undefined;
  kind: 'gpu' | 'drive' | undefined;
  state: State | undefined;
};

const list = buildCommand<ListFlags, [], CliContext>({
  docs: { brief: 'List the GPUs and drives of hosts' },
  parameters: {
    flags: {
      ...commonFlags,
      host: optionalText('Only devices of this host', 'host', hostNames),
      kind: {
        ...({ kind: 'enum', values: ['gpu', 'drive'], optional: true } as const),
        brief: 'Only devices of this kind',
      },
      state: {
        ...({ kind: 'enum', values: STATES, optional: true } as const),
        brief: 'Only devices in this state',
      },
    },
    aliases: outputAlias,
  },
  async func({ host, kind, state, ...flags }) {
    const { client } = await connect(this, flags);
    const hosts: Host[] = [];
    if (host !== undefined) hosts.push(await findHost(client, host));
    else for await (const each of client.adminHosts.list({ limit: 1000 })) hosts.push(each);
    const devices = hosts
      .flatMap(devicesOf)
      .filter((each) => (kind ?? each.kind) === each.kind && (state ?? each.state) === each.state);
    printList(this, devices, {
      ...{ format: flags.output, nothing: 'There are no such devices.' },
      columns: [
        { title: 'HOST', value: (each) => each.host_name },
        { title: 'ADDRESS', value: (each) => each.pci_address },
        { title: 'KIND', value: (each) => each.kind },
        { title: 'STATE', value: (each) => each.state, style: (each) => STYLES[each.state] },
        { title: 'WHAT', value: whatText },
        { title: 'VM', value: (each) => each.vm_id },
        { title: 'PROBLEM', value: problemText, isExtra: true },
        { title: 'ID', value: (each) => each.id, isExtra: true },
      ],
    });
  },
});

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a device: its link, errors and problems' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: deviceArgument },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const device = await findDevice(client, wanted);
    const { health } = device;
    const link = (gts: number, width: number) => (gts < 0 ? 'unknown' : `${gts} GT/s x${width}`);
    const fields = [
      ['Id', device.id],
      ['Kind', device.kind],
      ['What', whatText(device)],
      ['Host', device.host_name],
      ['PCI address', device.pci_address],
      ['NUMA node', device.numa_node < 0 ? '' : String(device.numa_node)],
      ['State', device.state],
      ['VM', device.vm_id],
      ['Quarantine', device.quarantine_reason],
      ['Reason', device.state_reason],
      ...device.problems.map((each) => ['Problem', `${each.severity}: ${each.message}`] as const),
      ['Driver', health.driver],
      ['Link', link(health.link_speed_gts, health.link_width)],
      ['Largest link', link(health.max_link_speed_gts, health.max_link_width)],
      ['PCIe errors', errorText(health)],
    ] as const;
    printOne(this, device, { format: flags.output, fields });
  },
});

function errorText(health: Schemas['DeviceHealth']): string {
  const { correctable_errors, nonfatal_errors, fatal_errors } = health;
  if (fatal_errors < 0) return 'unknown';
  return `${correctable_errors} correctable, ${nonfatal_errors} nonfatal, ${fatal_errors} fatal`;
}

function deviceFields({ id, kind, pci_address, state, quarantine_reason }: Schemas['Device']) {
  return [
    ['Id', id],
    ['Kind', kind],
    ['PCI address', pci_address],
    ['State', state],
    ['Quarantine', quarantine_reason],
  ] as const;
}

const quarantine = buildCommand<CommonFlags & { reason: string }, [string], CliContext>({
  docs: {
    brief: 'Give a device to no new VM',
    fullDescription: 'A VM that has it keeps it.',
  },
  parameters: {
    flags: { ...commonFlags, reason: requiredText('Why; other operators read it', 'text') },
    ...{ aliases: outputAlias, positional: deviceArgument },
  },
  async func({ reason, ...flags }, wanted) {
    const { client } = await connect(this, flags);
    const { id: device_id } = await findDevice(client, wanted);
    const device = await client.adminDevices.quarantine({ device_id, body: { reason } });
    printOne(this, device, { format: flags.output, fields: deviceFields(device) });
  },
});

const release = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'Give a device to VMs again',
    fullDescription: 'Ends its quarantine, and the problems that last until a release.',
  },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: deviceArgument },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id: device_id } = await findDevice(client, wanted);
    const device = await client.adminDevices.release({ device_id });
    printOne(this, device, { format: flags.output, fields: deviceFields(device) });
  },
});

const receipts = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'List how a device was cleaned after VMs, newest first' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: deviceArgument },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id: device_id } = await findDevice(client, wanted);
    const { items } = await client.adminDevices.receipts({ device_id });
    const proven = ({ properties }: Schemas['OperatorDeviceReceipt']) =>
      properties.filter(({ state }) => state === 'verified').map(({ name }) => name);
    printList(this, items, {
      ...{ format: flags.output, nothing: 'It was not cleaned yet.' },
      columns: [
        { title: 'FINISHED', value: ({ finished_at }) => finished_at.slice(0, 19) },
        { title: 'METHOD', value: ({ method }) => method },
        {
          title: 'RESULT',
          value: ({ failure_code }) => failure_code || 'clean',
          style: ({ failure_code }) => (failure_code === '' ? 'green' : 'red'),
        },
        { title: 'PROVEN', value: (receipt) => proven(receipt).join(' ') },
        { title: 'VM', value: ({ vm_id }) => vm_id, isExtra: true },
        { title: 'MESSAGE', value: ({ failure_message }) => failure_message, isExtra: true },
      ],
    });
  },
});

export const deviceRoutes = buildRouteMap({
  routes: { list, show, quarantine, release, receipts },
  docs: { brief: 'GPUs and drives of hosts (for operators)' },
});
