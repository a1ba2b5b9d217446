import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** Checks docs/contributors/from-post-to-libvirt.md, which lists the files that create a VM. */

const MOST_STEPS = 25;
const MOST_LINES = 300;

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/contributors/from-post-to-libvirt.md'), 'utf8');
const rows = page
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .filter(([, step]) => /^\d+$/.test(step ?? ''));
const steps = rows.map(([, step = '', file = '', entry = '', caller = '']) => ({
  step: Number(step),
  file,
  entry,
  caller,
}));

const pathOf = (file: string) => path.join(root, 'packages', file);
const textOf = (file: string) => readFileSync(pathOf(file), 'utf8');

function callerOf(caller: string): string {
  const [, number] = /^step (\d+)$/.exec(caller) ?? [];
  if (number === undefined) return caller;
  return steps.find(({ step }) => step === Number(number))?.file ?? '';
}

describe('the files from POST to libvirt and back', () => {
  it(`are at most ${MOST_STEPS}, each listed once and in order`, () => {
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => index + 1));
    expect(new Set(steps.map(({ file }) => file)).size).toBe(steps.length);
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThanOrEqual(MOST_STEPS);
  });

  it.each(steps)('$file exists and is short enough to read', ({ file }) => {
    expect(existsSync(pathOf(file))).toBe(true);
    expect(textOf(file).trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
  });

  it.each(steps)('$file has the entry $entry', ({ file, entry }) => {
    const definition = `(function|FUNCTION|class|const) ${entry}\\b|^ +(async )?${entry}\\(`;
    expect(textOf(file)).toMatch(new RegExp(definition, 'm'));
  });

  it.each(steps)('$file is called by $caller', ({ entry, caller }) => {
    const file = callerOf(caller);
    expect(existsSync(pathOf(file))).toBe(true);
    expect(textOf(file)).toMatch(new RegExp(`(\\.\\.\\.|\\b)${entry}\\b[(,]`));
  });
});
