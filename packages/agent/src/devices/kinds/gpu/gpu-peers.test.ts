import { createSettingsReader } from '@gantry/daemon/settings';
import { describe, expect, it } from 'vitest';
import { peersOf, readPeerScope } from './gpu-peers.ts';

const ROOT = '0000:40:01.1';
const SWITCH = [ROOT, '0000:41:00.0'];
const gpu = (bridges: string[], vendorId = '10de') => ({ vendorId, bridges });

describe('the peers of a GPU', () => {
  it('are the GPUs below the same switch, also through a switch below it', () => {
    const direct = peersOf(gpu([...SWITCH, '0000:42:00.0']), 'switch');
    const deeper = gpu([...SWITCH, '0000:42:04.0', '0000:50:00.0', '0000:51:00.0']);
    expect(direct).toEqual({ group: '0000:41:00.0', switch: '0000:41:00.0' });
    expect(peersOf(deeper, 'switch')).toEqual(direct);
  });

  it('are none on a root port of its own, unless the operator allows the root complex', () => {
    expect(peersOf(gpu([ROOT]), 'switch')).toBeNull();
    expect(peersOf(gpu([ROOT]), 'root-complex')).toEqual({ group: '0000:40', switch: null });
    expect(peersOf(gpu([...SWITCH, '0000:42:00.0']), 'root-complex')).toEqual({
      group: '0000:40',
      switch: '0000:41:00.0',
    });
  });

  it('are none below a bridge that is not a switch', () => {
    expect(peersOf(gpu(SWITCH), 'switch')).toBeNull();
  });

  it('are shown below their switch but not declared for other vendors', () => {
    const bridges = [...SWITCH, '0000:42:00.0'];
    const shown = { group: null, switch: '0000:41:00.0' };
    expect(peersOf(gpu(bridges, '1002'), 'switch')).toEqual(shown);
    expect(peersOf(gpu(bridges, '1002'), 'root-complex')).toEqual(shown);
    expect(peersOf(gpu([ROOT], '1002'), 'root-complex')).toBeNull();
  });

  it('are none without bridges, or if the operator turned them off', () => {
    const bridges = [...SWITCH, '0000:42:00.0'];
    expect(peersOf(gpu([]), 'root-complex')).toBeNull();
    expect(peersOf(gpu(bridges), 'off')).toBeNull();
  });

  it('are set by GANTRY_GPU_PEERS, and another value is refused by name', () => {
    const read = (env: Record<string, string>) => readPeerScope(createSettingsReader(env));
    expect(read({})).toBe('switch');
    expect(read({ GANTRY_GPU_PEERS: 'off' })).toBe('off');
    expect(() => read({ GANTRY_GPU_PEERS: 'all' })).toThrow('GANTRY_GPU_PEERS');
  });
});
