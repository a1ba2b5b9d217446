import { expect, it } from 'vitest';
import { parsePorts } from './ports.ts';

it.each([
  ['22', 22, 22],
  ['3000-8080', 3000, 8080],
  ['1-65535', 1, 65_535],
  ['*', 0, 65_535],
])('parsePorts reads %s', (text, first, last) => expect(parsePorts(text)).toEqual({ first, last }));

it.each([
  '',
  '0',
  '65536',
  '22-',
  '-22',
  '8080-3000',
  '22-80-90',
  ' 22',
  '022',
  '1e3',
  '٢٢',
  '22,80',
])('parsePorts rejects "%s"', (text) => expect(parsePorts(text)).toBeUndefined());
