import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { prices, specs } from '../../../api/catalogue-queries.ts';
import { Chip } from '../../../components/badge.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Facts, Panel } from '../../../components/panel.tsx';
import { RelativeTime, useNow } from '../../../components/relative-time.tsx';
import { formatDuration } from '../../../format/duration.ts';
import { formatAmount, formatPrice } from '../../../format/money.ts';
import { runningMs } from './running-time.ts';

type Vm = Schemas['Vm'];
type VmFactsProps = { vm: Vm; operations: Schemas['Operation'][]; events: Schemas['Event'][] };

const MS_PER_HOUR = 3_600_000;

export function VmFacts({ vm, operations, events }: VmFactsProps) {
  const { data: types = [] } = useQuery(specs(vm.project_id));
  const { data: costs = [] } = useQuery(prices(vm.project_id));
  const nowMs = useNow();
  const spec = types.find(({ product_name }) => product_name === vm.type);
  const price = costs.find(({ resource_type }) => resource_type === vm.type)?.usd_per_hour ?? 0;
  const ranMs = runningMs({ createdAt: vm.created_at, operations, events, nowMs });
  const tags = Object.entries(vm.tags);
  return (
    <Panel title="Overview">
      <Facts
        items={[
          ['Type', spec ? `${vm.type}: ${describe(spec)}` : vm.type],
          ['Location', vm.location],
          ['Created', <RelativeTime key="created" at={vm.created_at} />],
          ['Running time', formatDuration(ranMs)],
          ['Price', `${formatPrice(price)} per hour while it runs`],
          ['Cost so far', `about ${formatAmount((ranMs / MS_PER_HOUR) * price)}, without disks`],
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

function describe({ num_gpu, gpu_type, cpu_cores, memory_gb }: Schemas['Spec']): string {
  const gpus = num_gpu === 0 ? '' : `${num_gpu} × ${gpu_type}, `;
  return `${gpus}${cpu_cores} cores, ${memory_gb} GB`;
}
