import { gpuModelOf } from '@gantry/model/gpu-models';
import type { PublishedServer } from '@gantry/simulator/servers/published-servers';
import type { Offer } from './offer.ts';

type Layout = { server: PublishedServer; offer: Offer };

/** Renders docs/operators/server-layouts.md. */
export function renderPage(layouts: readonly Layout[]): string {
  const servers = layouts.map(({ server }) => [server.title, hardwareOf(server), server.notes]);
  const offers = layouts.map(({ server, offer }) => [
    server.title,
    offer.alone.map(({ type, vms }) => `${vms} × ${type}`).join(', '),
    offer.mix.map(({ type, vms }) => `${vms} × ${type}`).join(' + ') || 'nothing',
    `${offer.sold} of ${offer.gpus}`,
    offer.reason || 'all are sold',
  ]);
  return `# Server layouts

This page is generated: \`npx vitest run --project unit test/layouts --update\`.

The table shows what the types of the catalogue sell of ten servers with the shapes of published models. Slots, sockets, CPUs,
memory, drives, network cards and firmware settings are plausible for these models. They were not read from such machines.
\`packages/simulator/src/servers/published-servers.ts\` describes them; the agent's own code reads
the inventory, and the scheduler's own code places VMs on it.

${table(['server', 'hardware', 'layout'], servers)}
"Alone" counts the VMs of a type if no other type is sold on the server. The mix sells the most GPUs with the fewest VMs. If GPUs
are left, the last column says why the smallest type that fits the empty server does not fit beside the mix.

${table(['server', 'alone', 'mix', 'GPUs sold', 'why not all'], offers)}`;
}

function hardwareOf({ nodes, gpu }: PublishedServer): string {
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const count = (kind: (node: PublishedServer['nodes'][number]) => number) => sum(nodes.map(kind));
  const gpus = count(({ gpusAtRoot = 0, gpusBySwitch }) => gpusAtRoot + sum([...gpusBySwitch]));
  const sockets = new Set(nodes.map(({ socket }) => socket)).size;
  const model = gpuModelOf(gpu.vendorId, gpu.deviceId);
  return [
    `${gpus} × ${model}`,
    `${sockets} × ${count(({ cores }) => cores) / sockets} cores`,
    `${count(({ memoryGib }) => memoryGib)} GiB`,
  ].join(', ');
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;
  return line(head) + line(widths.map((width) => '-'.repeat(width))) + rows.map(line).join('');
}
