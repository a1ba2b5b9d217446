import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { domainDestroyFlags, domainLookupByName } from './generated/procedures.ts';
import { writeEchoGuest } from './testing/echo-guest.ts';
import { type PrivateLibvirtd, startPrivateLibvirtd } from './testing/private-libvirtd.ts';

const run = promisify(execFile);
let daemon: PrivateLibvirtd;
beforeAll(async () => {
  daemon = await startPrivateLibvirtd();
});
afterAll(() => daemon?.stop());

const commandOf = (name: string, ...args: string[]) => [
  ...['--import', 'tsx', fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url))],
  ...args,
  daemon.socketPath,
];
const example = async (name: string, ...args: string[]) =>
  (await run(process.execPath, commandOf(name, ...args))).stdout;

function follow(name: string, ...args: string[]) {
  const child = spawn(process.execPath, commandOf(name, ...args));
  const seen = { text: '' };
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.on('data', (chunk) => {
      seen.text += String(chunk);
    });
  }
  return { child, seen, exited: once(child, 'exit') };
}

it('the examples start, list and watch a domain and use its console', async () => {
  const watch = follow('watch-domains');
  await expect.poll(() => watch.seen.text).toContain('connected');
  const file = join(daemon.directory, 'guest.xml');
  const guest = { name: 'guest', uuid: randomUUID(), directory: daemon.directory };
  await writeFile(file, await writeEchoGuest(guest));
  expect(await example('start-domain', file)).toBe('guest runs\n');
  expect(await example('start-domain', file)).toBe('it was running already\n');
  expect(await example('list-domains')).toBe('guest\trunning\n');

  const console = follow('console', 'guest');
  console.child.stdin.write('hello');
  await expect.poll(() => console.seen.text).toContain('hello');
  const connection = await connect({ socketPath: daemon.socketPath });
  const { dom } = await connection.call(domainLookupByName, { name: 'guest' });
  await connection.call(domainDestroyFlags, { dom, flags: 0 });
  await connection.close();
  expect(await console.exited).toEqual([0, null]);
  await expect.poll(() => watch.seen.text).toContain('guest stopped');
  watch.child.kill('SIGINT');
  expect(await watch.exited).toEqual([0, null]);
});

it('the example uploads a file', async () => {
  const folder = join(daemon.directory, 'volumes');
  await mkdir(folder);
  const file = join(daemon.directory, 'content');
  await writeFile(file, Buffer.alloc(300_000, 'gantry'));
  const target = `<target><path>${folder}</path></target>`;
  const pool = join(daemon.directory, 'pool.xml');
  await writeFile(pool, `<pool type='dir'><name>volumes</name>${target}</pool>`);
  await daemon.run('virsh', '-c', 'qemu:///system', 'pool-create', pool);
  const key = (await example('upload-volume', 'volumes', file)).trim();
  expect((await readFile(key)).equals(await readFile(file))).toBe(true);
});
