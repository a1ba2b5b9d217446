import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../../docs/operators/install.md', import.meta.url));

/**
 * Returns the commands of docs/operators/install.md that begin with this line, with each of the values in place of an
 * example. Throws if the page has no such commands, or not the example.
 */
export async function documented(
  firstLine: string,
  values: Record<string, string> = {},
): Promise<string> {
  const page = await readFile(PAGE, 'utf8');
  const blocks = [...page.matchAll(/^( *)```\n(.*?)^ *```$/gms)].map(([, indent = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  const found = blocks.find((block) => block.startsWith(firstLine));
  if (found === undefined) throw new Error(`install.md has no commands that begin: ${firstLine}`);
  return Object.entries(values).reduce((commands, [example, value]) => {
    if (!commands.includes(example)) throw new Error(`install.md has no "${example}" there`);
    return commands.replaceAll(example, value);
  }, found);
}
