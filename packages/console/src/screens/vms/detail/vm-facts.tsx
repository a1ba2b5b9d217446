import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { prices, specs } from '../../../api/catalogue-queries.ts';
import { vmUsage } from '../../../api/project-queries.ts';
import { Chip } from '../../../components/badge.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Facts, Panel } from '../../../components/panel.tsx';
import { RelativeTime, useNow } from '../../../components/relative-time.tsx';
import { formatDuration } from '../../../format/duration.ts';
import { formatAmount, formatPrice } from '../../../format/money.ts';

type Vm = Schemas['Vm'];

export function VmFacts({ vm }: { vm: Vm }) {
  const { data: types = [] } = useQuery(specs(vm.project_id));
  const { data: costs = [] } = useQuery(prices(vm.project_id));
  const { data: usage } = useQuery(vmUsage(vm.project_id, vm.id));
  const nowMs = useNow();
  const spec = types.find(({ product_name }) => product_name === vm.type);
  const price = costs.find(({ resource_type }) => resource_type === vm.type)?.usd_per_hour ?? 0;
  const tags = Object.entries(vm.tags);
  return (
    <Panel title="Overview">
      <Facts
        items={[
          ['Type', spec ? `${vm.type}: ${describe(spec)}` : vm.type],
          ['Location', vm.location],
          ['Created', <RelativeTime key="created" at={vm.created_at} />],
          ['Running time', usage ? formatDuration(runningMs(vm, usage, nowMs)) : '…'],
          ['Price', `${formatPrice(price)} per hour while it runs`],
          ['Cost so far', usage ? describeCost(usage) : '…'],
          [
            'Tags',
            tags.length === 0
              ? '–'
              : tags.map(([key, value]) => (
                  <span key={key} className="mr-1">
                    <Chip>{value === '' ? key : `${key}: ${value}`}</Chip>
                  </span>
                )),
          ],
          [
            'Id',
            <span key="id" className="flex items-center gap-1">
              <code className="truncate font-mono text-xs">{vm.id}</code>
              <CopyButton text={vm.id} label="the id" />
            </span>,
          ],
        ]}
      />
    </Panel>
  );
}

/** The time of a running VM goes on after the usage was read. */
function runningMs(vm: Vm, { vm_seconds, until }: Schemas['VmUsage'], nowMs: number): number {
  const since = vm.state === 'STATE_RUNNING' ? Math.max(0, nowMs - Date.parse(until)) : 0;
  return vm_seconds * 1000 + since;
}

/** Data disks can move to other VMs, so they are not part of the cost of this one. */
function describeCost({ cost_usd, os_disk_cost_usd, priced }: Schemas['VmUsage']): string {
  const disk = `with ${formatAmount(os_disk_cost_usd)} for the OS disk, without data disks`;
  return `${formatAmount(cost_usd)}${priced ? '' : ' or more'}, ${disk}`;
}

function describe({ num_gpu, gpu_type, cpu_cores, memory_gb }: Schemas['Spec']): string {
  const gpus = num_gpu === 0 ? '' : `${num_gpu} × ${gpu_type}, `;
  return `${gpus}${cpu_cores} cores, ${memory_gb} GB`;
}
