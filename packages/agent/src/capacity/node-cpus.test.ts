import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sysfs } from '../base/sysfs.ts';
import { type SysfsTree, writeSysfsTree } from '../base/sysfs-tree.ts';
import { readNodeCpus } from './node-cpus.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'node-cpus-'));
});
afterEach(() => rm(root, { recursive: true }));

/** Cores with two threads, whose second threads are numbered after all first threads. */
function smt(cores: number): SysfsTree {
  const cpus = Array.from({ length: 2 * cores }, (_, cpu) => cpu);
  return Object.fromEntries(
    cpus.map((cpu) => [
      `devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`,
      `${cpu % cores},${(cpu % cores) + cores}`,
    ]),
  );
}

async function read(tree: SysfsTree, cpus: string[], hostCores: number | null = null) {
  await writeSysfsTree(root, tree);
  const nodes = cpus.map((list, id) => ({ id, cpus: list }));
  return await readNodeCpus(new Sysfs(root), nodes, { hostCores });
}

describe('the CPUs of a node', () => {
  it('are grouped by physical core, and the host keeps the first core of each node', async () => {
    expect(await read(smt(8), ['0-3,8-11', '4-7,12-15'])).toEqual([
      {
        node: 0,
        forHost: [[0, 8]],
        forVms: [
          [1, 9],
          [2, 10],
          [3, 11],
        ],
      },
      {
        node: 1,
        forHost: [[4, 12]],
        forVms: [
          [5, 13],
          [6, 14],
          [7, 15],
        ],
      },
    ]);
  });

  it('are all for VMs on a node that is too small to spare a core', async () => {
    expect(await read(smt(3), ['0-5'])).toMatchObject([{ forHost: [] }]);
  });

  it('are kept for the host as the operator says, up to all of them', async () => {
    expect(await read(smt(4), ['0-7'], 3)).toMatchObject([{ forVms: [[3, 7]] }]);
    expect(await read(smt(4), ['0-7'], 9)).toMatchObject([{ forVms: [] }]);
    expect(await read(smt(4), ['0-7'], 0)).toMatchObject([{ forHost: [] }]);
  });

  it('do not include CPUs that are offline; the sibling of one is a core with one thread', async () => {
    const tree = { ...smt(4), 'devices/system/cpu/online': '0-5' };
    expect(await read(tree, ['0-7'])).toEqual([
      { node: 0, forHost: [[0, 4]], forVms: [[1, 5], [2], [3]] },
    ]);
  });

  it('are each a core if the kernel shows no topology', async () => {
    expect(await read({}, ['0-3'])).toEqual([{ node: 0, forHost: [[0]], forVms: [[1], [2], [3]] }]);
  });

  it('are kept from the host if they are isolated and others are left', async () => {
    const tree = { ...smt(4), 'devices/system/cpu/isolated': '0-1,4-5' };
    expect(await read(tree, ['0-7'])).toMatchObject([
      {
        forHost: [[2, 6]],
        forVms: [
          [0, 4],
          [1, 5],
          [3, 7],
        ],
      },
    ]);
    expect(await read(tree, ['0-7'], 3)).toMatchObject([
      {
        forHost: [
          [2, 6],
          [3, 7],
          [0, 4],
        ],
      },
    ]);
  });

  it('are none on a node with memory only', async () => {
    expect(await read({}, [''])).toEqual([{ node: 0, forHost: [], forVms: [] }]);
  });
});
