import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const files = filesBelow('.');
const pages = files.filter((file) => file.endsWith('.md'));
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');

function filesBelow(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isFile()) return [file];
    const skipped = ['node_modules', 'dist', '.git', '.gantry'].includes(entry.name);
    return entry.isDirectory() && !skipped ? filesBelow(file) : [];
  });
}

/** The anchors that GitHub makes from headings. */
function anchorsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns what is wrong with a link, or nothing. */
function linkProblem(page: string, link: string): string | undefined {
  const [target = '', anchor] = link.split('#');
  const file = target === '' ? page : path.join(path.dirname(page), target);
  if (!existsSync(path.join(root, file))) return `${page}: ${link} does not exist`;
  if (anchor === undefined || anchorsOf(file).includes(anchor)) return undefined;
  return `${page}: ${file} has no section #${anchor}`;
}

describe('documentation', () => {
  it('has no broken links between its pages', () => {
    const problems = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) =>
        linkProblem(page, link),
      ),
    );
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it('exists wherever code, tests and scripts refer to it', () => {
    const problems = files
      .filter((file) => /\.(ts|mjs|cjs|sh|proto|json|ya?ml)$/.test(file))
      .flatMap((file) =>
        [...textOf(file).matchAll(/\bdocs\/[\w./-]+?\.md(#[\w-]+)?/g)].map(([reference]) => {
          const problem = linkProblem('README.md', reference);
          return problem && `${file}: ${problem}`;
        }),
      );
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });
});

describe('the table of packages in ARCHITECTURE.md', () => {
  const table = new Map(
    [...textOf('ARCHITECTURE.md').matchAll(/^\| `([\w-]+)` +\|[^|]*\| ([^|]+?) *\|$/gm)].map(
      ([, name = '', imports = '']) => [name, imports === '–' ? [] : imports.split(', ')],
    ),
  );

  it('is what .dependency-cruiser.cjs enforces', async () => {
    const { default: rules } = await import(path.join(root, '.dependency-cruiser.cjs'));
    const enforced = rules.forbidden.flatMap(({ name, comment }: Record<string, string>) => {
      const [, list] = /^[\w-]+ may import (.*)\.$/.exec(comment ?? '') ?? [];
      if (list === undefined) return [];
      return [[name?.replace(/-imports$/, ''), list === 'nothing of ours' ? [] : list.split(', ')]];
    });
    const ours = [...table].filter(([name]) => name !== 'proto');
    expect(Object.fromEntries(enforced)).toEqual(Object.fromEntries(ours));
  });

  it('permits no import that is never made', () => {
    const unused = [...table].flatMap(([name, allowed]) => {
      const sources = files
        .filter((file) => file.startsWith(`packages/${name}/src/`) && file.endsWith('.ts'))
        .filter((file) => !/\.test\.ts$|\/testing/.test(file))
        .map(textOf);
      const isMade = (imported: string) =>
        sources.some((text) => new RegExp(`from '(@gantry/)?${imported}['/]`).test(text));
      return allowed.filter((each) => !isMade(each)).map((each) => `${name} -> ${each}`);
    });
    expect(unused).toEqual([]);
  });
});
