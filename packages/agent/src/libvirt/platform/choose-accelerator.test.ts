import { createSettingsReader } from '@gantry/daemon/settings';
import { describe, expect, it } from 'vitest';
import { chooseAccelerator, describeProbe, readAcceleratorSettings } from './choose-accelerator.ts';
import type { KvmProbe } from './kvm-probe.ts';

const read = (env: Record<string, string> = {}) =>
  readAcceleratorSettings(createSettingsReader(env));

const probeOf = (result: KvmProbe['result']): KvmProbe => ({
  ...{ result, detail: 'seen', durationMs: 1_234, remembered: false },
});

describe('readAcceleratorSettings', () => {
  it('probes and does not allow emulation by default', () => {
    expect(read()).toEqual({ accelerator: 'auto', allowEmulation: false, probeLimitMs: 30_000 });
  });

  it('reads all three variables', () => {
    const settings = read({
      GANTRY_ACCELERATOR: 'kvm',
      GANTRY_ALLOW_EMULATION: '1',
      GANTRY_KVM_PROBE_SECONDS: '120',
    });
    expect(settings).toEqual({ accelerator: 'kvm', allowEmulation: true, probeLimitMs: 120_000 });
  });

  it.each([
    ['GANTRY_ACCELERATOR', 'hvf'],
    ['GANTRY_ALLOW_EMULATION', 'yes'],
    ['GANTRY_KVM_PROBE_SECONDS', '0'],
  ])('rejects %s=%s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name);
  });
});

describe('chooseAccelerator', () => {
  it.each([
    ['auto', false, 'works', 'kvm'],
    ['auto', true, 'works', 'kvm'],
    ['auto', false, 'no_file', null],
    ['auto', false, 'no_permission', null],
    ['auto', false, 'hangs', null],
    ['auto', false, 'fails', null],
    ['auto', true, 'no_file', 'tcg'],
    ['auto', true, 'no_permission', 'tcg'],
    ['auto', true, 'hangs', 'tcg'],
    ['auto', true, 'fails', 'tcg'],
    ['kvm', true, 'works', 'kvm'],
    ['kvm', true, 'hangs', null],
    ['kvm', false, 'no_file', null],
  ] as const)('with %s, emulation allowed %j and a KVM that %s uses %j', async (...row) => {
    const [accelerator, allowEmulation, result, accel] = row;
    const settings = { accelerator, allowEmulation };
    const choice = await chooseAccelerator(settings, async () => probeOf(result));
    expect(choice).toEqual({ accel, reason: describeProbe(probeOf(result)) });
  });

  it('does not probe for tcg', async () => {
    const settings = { accelerator: 'tcg', allowEmulation: false } as const;
    const choice = chooseAccelerator(settings, () => Promise.reject(new Error('probed')));
    expect(await choice).toMatchObject({ accel: 'tcg' });
  });
});

describe('describeProbe', () => {
  it('states the result, what was seen and how long it took', () => {
    expect(describeProbe(probeOf('works'))).toBe('KVM works: seen (probed in 1.2 s)');
    expect(describeProbe({ ...probeOf('hangs'), remembered: true })).toBe(
      'KVM does not work: seen (probed earlier in this boot, 1.2 s)',
    );
    expect(describeProbe(probeOf('no_file'))).toBe('KVM does not work: seen');
  });
});
