import { expect, it } from 'vitest';
import { isSameTune, tuneOf } from './disk-limits.ts';

const limits = (some: object) => ({
  ...{ kind: 'DISK_KIND_PERSISTENT_SSD' as const, totalIops: '0', readIops: '0', writeIops: '0' },
  ...{ totalBytesPerSecond: '0', readBytesPerSecond: '0', writeBytesPerSecond: '0' },
  ...{ iopsPerGib: '0', bytesPerSecondPerGib: '0', burstPercent: 0, burstSeconds: 0, ...some },
});
const gib = (count: number) => String(count * 1024 ** 3);

it('a disk has the limits of its type, and those that its size adds', () => {
  expect(tuneOf(undefined, gib(1))).toEqual({});
  expect(tuneOf(limits({}), gib(1))).toEqual({});
  expect(tuneOf(limits({ readIops: '5', writeBytesPerSecond: '7' }), gib(9))).toEqual({
    ...{ read_iops_sec: '5', write_bytes_sec: '7' },
  });
  expect(tuneOf(limits({ totalIops: '5', iopsPerGib: '2' }), gib(10))).toEqual({
    total_iops_sec: '25',
  });
});

it('a burst exceeds every limit for its time', () => {
  const burst = { burstPercent: 150, burstSeconds: 4 };
  expect(tuneOf(limits({ totalIops: '100', ...burst }), gib(1))).toEqual({
    ...{ total_iops_sec: '100', total_iops_sec_max: '150', total_iops_sec_max_length: '4' },
  });
  // QEMU refuses a burst that is not larger than its limit.
  expect(tuneOf(limits({ totalIops: '1', ...burst }), gib(1))).toEqual({ total_iops_sec: '1' });
});

it('no limit is larger than QEMU accepts', () => {
  const most = { totalIops: '10000000', iopsPerGib: '10000000' };
  expect(tuneOf(limits(most), gib(10_240))).toEqual({ total_iops_sec: '10000000' });
  const bytes = { bytesPerSecondPerGib: '1000000000000' };
  expect(tuneOf(limits(bytes), gib(10_240))).toEqual({ total_bytes_sec: '1000000000000' });
});

it('limits are compared one by one', () => {
  expect(isSameTune(undefined, {})).toBe(true);
  expect(isSameTune({ read_iops_sec: '1' }, { read_iops_sec: '1' })).toBe(true);
  expect(isSameTune({ read_iops_sec: '1' }, { read_iops_sec: '2' })).toBe(false);
  expect(isSameTune({}, { total_iops_sec: '2' })).toBe(false);
});
