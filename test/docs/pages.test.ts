import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../scenarios/cli/run-bundle.ts';
import { listPages, OTHER_PAGES, PAGES, readPage, STORAGE_PAGES } from './pages.ts';

/** Every command in a page for operators is executed by a test; page-script.ts says how blocks are marked. */
const listed = [...PAGES, ...STORAGE_PAGES, ...OTHER_PAGES];
const pages = listed.map(readPage);

it('every page for operators is listed once', () => {
  const outside = ['../../deploy/README.md', '../storage.md'];
  expect([...listed].sort()).toEqual([...outside, ...listPages()].sort());
});

it.each(OTHER_PAGES)('%s has no commands that nothing executes', (page) => {
  expect(readPage(page).script).toBe('');
});

/** The sources of a test and of what it imports from beside it, in which a block may be read. */
function sourcesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file) || !existsSync(file)) return [];
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(/ from '(\.{1,2}\/[^']+\.ts)'/g)].flatMap(([, name = '']) =>
    sourcesOf(path.resolve(path.dirname(file), name), seen),
  );
  return [text, ...imported];
}

/** The beginnings of the blocks of a page that a test reads. */
function beginningsRead(file: string, page: string): string[] {
  const calls = /\bdocumented(?:Lines)?\(\s*'([^']+)',\s*(?:'([^']+)'|"([^"]+)"|`([^`]+)`)/g;
  return sourcesOf(path.join(root, file)).flatMap((text) =>
    [...text.matchAll(calls)].flatMap(([, of, ...beginnings]) =>
      of === page ? beginnings.filter((beginning) => beginning !== undefined) : [],
    ),
  );
}

describe.each(pages)('$page', ({ page, mistakes, tested }) => {
  it('says for each block whether it has commands', () => expect(mistakes).toEqual([]));

  it('names tests that take the commands from the page', () => {
    const unread = tested.filter(
      ({ path: file, body }) =>
        !beginningsRead(file, page).some((beginning) => body.startsWith(beginning)),
    );
    expect(unread).toEqual([]);
  });
});

describe('alerts.md', () => {
  const [{ text = '' } = {}] = pages.filter(({ page }) => page === 'alerts.md');
  const sections = text.split(/^### /m).slice(1);
  const rules = readFileSync(path.join(root, 'deploy/monitoring/gantry.rules.yml'), 'utf8');
  const severities = [...rules.matchAll(/- alert: (\w+)\n(?:.*\n)*?\s+severity: (\w+)/g)];

  it('has the severity of each alert, in the order of the rules', () => {
    const said = sections.map((section) => /^(\w+)\n\n(Page|Ticket)\. /.exec(section) ?? []);
    expect(said.map(([, name, severity]) => `${name} ${severity?.toLowerCase()}`)).toEqual(
      severities.map(([, name, severity]) => `${name} ${severity}`),
    );
  });

  it.each(sections.map((section) => [section.split('\n')[0], section]))(
    '%s: says what it means, what to look at and what to do',
    (_, section) => {
      expect(section).toMatch(
        /^\w+\n\n(Page|Ticket)\. \S.*?\n\n- \*\*Look at\*\*: \S.*?\n- \*\*Do\*\*: \S/s,
      );
    },
  );
});
