import { createLog } from '@gantry/daemon/log';
import { beforeEach, expect, it } from 'vitest';
import { makeDisk } from '../../testing/make-spec.ts';
import type { MountState } from '../../volumes/cephfs/share-mounts.ts';
import type { SeenDomain } from '../domains/domain-view.ts';
import { DomainShares } from './domain-shares.ts';

const log = createLog({ process: 'test', level: 'silent' });
const share = (user: string) => ({
  ...{ monitors: ['10.0.0.1:3300'], fileSystem: 'fs', pool: 'p', path: '/d', user, key: 'a2V5' },
});
const disk = (id: string) => makeDisk(id, { cephfs: share(id) });

type Logged = { path: string; vm_ids: string[] };

let mounted: Set<string>;
let states: Map<string, MountState>;
let domains: SeenDomain[];
let logged: (Logged & { level: string })[];

beforeEach(() => {
  [mounted, states, domains, logged] = [new Set(['/m/a', '/m/b']), new Map(), [], []];
});

const domain = (vmId: string, paths: string[], silence: SeenDomain['silence'] = null) =>
  ({
    ...{ vmId, silence, last: { facts: { filesystems: paths.map((path) => ({ path })) } } },
  }) as unknown as SeenDomain;

const make = () =>
  new DomainShares({
    view: { list: async () => domains },
    mounts: {
      pathOf: ({ user }) => `/m/${user}`,
      list: async () => new Set(mounted),
      look: async (path) => states.get(path) ?? 'alive',
      requireAlive: async () => {},
      unmount: async (path, isNeeded = () => false) => !isNeeded() && mounted.delete(path),
    },
    clock: { nowMs: () => 0, after: () => () => {} },
    log: {
      ...log,
      info: () => {},
      warn: (fields: object) => void logged.push({ level: 'warn', ...(fields as Logged) }),
      error: (fields: object) => void logged.push({ level: 'error', ...(fields as Logged) }),
    } as typeof log,
  });

it('a share that no domain names is unmounted, and the others stay', async () => {
  domains = [domain('one', ['/m/a'])];
  await make().removeUnused();
  expect([...mounted]).toEqual(['/m/a']);
});

it('a share that a VM is about to get stays until the VM no longer needs it', async () => {
  const shares = make();
  shares.needAll('one', [disk('a')]);
  shares.need('one', disk('b'));
  await shares.removeUnused();
  expect([...mounted]).toEqual(['/m/a', '/m/b']);
  shares.release('one', 'b');
  await shares.removeUnused();
  expect([...mounted]).toEqual(['/m/a']);
  shares.release('one');
  await shares.removeUnused();
  expect([...mounted]).toEqual([]);
});

it('nothing is unmounted while a domain does not reply', async () => {
  domains = [domain('one', [], { message: 'no reply', sinceMs: 0 })];
  await make().removeUnused();
  expect(mounted.size).toBe(2);
});

it('a share that is lost is logged once with the VMs that have it', async () => {
  domains = [domain('one', ['/m/a']), domain('two', ['/m/a', '/m/b'])];
  const shares = make();
  states.set('/m/a', 'dead');
  await shares.lookAtAll();
  await shares.lookAtAll();
  expect(logged).toEqual([{ level: 'error', path: '/m/a', vm_ids: ['one', 'two'] }]);
});
