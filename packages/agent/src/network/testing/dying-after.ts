import { type RunCommand, runCommand } from '../kernel/run-command.ts';

/**
 * A runner that fails after this many commands, like a killed agent; each line of a batch counts.
 */
export function dyingAfter(steps: number): { run: RunCommand; isDead: () => boolean } {
  let left = steps;
  let dead = false;
  const die = () => {
    dead = true;
    throw new Error('killed');
  };
  const run: RunCommand = async (program, args, input = '') => {
    if (left === 0) die();
    if (!args.includes('-batch')) {
      left -= 1;
      return runCommand(program, args, input);
    }
    const lines = input.split('\n').filter((line) => line !== '');
    const done = lines.slice(0, left);
    left -= done.length;
    const output = await runCommand(program, args, `${done.join('\n')}\n`);
    if (done.length < lines.length) die();
    return output;
  };
  return { run, isDead: () => dead };
}
