type Filter = { filter: string; left: number };

/** What each filter asks of a host. A newer API may have a filter that this page does not know. */
const QUESTIONS: Record<string, string> = {
  location: 'are in the location',
  schedulable: 'take new VMs',
  gpu_model: 'have GPUs of the model',
  nested_virtualization: 'can run VMs inside VMs',
  gpu_count: 'have enough free GPUs',
  iommu_groups: 'have them in separate IOMMU groups',
  nvlink_pairs: 'have them in whole NVLink pairs',
  numa_nodes: 'have them in few enough NUMA nodes',
  cores: 'have enough free cores there',
  memory: 'have enough free memory there',
  network: 'have enough network bandwidth left',
  drives: 'have enough free drives',
  disk_space: 'have enough room for disks',
  storage_network: 'reach the storage cluster',
};

/** How many hosts each filter leaves, as bars that become shorter. What follows the first 0 says nothing more. */
export function Funnel({ filters }: { filters: Filter[] }) {
  const most = Math.max(1, ...filters.map(({ left }) => left));
  const end = filters.findIndex(({ left }) => left === 0);
  const shown = end < 0 ? filters : filters.slice(0, end + 1);
  return (
    <ol className="flex flex-col gap-1.5">
      {shown.map(({ filter, left }) => (
        <li
          key={filter}
          className="grid grid-cols-[1fr_max-content] items-center gap-x-3 gap-y-1 sm:grid-cols-[minmax(9rem,16rem)_1fr_max-content]"
        >
          <span className={left === 0 ? 'font-medium text-bad' : ''}>
            {QUESTIONS[filter] ?? filter.replaceAll('_', ' ')}
          </span>
          <span
            aria-hidden="true"
            className="h-3 overflow-hidden rounded bg-hover max-sm:order-last max-sm:col-span-2 max-sm:h-1.5"
          >
            <span
              className={`block h-full rounded ${left === 0 ? 'bg-bad' : 'bg-accent-fill'}`}
              style={{ width: `${(left / most) * 100}%` }}
            />
          </span>
          <span className="w-16 text-right">
            {left.toLocaleString('en')} {left === 1 ? 'host' : 'hosts'}
          </span>
        </li>
      ))}
    </ol>
  );
}
