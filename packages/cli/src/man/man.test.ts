import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../testing/run-cli.ts';
import { EXIT_MEANINGS } from './facts.ts';
import { escapeRoff } from './roff.ts';

let cli: TestCli;
beforeEach(async () => {
  cli = await makeTestCli();
});
afterEach(() => cli.remove());

it('a page has the commands, arguments and flags of the definitions', async () => {
  const { code, stdout } = await cli.run(['man', 'vm']);
  expect(code).toBe(0);
  expect(stdout).toContain('.SS \\fBgantry vm create\\fR [\\fIoption\\fR ...] \\fIname\\fR\n');
  expect(stdout).toContain(
    '.TP\n\\fB\\-\\-type\\fR \\fItype\\fR\nThe VM type, such as a40.1x (required).\n',
  );
  expect(stdout).toContain('\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fItable|json|yaml\\fR\n');
  expect(stdout).toContain('\\fB\\-\\-[no\\-]wait\\fR\n');
  expect((await cli.run(['man', 'vms'])).code).toBe(4);
});

it('every command has a page, and groff formats each without a warning', async ({ skip }) => {
  const directory = path.join(cli.home, 'man1');
  expect((await cli.run(['man', '--directory', directory])).code).toBe(0);
  const pages = await readdir(directory);
  const { stdout } = await cli.run(['man']);
  const listed = [...stdout.matchAll(/^\\fB(gantry\\-.*)\\fR\(1\)$/gm)];
  const names = listed.map(([, name = '']) => `${name.replaceAll('\\-', '-')}.1`);
  expect(pages.toSorted()).toEqual(['gantry.1', ...names].toSorted());
  expect(names).toContain('gantry-access-key.1');
  for (const page of pages) {
    const args = ['-man', '-Tutf8', '-ww', '-z', path.join(directory, page)];
    try {
      execFileSync('groff', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') skip('groff is not installed');
      throw error;
    }
  }
});

it('the exit codes of the manual are those of the page for tenants', async () => {
  const file = path.resolve(import.meta.dirname, '../../../../docs/tenants/cli.md');
  const table = (await readFile(file, 'utf8')).split('| exit code |')[1] ?? '';
  const rows = [...table.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)];
  expect(rows.map(([, code, text]) => [Number(code), text])).toEqual(EXIT_MEANINGS);
});

it('text cannot become a request of troff', () => {
  expect(escapeRoff(".so /etc/passwd\n'x \\fB --a")).toBe(
    "\\&.so /etc/passwd\n\\&'x \\efB \\-\\-a",
  );
});
