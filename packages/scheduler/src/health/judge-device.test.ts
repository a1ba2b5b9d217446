import type { DeviceProblem } from '@gantry/model/device-problem';
import { describe, expect, it } from 'vitest';
import { makeDrive, makeGpu, makeInventory } from '../inventory/testing/make-inventory.ts';
import { HEALTH_RULES } from './health-rules.ts';
import { judgeDevice } from './judge-device.ts';
import { readHealthRules } from './read-rules.ts';
import { type SeenDevice, seenDevices } from './seen-device.ts';

const AT = new Date('2030-01-31T12:00:00.000Z');
const LATER = new Date('2030-02-01T12:00:00.000Z');
const ADDRESS = '0000:41:00.0';

type Change = NonNullable<Parameters<typeof makeGpu>[1]>;
const seen = (reported: ReturnType<typeof makeGpu>): SeenDevice => {
  const device = seenDevices(makeInventory({ devices: [reported] })).get(ADDRESS);
  if (!device) throw new Error('BUG: the inventory lacks the device');
  return device;
};
const gpu = (change: Change = {}, warnings: string[] = []) =>
  seen(makeGpu(ADDRESS, { ...change, warnings }));
const drive = (change: Change = {}) => seen(makeDrive(ADDRESS, change));

const link = { speedGts: 16, maxSpeedGts: 16, width: 16, maxWidth: 16 };
const aer = { correctable: '50', nonfatal: '5', fatal: '5' };
const health = {
  critical_warning: 0,
  percentage_used: 3,
  available_spare: 100,
  spare_threshold: 10,
  media_errors: 7,
};

type Judged = {
  before?: SeenDevice | undefined;
  standing?: DeviceProblem[];
  at?: Date;
  rules?: typeof HEALTH_RULES;
};
const judge = (now: SeenDevice, { before = now, standing = [], at = AT, rules }: Judged = {}) =>
  judgeDevice({ rules: rules ?? HEALTH_RULES, before, now, standing, at });
const found = (problems: DeviceProblem[]) =>
  problems.map(({ rule, severity }) => `${rule} ${severity}`);

describe('judgeDevice without a problem', () => {
  it.each([
    ['a GPU', gpu({ link, aer })],
    ['a GPU with few reported values', gpu()],
    ['a drive', drive({ health })],
    ['a drive with few reported values', drive()],
    [
      'a drive without a threshold for its spare capacity',
      drive({ health: { ...health, available_spare: 0, spare_threshold: 0 } }),
    ],
  ])('finds none on %s', (_, device) => {
    expect(judge(device)).toEqual([]);
  });
});

describe('judgeDevice finds', () => {
  it.each<[string, SeenDevice, string[], string]>([
    ['a device off the bus', gpu({ lost: true }), ['lost block'], 'all ones'],
    ['a narrow link', gpu({ link: { ...link, width: 8 } }), ['link_narrow block'], '8 of 16 lanes'],
    ['a slow link', gpu({ link: { ...link, speedGts: 2.5 } }), ['link_slow warn'], 'while idle'],
    ['a GPU without a reset', gpu({ resetMethods: [] }), ['no_reset block'], 'no way to reset'],
    [
      'a card that the agent cannot use',
      gpu({ attributes: { unsupported: 'needs a fabric manager, not supported yet' } }),
      ['unsupported block'],
      'it needs a fabric manager, not supported yet',
    ],
    [
      'a drive that the agent cannot assign',
      drive({ attributes: { unassignable: 'is behind the storage controller 0000:64:05.5' } }),
      ['unassignable block'],
      'it is behind the storage controller 0000:64:05.5',
    ],
    [
      'a warning of the vendor',
      gpu({}, ['Xid 79', 'row remap']),
      ['vendor_warning block'],
      'Xid 79; row remap',
    ],
    [
      'a critical warning',
      drive({ health: { ...health, critical_warning: 4 } }),
      ['drive_critical block'],
      '0x04',
    ],
    [
      'a worn drive',
      drive({ health: { ...health, percentage_used: 95 } }),
      ['drive_worn warn'],
      '95 %',
    ],
    [
      'a worn-out drive',
      drive({ health: { ...health, percentage_used: 100 } }),
      ['drive_worn warn', 'drive_worn_out block'],
      '100 %',
    ],
    [
      'too little spare capacity',
      drive({ health: { ...health, available_spare: 9 } }),
      ['drive_spare block'],
      '9 %',
    ],
  ])('%s', (_, device, expected, words) => {
    const problems = judge(device);
    expect(found(problems)).toEqual(expected);
    expect(problems[0]?.message).toContain(words);
    expect(problems[0]).toMatchObject({ since: AT.toISOString(), until_released: false });
  });

  it.each<[string, SeenDevice, SeenDevice, string[]]>([
    ['fatal errors', gpu({ aer }), gpu({ aer: { ...aer, fatal: '6' } }), ['aer_fatal block']],
    [
      'uncorrected errors',
      gpu({ aer }),
      gpu({ aer: { ...aer, nonfatal: '6' } }),
      ['aer_nonfatal block'],
    ],
    [
      'corrected errors by the threshold',
      gpu({ aer }),
      gpu({ aer: { ...aer, correctable: '150' } }),
      ['aer_correctable warn'],
    ],
    [
      'corrected errors below the threshold (no problem)',
      gpu({ aer }),
      gpu({ aer: { ...aer, correctable: '149' } }),
      [],
    ],
    [
      'media errors',
      drive({ health }),
      drive({ health: { ...health, media_errors: 8 } }),
      ['media_errors warn'],
    ],
    [
      'errors after the counter was reset',
      gpu({ aer }),
      gpu({ aer: { ...aer, fatal: '1' } }),
      ['aer_fatal block'],
    ],
    [
      'no errors after the counter was reset (no problem)',
      gpu({ aer }),
      gpu({ aer: { ...aer, fatal: '0' } }),
      [],
    ],
    ['errors from before the first reading (no problem)', gpu(), gpu({ aer }), []],
  ])(
    'a rise of %s, which stays until an operator releases the device',
    (_, before, now, expected) => {
      const problems = judge(now, { before });
      expect(found(problems)).toEqual(expected);
      expect(problems.every(({ until_released }) => until_released)).toBe(true);
    },
  );

  it('no missing reset on a drive, because a drive is erased and not reset', () => {
    expect(judge(drive({ resetMethods: [] }))).toEqual([]);
  });
});

describe('a known problem', () => {
  const narrow = gpu({ link: { ...link, width: 8 } });
  const risen = () => judge(gpu({ aer: { ...aer, fatal: '6' } }), { before: gpu({ aer }) });

  it('keeps the time when it was found and gets the current message', () => {
    const narrower = gpu({ link: { ...link, width: 4 } });
    expect(judge(narrower, { standing: judge(narrow), at: LATER })).toMatchObject([
      { since: AT.toISOString(), message: expect.stringContaining('4 of 16') },
    ]);
  });

  it('ends when its cause is gone', () => {
    expect(judge(gpu({ link }), { standing: judge(narrow) })).toEqual([]);
  });

  it('stays if it was a rise, even without another rise', () => {
    const standing = risen();
    expect(judge(gpu({ aer }), { standing, at: LATER })).toEqual(standing);
    expect(judge(gpu({ aer }), { standing: [] })).toEqual([]);
  });

  it('stays until an operator ends it if its value can no longer be read', () => {
    const standing = judge(gpu({ driver: 'nvidia' }, ['Xid 79']));
    const kept = judge(gpu({ driver: 'vfio-pci' }), { standing });
    expect(kept).toEqual([{ ...standing[0], until_released: true }]);
    expect(judge(gpu({ driver: 'nvidia' }), { standing: kept })).toEqual([]);
    const worn = judge(drive({ health: { ...health, critical_warning: 1 } }));
    expect(found(judge(drive(), { standing: worn }))).toEqual(['drive_critical block']);
  });

  it('stays when the device leaves the bus and its other values mean nothing', () => {
    const lost = gpu({ lost: true, resetMethods: [], link: { ...link, width: 0 } });
    expect(found(judge(lost, { standing: risen() }))).toEqual(['lost block', 'aer_fatal block']);
  });

  it('does not apply to another device at the same address', () => {
    const other = gpu({ deviceId: '20b5', aer: { ...aer, fatal: '9' } });
    expect(judge(other, { before: gpu({ aer }), standing: risen() })).toEqual([]);
    const standing = judge(drive({ serial: 'S1', health: { ...health, media_errors: 9 } }), {
      before: drive({ serial: 'S1', health }),
    });
    expect(standing).toHaveLength(1);
    const swapped = drive({ serial: 'S2', health });
    expect(judge(swapped, { before: drive({ serial: 'S1', health }), standing })).toEqual([]);
    expect(judge(drive(), { before: drive({ serial: 'S1', health }), standing })).toEqual(standing);
  });

  it('has the present severity of its rule and ends when the rule is off', () => {
    const rules = readHealthRules('{"aer_fatal": {"severity": "warn"}}');
    expect(found(judge(gpu({ aer }), { standing: risen(), rules }))).toEqual(['aer_fatal warn']);
    const without = readHealthRules('{"aer_fatal": {"severity": "off"}}');
    expect(judge(gpu({ aer }), { standing: risen(), rules: without })).toEqual([]);
  });
});
