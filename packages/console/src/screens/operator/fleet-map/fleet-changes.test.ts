import { describe, expect, it } from 'vitest';
import { countStates, matches, NO_FILTER } from './filter.ts';
import { hostsOfEvent, replaceHosts } from './fleet-changes.ts';
import type { FleetHost } from './layout.ts';

const host = (id: string, vms: FleetHost['vms'] = []): FleetHost => ({
  ...{ id, name: `name-${id}`, location: 'eu-north-a', rack: 'r1', state: 'ready' },
  ...{ admin_state: 'active', closed_reason: '', vms },
  gpus: [
    {
      ...{
        numa_node: 0,
        pcie_switch: '',
        model: 'H100',
        addresses: ['0000:10:00.0', '0000:11:00.0'],
      },
      ...{ states: ['free', 'sold'], vms: [-1, 0] },
    },
  ],
});
const fleet = [host('a', [{ id: 'vm-1', name: 'trainer' }]), host('b'), host('c')];

describe('an event of the stream', () => {
  it.each([
    ['host', { id: 'b' }, ['b']],
    ['devices', { host_id: 'c', items: [] }, ['c']],
    ['vm', { id: 'vm-1' }, ['a']],
    ['vm', { id: 'vm-9' }, []],
    ['operation', { operation_id: 'x' }, []],
    ['event', { id: 'b' }, []],
    ['ready', {}, []],
    ['devices', null, []],
  ])('%s %j concerns the hosts %j', (type, data, ids) => {
    expect(hostsOfEvent({ type, data }, fleet)).toEqual(ids);
  });
});

describe('hosts that were read again', () => {
  it('take the place of the old ones, and all others stay the same objects', () => {
    const fresh = { ...host('b'), closed_reason: 'it is cordoned' };
    expect(replaceHosts(fleet, ['b'], [fresh])).toEqual([fleet[0], fresh, fleet[2]]);
    expect(replaceHosts(fleet, ['b'], [fresh])[0]).toBe(fleet[0]);
  });

  it('are removed if they are gone, and added in the order of names if they are new', () => {
    expect(replaceHosts(fleet, ['b'], []).map(({ id }) => id)).toEqual(['a', 'c']);
    const ids = replaceHosts(fleet, ['aa'], [host('aa')]).map(({ id }) => id);
    expect(ids).toEqual(['a', 'aa', 'b', 'c']);
  });
});

describe('a filter', () => {
  const [first = host('x')] = fleet;
  const sold = {
    model: 'H100',
    state: 'sold',
    address: '0000:11:00.0',
    vm: first.vms[0] ?? null,
  } as const;

  it('finds a GPU by parts of the names of its host, rack and VM, and by its address', () => {
    for (const text of ['NAME-A', ' r1 ', 'train', 'vm-1', '11:00'])
      expect(matches({ ...NO_FILTER, text }, first, sold)).toBe(true);
    expect(matches({ ...NO_FILTER, text: 'elsewhere' }, first, sold)).toBe(false);
  });

  it('needs everything that is asked for', () => {
    expect(matches({ ...NO_FILTER, text: 'train', state: 'free' }, first, sold)).toBe(false);
    expect(matches({ ...NO_FILTER, location: 'us-east-a' }, first, sold)).toBe(false);
    expect(matches({ ...NO_FILTER, model: 'A40' }, first, sold)).toBe(false);
  });

  it('counts what matches', () => {
    expect(countStates(fleet, NO_FILTER)).toEqual({ free: 3, sold: 3, cleaning: 0, blocked: 0 });
    const trainer = { ...NO_FILTER, text: 'trainer' };
    expect(countStates(fleet, trainer)).toEqual({ free: 0, sold: 1, cleaning: 0, blocked: 0 });
  });
});
