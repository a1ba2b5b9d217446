import { afterEach, expect, it } from 'vitest';
import { type Finding, fail, ok, warn } from '../base/finding.ts';
import { checksOf } from './checks.ts';
import { examine, renderFindings, statusOf } from './examine.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

it.each([
  [[], 0],
  [[ok('a', 'b')], 0],
  [[ok('a', 'b'), warn('a', 'b', 'c')], 1],
  [[fail('a', 'b', 'c'), warn('a', 'b', 'c'), ok('a', 'b')], 2],
] satisfies [Finding[], number][])(
  'the worst finding decides the exit status: %#',
  (findings, status) => {
    expect(statusOf(findings)).toBe(status);
  },
);

it('each finding is one line, whatever is in it', () => {
  expect(renderFindings([ok('a', 'fine'), fail('b', 'bad\nand more', 'do  this')])).toBe(
    'ok    a: fine\nfail  b: bad and more -> do this\n',
  );
});

it('a check that fails to run is a warning, and the other checks still run', async () => {
  const findings = await examine(await make(), [
    ['first', () => Promise.reject(new Error('EACCES'))],
    ['second', async () => [ok('second', 'fine')]],
  ]);
  expect(findings).toMatchObject([
    { check: 'first', severity: 'warn', found: 'could not be checked: EACCES' },
    { check: 'second', severity: 'ok' },
  ]);
});

it('an empty machine passes through every check, and each finding that is not ok says what to do', async () => {
  const host = await make();
  const findings = await examine(host);
  expect(findings.length).toBeGreaterThan(checksOf(host).length / 2);
  expect(findings.filter(({ found }) => found.includes('could not be checked'))).toEqual([]);
  for (const { severity, advice } of findings) expect(advice === '').toBe(severity === 'ok');
  expect(statusOf(findings)).toBe(2);
});
