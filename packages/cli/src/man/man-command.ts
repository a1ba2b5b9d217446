import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildCommand, type RouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { NoSuchNameError, UsageError } from '../cli-errors.ts';
import { optionalText } from '../commands/flags.ts';
import { type Page, renderPages } from './render-pages.ts';

type ManFlags = { directory: string | undefined };
type Program = { routes: RouteMap<CliContext>; version: string };

/** The commands are passed as a function because this is one of them. */
export function buildManCommand(program: () => Program) {
  return buildCommand<ManFlags, [string | undefined], CliContext>({
    docs: {
      brief: 'Show the manual of a command, or write all manual pages',
      fullDescription:
        'On a terminal it shows the page with man(1), and otherwise it prints the page. With --directory ' +
        'it writes all pages, for example into /usr/local/share/man/man1.',
    },
    parameters: {
      flags: { directory: optionalText('Write all pages into this directory', 'directory') },
      positional: {
        kind: 'tuple',
        parameters: [
          {
            ...{ brief: 'The command, such as vm', placeholder: 'command', optional: true },
            parse: (text: string) => text,
            proposeCompletions: () =>
              program()
                .routes.getAllEntries()
                .map(({ name }) => name['convert-camel-to-kebab']),
          },
        ],
      },
    },
    async func({ directory }, command) {
      const { routes, version } = program();
      const pages = renderPages(routes, version);
      if (directory !== undefined) return await writePages(directory, pages);
      const name = command === undefined ? 'gantry' : `gantry-${command}`;
      const page = pages.find((each) => each.name === name);
      if (page === undefined) throw new NoSuchNameError(`there is no manual page of ${command}`);
      if (this.process.stdout.isTTY) await showPage(page);
      else this.process.stdout.write(page.text);
    },
  });
}

async function writePages(directory: string, pages: readonly Page[]): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    for (const { name, text } of pages) await writeFile(path.join(directory, `${name}.1`), text);
  } catch (error) {
    throw new UsageError(`--directory: ${(error as Error).message}`);
  }
}

async function showPage({ text }: Page): Promise<void> {
  const { spawnSync } = await import('node:child_process');
  const { error } = spawnSync('man', ['-l', '-'], {
    input: text,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  if (error !== undefined)
    throw new UsageError(`man cannot be run (${error.message}). Try: gantry man | less`);
}
