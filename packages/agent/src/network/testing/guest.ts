import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const IP = 'ip';
const PROGRAM = fileURLToPath(new URL('guest-program.mjs', import.meta.url));

type Ask = {
  protocol?: 'tcp' | 'udp';
  sourcePort?: number;
  sourceAddress?: string;
  /** The payload; its content does not matter. */
  text?: string;
};

/** The test waits for a packet that should pass. Silence is known after a moment. */
const PATIENCE_MS = { reaches: 8_000, misses: 400 };

/** A namespace that sends and receives. */
export class Guest {
  readonly netns: string;
  readonly #child: ChildProcess;
  readonly #replies: AsyncIterator<string>;

  constructor(netns: string) {
    this.netns = netns;
    this.#child = spawn(IP, ['netns', 'exec', netns, process.execPath, PROGRAM], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (!this.#child.stdout) throw new Error('BUG: a guest without output');
    this.#replies = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async #order(order: Record<string, unknown>): Promise<string> {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    const { value } = await this.#replies.next();
    return JSON.parse(value ?? '"the guest ended"');
  }

  async listen(port: number, protocol: 'tcp' | 'udp' = 'tcp'): Promise<void> {
    await this.#order({ do: 'listen', protocol, port });
  }

  /** Returns the address that the other side saw. */
  reaches(address: string, port: number, ask: Ask = {}): Promise<string> {
    return this.#ask({ address, port, ask, patienceMs: PATIENCE_MS.reaches });
  }

  /** Expects that nothing arrives; a refusal would be a reply of the other side. */
  async misses(address: string, port: number, ask: Ask = {}): Promise<boolean> {
    const reply = await this.#ask({ address, port, ask, patienceMs: PATIENCE_MS.misses });
    return reply === 'silence' || /EHOSTUNREACH|ENETUNREACH/.test(reply);
  }

  #ask(order: { address: string; port: number; ask: Ask; patienceMs: number }): Promise<string> {
    const { ask, ...rest } = order;
    return this.#order({ do: 'ask', protocol: 'tcp', ...rest, ...ask });
  }

  async reachesAgain(): Promise<string> {
    return this.#order({ do: 'ask-again', patienceMs: PATIENCE_MS.reaches });
  }

  async missesNow(): Promise<boolean> {
    return (await this.#order({ do: 'ask-again', patienceMs: PATIENCE_MS.misses })) === 'silence';
  }

  /** Returns whether one echo got a reply within a second. */
  async pings(address: string, ...args: string[]): Promise<boolean> {
    const command = ['netns', 'exec', this.netns, 'busybox', 'ping', '-c', '1', '-W', '1'];
    return exec('ip', [...command, ...args, address]).then(
      () => true,
      () => false,
    );
  }

  async run(program: string, ...args: string[]): Promise<string> {
    return (await exec('ip', ['netns', 'exec', this.netns, program, ...args])).stdout;
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}
