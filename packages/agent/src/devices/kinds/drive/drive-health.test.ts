import { expect, it } from 'vitest';
import { driveHealthReader, parseSmartLog } from './drive-health.ts';

const HEALTH = {
  critical_warning: 4,
  percentage_used: 101,
  available_spare: 97,
  spare_threshold: 10,
  media_errors: 2,
};

it.each([
  [
    'as version 1 writes it',
    {
      ...{ critical_warning: 4, temperature: 310, avail_spare: 97, spare_thresh: 10 },
      ...{ percent_used: 101, media_errors: 2 },
    },
  ],
  [
    'as version 2 writes it in detail',
    {
      critical_warning: {
        value: 4,
        available_spare: 0,
        temp_threshold: 0,
        reliability_degraded: 1,
      },
      ...{ avail_spare: 97, spare_thresh: 10, percent_used: 101, media_errors: '2' },
    },
  ],
  [
    'with long names and thousands',
    {
      ...{ critical_warning: '4', available_spare: 97, available_spare_threshold: 10 },
      ...{ percentage_used: 101, media_errors: '0,002' },
    },
  ],
])('a SMART log %s is read', (_, log) => {
  expect(parseSmartLog(JSON.stringify(log))).toEqual(HEALTH);
});

it.each(['', 'Failed to open device', '[]', 'null', '{}', '{"critical_warning":"?"}'])(
  'what is none is no health: %j',
  (text) => {
    expect(parseSmartLog(text)).toBeUndefined();
  },
);

it('a drive is asked by its node, and again only after ten minutes', async () => {
  const commands: string[] = [];
  let nowMs = 0;
  const healthOf = driveHealthReader({
    run: async (program, args) => {
      commands.push([program, ...args].join(' '));
      return '{"critical_warning":0,"percent_used":1}';
    },
    nowMs: () => nowMs,
  });
  await healthOf('nvme0');
  nowMs += 599_999;
  expect(await healthOf('nvme0')).toMatchObject({ percentage_used: 1 });
  expect(commands).toEqual(['nvme smart-log -o json /dev/nvme0']);
  nowMs += 1;
  await healthOf('nvme0');
  expect(commands).toHaveLength(2);
});

it('a host without nvme-cli has drives without health', async () => {
  const run = () => Promise.reject(new Error('not installed'));
  expect(await driveHealthReader({ run })('nvme0')).toBeUndefined();
});
