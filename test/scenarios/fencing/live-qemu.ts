import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type CephDaemon, makeCephDaemon } from '@gantry/testkit/ceph/ceph-daemon';
import type { TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { sendJson } from '@gantry/testkit/real-host/json-socket';
import { expect } from 'vitest';

const RECORD_BYTES = 4096;
const patternOf = (record: number) => 1 + (record % 255);

type Opening = {
  name: string;
  namespace: string;
  volume: { pool: string; name: string };
  user: string;
  key: string;
};

/** A QEMU on a host that has a volume open, without a guest: the test writes through its block layer. */
export class LiveQemu {
  readonly process: CephDaemon;
  readonly #socket: string;
  readonly #log: string;

  private constructor(process: CephDaemon, { socket, log }: { socket: string; log: string }) {
    this.process = process;
    this.#socket = socket;
    this.#log = log;
  }

  static async start(ceph: TestCeph, opening: Opening): Promise<LiveQemu> {
    const { name, namespace, volume, user, key } = opening;
    const socket = path.join(ceph.directory, 'run', `${name}.qmp`);
    const log = path.join(ceph.directory, 'log', `${name}.log`);
    const disk = {
      ...{ driver: 'rbd', 'node-name': 'd0', pool: volume.pool, image: volume.name },
      ...{ conf: ceph.configFile, user, 'key-secret': 'key', cache: { direct: true } },
    };
    const program = process.arch === 'arm64' ? 'qemu-system-aarch64' : 'qemu-system-x86_64';
    const qemu = makeCephDaemon({
      command: [
        ...[
          'ip',
          'netns',
          'exec',
          namespace,
          'stdbuf',
          '-oL',
          program,
          '-machine',
          'none',
          '-nodefaults',
        ],
        ...['-display', 'none', '-qmp', `unix:${socket},server=on,wait=off`],
        ...[
          '-object',
          `secret,id=key,format=base64,data=${key}`,
          '-blockdev',
          JSON.stringify(disk),
        ],
      ],
      environment: ceph.environment,
      log,
    });
    qemu.start();
    await expect.poll(() => existsSync(socket), { interval: 20 }).toBe(true);
    const live = new LiveQemu(qemu, { socket, log });
    // The socket is there before the volume is open; the first reply comes afterwards.
    await live.#command('read 0 512');
    return live;
  }

  /** Writes a record and flushes it, as a guest with fsync. Rejects if that failed. */
  async write(record: number): Promise<void> {
    await this.#command(
      `write -f -P ${patternOf(record)} ${record * RECORD_BYTES} ${RECORD_BYTES}`,
    );
  }

  /** Rejects unless the record is there. */
  async check(record: number): Promise<void> {
    await this.#command(`read -P ${patternOf(record)} ${record * RECORD_BYTES} ${RECORD_BYTES}`);
  }

  /** The monitor starts the command; its result is printed to the standard output. */
  async #command(command: string): Promise<void> {
    const before = (await this.#output()).length;
    const line = { 'command-line': `qemu-io d0 "${command}"` };
    await sendJson(this.#socket, [
      { execute: 'qmp_capabilities' },
      { execute: 'human-monitor-command', arguments: line },
    ]);
    const printed = async () => (await this.#output()).slice(before);
    await expect.poll(printed, { interval: 5 }).toMatch(/ ops; |failed/);
    const result = await printed();
    if (result.includes('failed')) throw new Error(result.trim());
  }

  async #output(): Promise<string> {
    return await readFile(this.#log, 'utf8');
  }
}
