import { readFileSync } from 'node:fs';
import path from 'node:path';

const docs = path.resolve(import.meta.dirname, '../../../../docs');

/**
 * Returns the block of commands of a page for operators that begins with this text, with each of the values in place
 * of an example, so that a test executes what is printed. Throws if the page has no such block, several, or not the
 * example. A page is named by its path in docs/operators.
 *
 * A test that is named after `tested-by=` in a page has to read the block with this function: test/docs/pages.test.ts
 * finds the call by its first two arguments, so they have to be literals.
 */
export function documented(
  page: string,
  beginning: string,
  values: Record<string, string> = {},
): string {
  const text = readFileSync(path.join(docs, 'operators', page), 'utf8');
  const blocks = [...text.matchAll(/^( *)```sh[^\n]*\n(.*?)^ *```$/gms)].map(
    ([, indent = '', body = '']) => body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  const [found, ...others] = blocks.filter((block) => block.startsWith(beginning));
  if (found === undefined) throw new Error(`${page} has no commands that begin: ${beginning}`);
  if (others.length > 0) throw new Error(`${page} has several blocks that begin: ${beginning}`);
  return Object.entries(values).reduce((commands, [example, value]) => {
    if (!commands.includes(example)) throw new Error(`${page} has no "${example}" there`);
    return commands.replaceAll(example, value);
  }, found);
}

/** Returns the commands of a block one by one, without the remarks at their ends. */
export function documentedLines(page: string, beginning: string): string[] {
  const joined = documented(page, beginning).replaceAll('\\\n', ' ');
  return joined
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter(Boolean);
}
