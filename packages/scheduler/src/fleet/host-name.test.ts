import { expect, it } from 'vitest';
import { hostNames } from './host-name.ts';

const ID = '01990000-0000-7000-8000-0000deadbeef';

it.each([
  ['gpu-7.example.com', ['gpu-7.example.com', 'gpu-7.example.com-deadbeef', ID]],
  ['GPU_7 (rack 3)', ['gpu-7-rack-3', 'gpu-7-rack-3-deadbeef', ID]],
  ['', [ID]],
  ['  ', [ID]],
  ['../../', [ID]],
  ['ü', [ID]],
  ['-a-', ['a', 'a-deadbeef', ID]],
  ['x'.repeat(200), ['x'.repeat(63), `${'x'.repeat(54)}-deadbeef`, ID]],
])('a host with the hostname "%s" gets the first free name of %j', (hostname, names) => {
  expect(hostNames(hostname, ID)).toEqual(names);
});
