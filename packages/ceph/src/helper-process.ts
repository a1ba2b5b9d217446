import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { makeStorageError } from './helper-errors.ts';
import { StorageError } from './storage-error.ts';

/** Debian's interpreter, because Ceph's modules are installed for it. */
const PYTHON = '/usr/bin/python3';
/** The folder of the program: beside a bundled process, or in the source tree. */
const PLACES = ['ceph-helper/', '../helper/'];
const KEPT_OUTPUT_CHARACTERS = 2000;
/** The signals by which a library that crashes ends its process. */
const CRASHES = new Set<NodeJS.Signals>(['SIGABRT', 'SIGSEGV', 'SIGBUS']);

/** What a program did when one of its libraries ended it. */
export type HelperCrash = { signal: NodeJS.Signals; methods: string[] };

/** The first line that the program reads. */
export type HelperConnection = { user: string; conf: Record<string, string> };

export type CephHelper = {
  /** Calls a method of the program. Throws a StorageError. */
  call<Result>(method: string, args: Record<string, unknown>): Promise<Result>;
  close(): void;
};

type Call = {
  method: string;
  args: Record<string, unknown>;
  resolve(result: unknown): void;
  reject(error: StorageError): void;
  isRepeated: boolean;
};
type CallUnderWay = Call & { timer: NodeJS.Timeout };
type Reply = { id: number; goesOn?: true; result?: unknown; errno?: number; message?: string };
type Running = {
  child: ChildProcessWithoutNullStreams;
  calls: Map<number, CallUnderWay>;
  output: string;
};

/**
 * Runs `gantry-ceph.py`, which keeps one connection to a cluster open. It is started by the first call. If it dies, all
 * calls that are under way throw `unreachable`, because their changes may have happened or not, and the next call starts
 * it again. If a library has crashed, the calls are sent once more before, because each can be repeated. It is killed if a
 * call is silent for its time limit, or if its client was fenced, which makes it useless for good. Long calls say every
 * second that they go on, so that the limit does not depend on the size of a disk.
 */
export function makeCephHelper({
  connection,
  limitMs,
  command = [],
  onCrash = () => {},
}: {
  connection: HelperConnection;
  limitMs: number;
  /** A program and arguments that start the helper, such as those of another network namespace. */
  command?: readonly string[];
  /** Called before the calls that were under way are sent once more. */
  onCrash?: (crash: HelperCrash) => void;
}): CephHelper {
  let running: Running | undefined;
  let lastId = 0;

  function end(ended: Running, error: StorageError): void {
    if (running === ended) running = undefined;
    ended.child.kill('SIGKILL');
    for (const { reject, timer } of ended.calls.values()) {
      clearTimeout(timer);
      reject(error);
    }
    ended.calls.clear();
  }

  function start(): Running {
    const [program = PYTHON, ...args] = [...command, PYTHON, '-B', '-E', '-s', findProgram()];
    const child = spawn(program, args, {
      // Variables such as CEPH_ARGS would change what the libraries do.
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8', HOME: '/nonexistent' },
    });
    const started: Running = { child, calls: new Map(), output: '' };
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      started.output = (started.output + text).slice(-KEPT_OUTPUT_CHARACTERS);
    });
    createInterface({ input: child.stdout }).on('line', (line) => settle(started, line));
    child.stdin.on('error', () => undefined);
    child.once('error', (cause) => {
      end(started, new StorageError('failed', `${program} could not be started.`, { cause }));
    });
    child.once('close', (_code, signal) => {
      if (signal !== null && CRASHES.has(signal)) repeat(started, signal);
      // A program that never connected has a reason that an operator can remove, such as a missing package.
      const isMissing = started.output.includes('ModuleNotFoundError');
      const reason = started.output.trim().split('\n').at(-1) ?? '';
      const advice = isMissing ? ' Install python3-rados and python3-rbd.' : '';
      const code = isMissing ? 'failed' : 'unreachable';
      end(started, new StorageError(code, `The Ceph helper ended. ${reason}${advice}`.trim()));
    });
    child.stdin.write(`${JSON.stringify(connection)}\n`);
    letGo(child);
    return started;
  }

  function settle(from: Running, line: string): void {
    const reply = JSON.parse(line) as Reply;
    const call = from.calls.get(reply.id);
    if (!call) return;
    if (reply.goesOn) {
      call.timer.refresh();
      return;
    }
    from.calls.delete(reply.id);
    clearTimeout(call.timer);
    if (reply.errno === undefined) {
      call.resolve(reply.result);
      return;
    }
    const error = makeStorageError(reply.errno, reply.message ?? '');
    call.reject(error);
    if (error.code === 'fenced') end(from, error);
  }

  /** Sends the calls of a program that crashed to a new one, but none for a second time. */
  function repeat(crashed: Running, signal: NodeJS.Signals): void {
    if (running === crashed) running = undefined;
    onCrash({ signal, methods: [...crashed.calls.values()].map(({ method }) => method) });
    for (const [id, { timer, ...call }] of crashed.calls) {
      if (call.isRepeated) continue;
      clearTimeout(timer);
      crashed.calls.delete(id);
      send({ ...call, isRepeated: true });
    }
  }

  function send(call: Call): void {
    running ??= start();
    const current = running;
    const { method, args } = call;
    const id = ++lastId;
    const timer = setTimeout(() => {
      const seconds = limitMs / 1000;
      end(current, new StorageError('unreachable', `${method} took more than ${seconds} s.`));
    }, limitMs);
    current.calls.set(id, { ...call, timer });
    current.child.stdin.write(`${JSON.stringify({ id, method, arguments: args })}\n`);
  }

  return {
    call: <Result>(method: string, args: Record<string, unknown>) =>
      new Promise<Result>((resolve, reject) => {
        const settled = { resolve: (result: unknown) => resolve(result as Result), reject };
        send({ method, args, ...settled, isRepeated: false });
      }),
    close: () => {
      if (running) end(running, new StorageError('unreachable', 'The connection was closed.'));
    },
  };
}

function findProgram(): string {
  const files = PLACES.map((place) =>
    fileURLToPath(new URL(`${place}gantry-ceph.py`, import.meta.url)),
  );
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new StorageError('failed', `${files.join(' and ')} are missing.`);
  return found;
}

/** A helper that is idle does not keep this process from ending. The timers of calls do. */
function letGo(child: ChildProcessWithoutNullStreams): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr])
    if (stream instanceof Socket) stream.unref();
}
