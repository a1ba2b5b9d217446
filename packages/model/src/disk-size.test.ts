import { expect, it } from 'vitest';
import { parseDiskSizeGib } from './disk-size.ts';

it.each([
  ['1GiB', 1],
  ['100GiB', 100],
  ['2TiB', 2048],
  ['10TiB', 10_240],
  ['10240GiB', 10_240],
])('parseDiskSizeGib reads %s', (text, gib) => expect(parseDiskSizeGib(text)).toBe(gib));

it.each([
  '',
  '0GiB',
  '11TiB',
  '10241GiB',
  '1.5TiB',
  '-1GiB',
  '1 GiB',
  '1GB',
  '1gib',
  '01GiB',
  '1e3GiB',
  '99999999999999999999TiB',
  'GiB',
  '1GiB\n',
])('parseDiskSizeGib rejects "%s"', (text) => expect(parseDiskSizeGib(text)).toBeUndefined());
