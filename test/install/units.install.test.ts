import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** The figures in docs/operators/install.md. Lower is better; 10 is a process that may do anything. */
const EXPOSURE = { 'gantry-api': 1.3, 'gantry-scheduler': 1.7, 'gantry-agent': 6.8 };

it.each(Object.entries(EXPOSURE))('%s.service is exposed at most %f', async (unit, most) => {
  const file = path.join(root, 'deploy/systemd', `${unit}.service`);
  const args = ['security', '--offline=true', '--no-pager', file];
  const { stdout } = await promisify(execFile)('systemd-analyze', args);
  const found = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
  expect(found).toBeLessThanOrEqual(most);
});

it('the exposure of the units is the one in the documentation', async () => {
  const page = await readFile(path.join(root, 'docs/operators/install.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([\w-]+)\.service` +\| `\w+` +\| ([\d.]+)/gm)];
  expect(Object.fromEntries(rows.map(([, unit, figure]) => [unit, Number(figure)]))).toEqual(
    EXPOSURE,
  );
});
