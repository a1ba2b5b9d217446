import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Runs commands in the machine, over its virtio port. The other end is `/lab/serve`, which documents
 * the format of a line.
 *
 * Invariant: each command is resolved or rejected once. Commands that run while the machine is reset
 * or ends are rejected. A line that replies to no pending command is dropped.
 */
export type CommandResult = { status: number; stdout: string; stderr: string };

export type CommandChannel = {
  /** Resolves the next time that the machine announces that it accepts commands. */
  ready(): Promise<void>;
  run(command: string, limitSeconds: number): Promise<CommandResult>;
  /** Rejects the pending commands. */
  interrupt(why: string): void;
  close(): void;
};

type Pending = { resolve(result: CommandResult): void; reject(error: Error): void };

export async function openCommandChannel(place: string): Promise<CommandChannel> {
  const socket = await connectSoon(place);
  const pending = new Map<string, Pending>();
  const waiting: Pick<Pending, 'reject'>[] = [];
  const onReady: (() => void)[] = [];
  let count = 0;
  const interrupt = (why: string) => {
    for (const { reject } of [...pending.values(), ...waiting]) reject(new Error(why));
    pending.clear();
  };
  createInterface({ input: socket }).on('line', (line) => {
    const [id = '', status, output, errors] = line.split(' ');
    if (id === 'ready') for (const resolve of onReady.splice(0)) resolve();
    pending.get(id)?.resolve({
      status: Number(status),
      stdout: decode(output),
      stderr: decode(errors),
    });
    pending.delete(id);
  });
  socket.on('error', () => {}).once('close', () => interrupt('The machine has ended.'));
  return {
    interrupt,
    close: () => socket.destroy(),
    ready: () =>
      new Promise((resolve, reject) => {
        onReady.push(resolve);
        waiting.push({ reject });
      }),
    run: (command, limitSeconds) =>
      new Promise((resolve, reject) => {
        const id = `command-${++count}`;
        pending.set(id, { resolve, reject });
        socket.write(`${id} ${limitSeconds} ${Buffer.from(command).toString('base64')}\n`);
      }),
  };
}

/** Each value begins with a dot, so that an empty value is not lost when the line is split. */
function decode(text = ''): string {
  return Buffer.from(text.slice(1), 'base64').toString();
}

/** QEMU creates the socket shortly after its start. */
async function connectSoon(place: string): Promise<Socket> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const socket = connect(place);
        socket.once('connect', () => resolve(socket)).once('error', reject);
      });
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
