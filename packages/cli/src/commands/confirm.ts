import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { openPrompt } from '../terminal/prompt.ts';

export type YesFlag = { yes: boolean };

export const yesFlag = {
  yes: { kind: 'boolean', default: false, withNegated: false, brief: 'Do not ask' },
} as const;

/** Asks before something is deleted or ended. Only a person can be asked: a script means what it says. */
export async function confirm(cli: CliContext, { yes }: YesFlag, question: string): Promise<void> {
  if (yes || !cli.process.stdin.isTTY) return;
  const prompt = openPrompt(cli);
  try {
    const reply = (await prompt.ask(`${question} (yes/no)`)).trim().toLowerCase();
    if (!['y', 'yes'].includes(reply)) throw new UsageError('nothing was changed');
  } finally {
    prompt.close();
  }
}
