import { describe, expect, it } from 'vitest';
import { type Column, renderFields, renderTable } from './table.ts';

type Row = { name: string; state: string; note: string };
const columns: Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'STATE', value: ({ state }) => state, style: () => 'green' },
  { title: 'NOTE', value: ({ note }) => note, isExtra: true },
];
const rows: Row[] = [
  { name: 'trainer', state: 'running', note: 'the first of them' },
  { name: 'a-very-long-name-of-a-vm', state: 'shutoff', note: '' },
];
const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe('a table', () => {
  it('aligns its columns and leaves no spaces at the end of a line', () => {
    expect(renderTable(columns, rows)).toBe(
      [
        'NAME                      STATE    NOTE',
        'trainer                   running  the first of them',
        'a-very-long-name-of-a-vm  shutoff',
        '',
      ].join('\n'),
    );
  });

  it('leaves its extra columns out if the terminal is too narrow for them', () => {
    const text = renderTable(columns, rows, { width: 40 });
    expect(text).not.toContain('NOTE');
    expect(text).toContain('a-very-long-name-of-a-vm  shutoff');
  });

  it('shortens the widest cells if nothing else helps, and is never wider than the terminal', () => {
    const text = renderTable(columns, rows, { width: 20 });
    expect(text).toContain('a-very-lon…');
    expect(widest(text)).toBe(20);
    for (const width of [15, 30, 45, 60])
      expect(widest(renderTable(columns, rows, { width }))).toBeLessThanOrEqual(width);
  });

  it('has escape sequences only if it is coloured', () => {
    expect(renderTable(columns, rows)).not.toContain('\u001b');
    expect(renderTable(columns, rows, { color: true })).toContain('\u001b[32mrunning\u001b[39m');
  });

  it('shows no control characters of its data', () => {
    const [row] = rows;
    const text = renderTable(columns, [{ ...(row as Row), name: 'a\u001b[2Jb\nc' }]);
    expect(text).toContain('a\ufffd[2Jb\ufffdc');
    expect(text.split('\n')).toHaveLength(3);
  });
});

it('fields without a value are left out', () => {
  const fields = [
    ['Name', 'trainer'],
    ['Address', ''],
    ['State', 'running'],
  ] as const;
  expect(renderFields(fields)).toBe('Name   trainer\nState  running\n');
});
