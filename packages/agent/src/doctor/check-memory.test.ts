import { GIB } from '@gantry/daemon/units';
import { afterEach, expect, it } from 'vitest';
import type { NumaNode } from '../inventory/numa-nodes.ts';
import { checkHugepages } from './check-memory.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const MOUNTED = '40 30 0:35 / /dev/hugepages rw shared:15 - hugetlbfs hugetlbfs rw,pagesize=1024M';

function node(id: number, gib: number, pages: number, pageKib = 1_048_576): NumaNode {
  const hugepages = [{ pageKib, total: pages, free: pages }];
  return { id, cpus: '', memoryBytes: gib * GIB, hugepages };
}

async function check(numaNodes: NumaNode[], mountinfo = MOUNTED) {
  return checkHugepages(await make({ numaNodes, root: { 'proc/self/mountinfo': mountinfo } }));
}

it('a node without hugepages is a warning that names the unit and what it reserves', async () => {
  expect(await check([node(0, 256, 0), node(1, 64, 0)])).toEqual([
    {
      ...{ check: 'hugepages', severity: 'warn' },
      found: '0 of 256 GiB on node 0: guests are slower and start more slowly without',
      advice: 'enable gantry-hugepages.service and reboot: it reserves 246 GiB of this node',
    },
    expect.objectContaining({ found: expect.stringContaining('0 of 64 GiB on node 1') }),
  ]);
});

it('a kernel without pages of 1 GiB reserves pages of 2 MiB', async () => {
  expect(await check([node(0, 256, 0, 2_048)])).toMatchObject([
    { advice: expect.stringContaining('242 GiB') },
  ]);
});

it('a node with the pages that the host can spare is ok, also if the kernel gave a few less', async () => {
  expect(await check([node(0, 256, 242)])).toMatchObject([
    { severity: 'ok', found: '242 of 256 GiB on node 0' },
  ]);
  expect(await check([node(0, 256, 239)])).toMatchObject([{ severity: 'ok' }]);
});

it('a node with fewer pages than the host can spare is a warning', async () => {
  expect(await check([node(0, 256, 200)])).toMatchObject([
    {
      ...{ severity: 'warn', advice: expect.stringContaining('GANTRY_HOST_MEMORY_GIB') },
      found: '200 of 256 GiB on node 0, and VMs are offered only these; 242 GiB can be reserved',
    },
  ]);
});

it('a kernel without hugepages is ok', async () => {
  const without = { ...node(0, 256, 0), hugepages: [] };
  expect(await check([without])).toMatchObject([{ severity: 'ok' }]);
});

it('a node whose hugepages leave no memory for the host is a warning', async () => {
  expect(await check([node(0, 256, 255)])).toMatchObject([{ severity: 'warn' }]);
});

it('pages that libvirt cannot reach are a failure', async () => {
  const other = MOUNTED.replace('1024M', '2M');
  expect(await check([node(0, 256, 242)], other)).toMatchObject([
    { severity: 'ok' },
    { severity: 'fail', advice: expect.stringContaining('dev-hugepages1G.mount') },
  ]);
});
