import { afterEach, describe, expect, it } from 'vitest';
import { pciTree } from '../../../base/sysfs-tree.ts';
import { doctorHosts } from '../../../doctor/testing/doctor-hosts.ts';
import { checkNvlink } from './check-nvlink.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const [A, B] = ['0000:41:00.0', '0000:c1:00.0'] as const;
const gpus = (device: string, addresses: readonly string[] = [A, B]) =>
  Object.assign(
    {},
    ...addresses.map((address) =>
      pciTree(address, { class: '0x030200', vendor: '0x10de', device: `0x${device}` }),
    ),
  );

describe('NVLink bridges', () => {
  it('that the operator has not stated are a warning if the cards can have them', async () => {
    expect(await checkNvlink(await make({ sys: gpus('20b5') }), undefined)).toMatchObject([
      {
        severity: 'warn',
        found: expect.stringContaining('2 GPUs'),
        advice: expect.stringContaining('none'),
      },
    ]);
  });

  it.each([
    ['cards without a connector', gpus('26b9')],
    ['a single card', gpus('20b5', [A])],
  ])('are not asked for with %s', async (_, sys) => {
    expect(await checkNvlink(await make({ sys }), undefined)).toEqual([]);
  });

  it('that the operator has stated are shown', async () => {
    const host = await make({ sys: gpus('20b5') });
    expect(await checkNvlink(host, [[A, B]])).toMatchObject([
      { severity: 'ok', found: `bridges between ${A} and ${B}` },
    ]);
    expect(await checkNvlink(host, [])).toMatchObject([{ severity: 'ok', found: 'no bridges' }]);
  });
});
