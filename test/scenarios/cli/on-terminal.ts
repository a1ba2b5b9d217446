import { spawn } from 'node:child_process';
import { once } from 'node:events';

type Terminal = {
  env: Record<string, string | undefined>;
  /** What a person types, each after the text before it has been printed. */
  dialogue: readonly (readonly [waitFor: string, type: string])[];
};

/** Runs a shell command on a pseudo-terminal, by script(1) of util-linux. Returns what it printed. */
export async function runOnTerminal(command: string, { env, dialogue }: Terminal): Promise<string> {
  const child = spawn('script', ['--quiet', '--command', command, '/dev/null'], { env });
  let printed = '';
  let seen = 0;
  let step = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
    for (;;) {
      const [waitFor, type] = dialogue[step] ?? [];
      const at = waitFor === undefined ? -1 : printed.indexOf(waitFor, seen);
      if (waitFor === undefined || at < 0) return;
      seen = at + waitFor.length;
      step += 1;
      child.stdin.write(type);
    }
  });
  await once(child, 'close');
  return printed;
}
