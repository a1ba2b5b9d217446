import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

const IP = 'ip';
const PROGRAM = path.join(import.meta.dirname, 'guest-program.mjs');

/** The program in a guest's namespace. It ends when the benchmark closes its input. */
export type NetGuest = { ask<T>(): Promise<T>; read<T>(): Promise<T>; end(): void };

export function runInGuest(netns: string, ...args: string[]): NetGuest {
  const child = spawn(IP, ['netns', 'exec', netns, process.execPath, PROGRAM, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async <T>(): Promise<T> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`a guest that was to ${args.join(' ')} ended`);
    return JSON.parse(value) as T;
  };
  return {
    read,
    async ask<T>() {
      child.stdin.write('\n');
      return await read<T>();
    },
    end: () => child.kill('SIGKILL'),
  };
}
