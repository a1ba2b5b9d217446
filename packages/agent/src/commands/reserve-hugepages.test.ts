import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SysfsTree, writeSysfsTree } from '../base/sysfs-tree.ts';
import { DEFAULT_CAPACITY } from '../capacity/capacity-settings.ts';
import { describeReservation, reserveHugepages } from './reserve-hugepages.ts';

const KIB_PER_GIB = 1_048_576;
let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hugepages-'));
});
afterEach(() => rm(root, { recursive: true }));

const pool = (id: number, pageKib = KIB_PER_GIB) =>
  `devices/system/node/node${id}/hugepages/hugepages-${pageKib}kB/nr_hugepages`;

/** A node with this memory, of which so much is free or used for files, and so many pages. */
function node(id: number, memory: { gib: number; free: number; files?: number; pages?: number }) {
  const { gib, free, files = 0, pages = 0 } = memory;
  const line = (name: string, amount: number) =>
    `Node ${id} ${name}:   ${Math.round(amount * KIB_PER_GIB)} kB`;
  const meminfo = [
    line('MemTotal', gib),
    line('MemFree', free),
    line('Active(file)', files / 2),
    line('Inactive(file)', files / 2),
  ];
  return {
    [`devices/system/node/node${id}/cpulist`]: '0-3',
    [`devices/system/node/node${id}/meminfo`]: meminfo.join('\n'),
    [pool(id)]: String(pages),
    [pool(id, 2_048)]: '0',
  };
}

type Write = (path: string, text: string) => Promise<void>;
async function reserve(gib: number, tree: SysfsTree = {}, write?: Write) {
  await writeSysfsTree(root, tree);
  return await reserveHugepages({
    ...{ sysfsRoot: root, memoryBytes: gib * GIB, settings: DEFAULT_CAPACITY },
    warn: (message) => {
      throw new Error(message);
    },
    ...(write && { write }),
  });
}

const pagesOf = async (id: number) => (await readFile(join(root, pool(id)), 'utf8')).trim();

describe('the reserved hugepages', () => {
  it('are all memory of each node except what the host keeps', async () => {
    const free = node(0, { gib: 504, free: 503 });
    expect(await reserve(1_008, { ...free, ...node(1, { gib: 504, free: 502 }) })).toEqual([
      { node: 0, pageKib: KIB_PER_GIB, wanted: 489, got: 489 },
      { node: 1, pageKib: KIB_PER_GIB, wanted: 489, got: 489 },
    ]);
    expect([await pagesOf(0), await pagesOf(1)]).toEqual(['489', '489']);
  });

  it('are the same after a second run, which writes nothing', async () => {
    const writes: string[] = [];
    const write: Write = async (path, text) => {
      writes.push(text);
      await writeFile(path, text);
    };
    await reserve(504, node(0, { gib: 504, free: 503 }), write);
    const [again] = await reserve(504, {}, write);
    expect(again).toMatchObject({ wanted: 485, got: 485 });
    expect(writes).toEqual(['485']);
  });

  it('are never fewer than before, because VMs may use them', async () => {
    expect(await reserve(504, node(0, { gib: 504, free: 4, pages: 500 }))).toMatchObject([
      { wanted: 485, got: 500 },
    ]);
  });

  it('are reported as the kernel gave them', async () => {
    const fewer: Write = (path, text) => writeFile(path, String(Number(text) - 10));
    const [reservation] = await reserve(504, node(0, { gib: 504, free: 503 }), fewer);
    expect(reservation).toMatchObject({ wanted: 485, got: 475 });
  });

  it('leave memory that is in use, and memory for the host, on a host that runs VMs already', async () => {
    const tree = node(0, { gib: 504, free: 190, files: 20 });
    // The host keeps 18 GiB, and half of it must stay available.
    expect(await reserve(504, tree)).toMatchObject([{ wanted: 485, got: 200 }]);
  });

  it('are none on a node without memory to spare', async () => {
    expect(await reserve(504, node(0, { gib: 504, free: 3 }))).toMatchObject([{ got: 0 }]);
    expect(await pagesOf(0)).toBe('0');
  });
});

it('a reservation is one line, which says what is missing', () => {
  const reservation = { node: 1, pageKib: KIB_PER_GIB, wanted: 489, got: 489 };
  expect(describeReservation(reservation)).toBe('node 1: 489 pages of 1 GiB');
  expect(describeReservation({ ...reservation, pageKib: 2_048, got: 400 })).toBe(
    'node 1: 400 pages of 2 MiB, 89 fewer than wanted: a reboot gives the kernel more free memory',
  );
});
