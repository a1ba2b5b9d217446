import { element, type XmlElement } from '../../base/xml.ts';
import type { DomainDefinition, GuestCell } from './domain-definition.ts';

/** Elements of a domain for its cores and memory, and how the guest sees them. */
export function cpuElements(definition: DomainDefinition): (XmlElement | null)[] {
  const { cells, memory, iothreads } = definition;
  const memoryMib = sum(cells.map((cell) => cell.memoryMib));
  return [
    // A core dump of the emulator must not contain the guest's memory.
    element('memory', { unit: 'MiB', dumpCore: 'off' }, String(memoryMib)),
    element('currentMemory', { unit: 'MiB' }, String(memoryMib)),
    memoryBackingElement(memory),
    element('vcpu', { placement: 'static' }, String(vcpuCount(cells))),
    element('iothreads', {}, String(iothreads)),
    cputuneElement(definition),
    numatuneElement(cells),
    cpuElement(definition),
  ];
}

function vcpuCount(cells: readonly GuestCell[]): number {
  return sum(cells.map((cell) => cell.vcpuPins.length));
}

/**
 * Always shared, because a directory can be attached at any time and virtiofs accesses the guest's
 * memory.
 */
function memoryBackingElement({ hugepageKib, locked }: DomainDefinition['memory']): XmlElement {
  return element('memoryBacking', {}, [
    hugepageKib === null
      ? null
      : element('hugepages', {}, [element('page', { size: hugepageKib, unit: 'KiB' })]),
    // Merged pages would show one tenant what another has in memory.
    element('nosharepages'),
    locked ? element('locked') : null,
    element('source', { type: 'memfd' }),
    element('access', { mode: 'shared' }),
  ]);
}

function cputuneElement({ cells, emulatorCpus, iothreads }: DomainDefinition): XmlElement | null {
  const pins = cells.flatMap((cell) => cell.vcpuPins);
  const vcpupins = pins.flatMap((cpuset, vcpu) =>
    cpuset === '' ? [] : [element('vcpupin', { vcpu, cpuset })],
  );
  const threads = Array.from({ length: iothreads }, (_, index) => index + 1);
  const others =
    emulatorCpus === ''
      ? []
      : [
          element('emulatorpin', { cpuset: emulatorCpus }),
          ...threads.map((iothread) => element('iothreadpin', { iothread, cpuset: emulatorCpus })),
        ];
  const tunes = [...vcpupins, ...others];
  return tunes.length === 0 ? null : element('cputune', {}, tunes);
}

function numatuneElement(cells: readonly GuestCell[]): XmlElement | null {
  const nodes = [...new Set(cells.flatMap(({ hostNode }) => hostNode ?? []))].sort((a, b) => a - b);
  if (nodes.length === 0) return null;
  return element('numatune', {}, [
    element('memory', { mode: 'strict', nodeset: nodes.join(',') }),
    ...cells.map(({ hostNode }, cellid) =>
      hostNode === null ? null : element('memnode', { cellid, mode: 'strict', nodeset: hostNode }),
    ),
  ]);
}

function cpuElement(definition: DomainDefinition): XmlElement {
  const { platform, cells, threadsPerCore, hiddenCpuFeatures } = definition;
  const feature = threadsPerCore > 1 ? platform.threadsFeature : undefined;
  const children = [
    topologyElement(cells, threadsPerCore),
    feature ? element('feature', { policy: 'require', name: feature }) : null,
    ...hiddenCpuFeatures.map((name) => element('feature', { policy: 'disable', name })),
    numaElement(cells),
  ];
  switch (platform.cpu) {
    case 'host-passthrough':
      return element('cpu', { mode: platform.cpu, check: 'none', migratable: 'off' }, children);
    case 'maximum':
      return element('cpu', { mode: platform.cpu, check: 'none' }, children);
    default:
      return element('cpu', { mode: 'custom', match: 'exact', check: 'none' }, [
        element('model', { fallback: 'forbid' }, platform.cpu),
        ...children,
      ]);
  }
}

/** One socket per cell if the cells are equal: a socket in two cells confuses guests. */
function topologyElement(cells: readonly GuestCell[], threads: number): XmlElement {
  const vcpus = vcpuCount(cells);
  const areAlike = cells.every(({ vcpuPins }) => vcpuPins.length * cells.length === vcpus);
  const sockets = areAlike ? cells.length : 1;
  return element('topology', { sockets, dies: 1, cores: vcpus / sockets / threads, threads });
}

function numaElement(cells: readonly GuestCell[]): XmlElement | null {
  if (cells.every(({ hostNode }) => hostNode === null)) return null;
  let first = 0;
  const elements = cells.map(({ vcpuPins, memoryMib }, id) => {
    const last = first + vcpuPins.length - 1;
    const cpus = vcpuPins.length === 0 ? {} : { cpus: `${first}-${last}` };
    first = last + 1;
    return element('cell', { id, ...cpus, memory: memoryMib, unit: 'MiB', memAccess: 'shared' });
  });
  return element('numa', {}, elements);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
