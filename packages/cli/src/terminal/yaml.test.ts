import { expect, it } from 'vitest';
import { renderYaml } from './yaml.ts';

it('objects and lists are nested by indentation', () => {
  const data = {
    ...{ name: 'trainer', cores: 6, tags: {}, disks: [], result: null },
    interfaces: [
      { id: 'i1', ips: [{ address: '10.0.0.2' }] },
      { id: 'i2', ips: [] },
    ],
  };
  expect(renderYaml(data)).toBe(`name: trainer
cores: 6
tags: {}
disks: []
result: null
interfaces:
  - id: i1
    ips:
      - address: "10.0.0.2"
  - id: i2
    ips: []
`);
});

it('a list of objects begins at the margin, and an empty one is not nothing', () => {
  expect(renderYaml([{ name: 'one' }, { name: 'two' }])).toBe('- name: one\n- name: two\n');
  expect(renderYaml([])).toBe('[]\n');
});

it('text that could be read as another type, or that has special characters, is quoted', () => {
  const quoted = [
    '',
    'true',
    'No',
    'null',
    '1',
    '1e3',
    '- a',
    'a: b',
    'a #b',
    ' a',
    'two\nlines',
    '*x',
  ];
  for (const text of quoted) expect(renderYaml({ a: text })).toBe(`a: ${JSON.stringify(text)}\n`);
  for (const text of ['debian-12', 'eu-north-a', 'a b', 'me@example.com', 'NVIDIA A40'])
    expect(renderYaml({ a: text })).toBe(`a: ${text}\n`);
  expect(renderYaml({ 'a: b': 1, yes: 2 })).toBe('"a: b": 1\n"yes": 2\n');
});
