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

it('nodes without hugepages are one finding that says what to add', async () => {
  expect(await check([node(0, 256, 0), node(1, 64, 0)])).toEqual([
    {
      ...{ check: 'hugepages', severity: 'warn' },
      found:
        '0 of 256 GiB on node 0, 0 of 64 GiB on node 1: guests are slower and start more slowly without',
      advice:
        'add default_hugepagesz=1G hugepagesz=1G hugepages=0:230,1:56 to the kernel command line',
    },
  ]);
});

it('a kernel without pages of 1 GiB gets the advice to use pages of 2 MiB', async () => {
  expect(await check([node(0, 256, 0, 2_048)])).toMatchObject([
    { advice: expect.stringContaining(`hugepagesz=2M hugepages=0:${230 * 512}`) },
  ]);
});

it('nodes with hugepages are ok, and so is a node that is too small for any', async () => {
  expect(await check([node(0, 256, 200), node(1, 8, 0)])).toMatchObject([
    { severity: 'ok', found: '200 of 256 GiB on node 0' },
    { severity: 'ok', found: '0 of 8 GiB on node 1' },
  ]);
});

it('a node whose hugepages leave no memory for the host is a warning', async () => {
  expect(await check([node(0, 256, 255)])).toMatchObject([{ severity: 'warn' }]);
});

it('pages that libvirt cannot reach are a failure', async () => {
  const other = MOUNTED.replace('1024M', '2M');
  expect(await check([node(0, 256, 200)], other)).toMatchObject([
    { severity: 'ok' },
    { severity: 'fail', advice: expect.stringContaining('default_hugepagesz=1G') },
  ]);
});
