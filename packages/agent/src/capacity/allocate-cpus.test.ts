import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocateCpus } from './allocate-cpus.ts';

/** A node whose cores have two threads, as the kernel numbers them: 1,101 2,102 and so on. */
const node = (id: number, cores: number, first = 1) => ({
  id,
  cores: Array.from({ length: cores }, (_, core) => [first + core, 100 + first + core]),
});

type Given = Partial<Parameters<typeof allocateCpus>[0]> & { cpuCores: number };
/** On a node with four cores: 1,101 2,102 3,103 4,104. */
function allocate({ cpuCores, ...given }: Given) {
  const request = { nodes: [node(0, 4)], core: 'thread', present: [], others: [] } as const;
  return allocateCpus({ ...request, shares: [{ node: 0, cpuCores }], ...given }).get(0);
}

describe('the CPUs of a VM', () => {
  it('are the threads of whole cores, siblings next to each other', () => {
    expect(allocate({ cpuCores: 4 })).toEqual(['1', '101', '2', '102']);
  });

  it('are not those that another domain has', () => {
    expect(allocate({ cpuCores: 4, others: ['1', '101', '3', '103'] })).toEqual([
      ...['2', '102', '4', '104'],
    ]);
  });

  it('are of no core that another VM uses, if the VM has whole cores only', () => {
    expect(allocate({ cpuCores: 4, others: ['1', '101', '2'] })).toEqual(['3', '103', '4', '104']);
  });

  it('end with the free thread of a shared core if their number is odd', () => {
    expect(allocate({ cpuCores: 3, others: ['1', '101', '2'] })).toEqual(['3', '103', '102']);
    expect(allocate({ cpuCores: 3 })).toEqual(['1', '101', '2']);
  });

  it('are single threads of shared cores if no whole core is left', () => {
    expect(allocate({ cpuCores: 2, others: ['1', '2', '3', '103', '4', '104'] })).toEqual([
      ...['101', '102'],
    ]);
  });

  it('end with a core that has one thread if their number is odd', () => {
    const nodes = [{ id: 0, cores: [[1], [2, 102], [3, 103]] }];
    expect(allocate({ cpuCores: 3, nodes })).toEqual(['2', '102', '1']);
  });

  it('are none if too few are free', () => {
    expect(allocate({ cpuCores: 8 })).toHaveLength(8);
    expect(allocate({ cpuCores: 9 })).toBeNull();
    expect(allocate({ cpuCores: 7, others: ['1', '101'] })).toBeNull();
    expect(allocate({ cpuCores: 1, nodes: [] })).toBeNull();
  });

  it('are not reserved by a domain whose vCPUs may run anywhere on the node', () => {
    expect(allocate({ cpuCores: 8, others: ['1-4,101-104', ''] })).toHaveLength(8);
  });

  it('stay as they are in its domain', () => {
    const present = ['4', '104', '2', '102'];
    expect(allocate({ cpuCores: 4, present, others: ['1', '101'] })).toEqual(present);
  });

  it.each([
    ['a pin is missing', ['4', '104', '2']],
    ['a CPU is pinned twice', ['4', '104', '4', '104']],
    ['a CPU is not for VMs', ['4', '104', '0', '100']],
    ['another domain has one of them', ['3', '103', '1', '101']],
    ['they were not reserved', Array(4).fill('1-4,101-104')],
  ])('are chosen again if %s', (_, present) => {
    expect(allocate({ cpuCores: 4, present, others: ['1', '101'] })).toEqual([
      ...['2', '102', '3', '103'],
    ]);
  });

  it('come from the nodes of its shares', () => {
    const shares = [
      { node: 0, cpuCores: 2 },
      { node: 1, cpuCores: 4 },
    ];
    const nodes = [node(0, 4), node(1, 1, 50)];
    expect([...allocateCpus({ nodes, shares, core: 'thread', present: [], others: [] })]).toEqual([
      [0, ['1', '101']],
      [1, null],
    ]);
  });
});

describe('with physical cores as the unit', () => {
  const core = 'core' as const;

  it('each core of the VM has a physical core with all its threads', () => {
    expect(allocate({ cpuCores: 2, core, others: ['1,101'] })).toEqual(['2,102', '3,103']);
  });

  it('a core of which another VM has a thread is not used', () => {
    expect(allocate({ cpuCores: 3, core, others: ['1'] })).toEqual(['2,102', '3,103', '4,104']);
    expect(allocate({ cpuCores: 4, core, others: ['1'] })).toBeNull();
  });

  it('a domain keeps its cores, and one that had threads gets cores', () => {
    expect(allocate({ cpuCores: 2, core, present: ['4,104', '2,102'] })).toEqual([
      '4,104',
      '2,102',
    ]);
    expect(allocate({ cpuCores: 2, core, present: ['1', '101'] })).toEqual(['1,101', '2,102']);
  });
});

it('VMs that come and go never share a thread, and all that fit the offer get their threads', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 12 });
  const steps = fc.array(
    fc.record({ vm: fc.nat({ max: 5 }), cpuCores: fc.integer({ min: 1, max: 9 }) }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(sizes, steps, (threads, changes) => {
      let next = 0;
      const cores = threads.map((size) => Array.from({ length: size }, () => next++));
      const offered = cores.flat().length;
      const vms = new Map<number, readonly string[]>();
      for (const { vm, cpuCores } of changes) {
        if (vms.delete(vm)) continue;
        const others = [...vms.values()].flat();
        const request = { nodes: [{ id: 0, cores }], shares: [{ node: 0, cpuCores }], others };
        const pins = allocateCpus({ ...request, core: 'thread', present: [] }).get(0) ?? null;
        expect(pins === null).toBe(others.length + cpuCores > offered);
        if (pins === null) continue;
        expect(new Set([...others, ...pins]).size).toBe(others.length + cpuCores);
        const again = allocateCpus({ ...request, core: 'thread', present: pins }).get(0);
        expect(again).toEqual(pins);
        vms.set(vm, pins);
      }
    }),
  );
});
