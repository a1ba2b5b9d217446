import { expect, it } from 'vitest';
import { formatCpuList, parseCpuList } from './cpu-list.ts';

it.each([
  ['0-3,8', [0, 1, 2, 3, 8]],
  ['5', [5]],
  [' 0-1\n', [0, 1]],
  ['', []],
  ['none', []],
  ['3-1', []],
])('the list "%s" contains the CPUs %j', (list, cpus) => {
  expect(parseCpuList(list)).toEqual(cpus);
});

it('a list is written in ascending order with the fewest ranges', () => {
  expect(formatCpuList([64, 1, 0, 2, 65, 9])).toBe('0-2,9,64-65');
  expect(formatCpuList([])).toBe('');
});
