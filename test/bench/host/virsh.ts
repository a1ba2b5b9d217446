import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execute } from '@gantry/testkit/real-host/execute';

/** One virsh process that reads commands from its prompt, so that its start is not measured. */
export type Virsh = {
  pid: number;
  /** Resolves when the last command has been carried out. */
  run(commands: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

export function virshArgs(socketPath: string): string[] {
  return ['--quiet', '--connect', `qemu:///system?socket=${socketPath}`];
}

/** Starts a virsh process for one command. */
export async function virshOnce(socketPath: string, ...command: string[]): Promise<string> {
  return await execute('virsh', ...virshArgs(socketPath), ...command);
}

export async function openVirsh(socketPath: string): Promise<Virsh> {
  const child = spawn('virsh', virshArgs(socketPath), { stdio: ['pipe', 'pipe', 'inherit'] });
  let batches = 0;
  let tail = '';
  const run = async (commands: readonly string[]) => {
    batches += 1;
    const mark = `end-of-batch-${batches}`;
    const seen = new Promise<void>((resolve, reject) => {
      const listener = (chunk: Buffer) => {
        tail = `${tail}${chunk}`.slice(-4_096);
        // At the beginning of a line, because virsh also echoes its commands.
        if (!tail.includes(`\n${mark}`)) return;
        child.stdout.off('data', listener);
        resolve();
      };
      child.stdout.on('data', listener);
      child.once('exit', () => reject(new Error('virsh ended early')));
    });
    child.stdin.write(`${[...commands, `echo ${mark}`].join('\n')}\n`);
    await seen;
  };
  // By now virsh is connected and its code is loaded.
  await run(['version']);
  return {
    pid: child.pid ?? 0,
    run,
    async close() {
      const exit = once(child, 'exit');
      child.stdin.end();
      await exit;
    },
  };
}
