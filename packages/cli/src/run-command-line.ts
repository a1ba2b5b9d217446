import { proposeCompletions, run } from '@stricli/core';
import { application } from './application.ts';
import type { CliContext } from './cli-context.ts';
import { exitCodeOfRun } from './exit-codes.ts';
import { printable } from './terminal/printable.ts';

/** Runs a command line and returns the exit code of the process. */
export async function runCommandLine(words: readonly string[], cli: CliContext): Promise<number> {
  const [first, ...rest] = words;
  if (first === '__complete') return await printCompletions(rest, cli);
  await run(application, words, cli);
  return exitCodeOfRun(cli.process.exitCode ?? null);
}

/**
 * Prints what the last word can be completed with. Flags are proposed only after a dash: a list of
 * names is easier to choose from without them. An error is no completion, and must not disturb a shell.
 */
async function printCompletions(words: readonly string[], cli: CliContext): Promise<number> {
  const partial = words.at(-1) ?? '';
  // The last word is what is being typed, so it is no context yet.
  const typed = words.slice(0, -1);
  const named = typed[typed.lastIndexOf('--context') + 1];
  const context = typed.includes('--context') ? { GANTRY_CONTEXT: named } : {};
  const env = { ...cli.process.env, ...context };
  const process: CliContext['process'] = Object.create(cli.process, { env: { value: env } });
  const found = await proposeCompletions(application, words, { process }).catch(() => []);
  for (const { kind, completion, brief } of found)
    if (kind !== 'argument:flag' || partial.startsWith('-'))
      cli.process.stdout.write(`${printable(completion)}\t${printable(brief)}\n`);
  return 0;
}
