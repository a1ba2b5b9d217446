import { execFile, spawn } from 'node:child_process';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { connect } from '../connect.ts';
import { START } from '../flags.ts';
import {
  connectListAllDomains,
  domainCreateXml,
  domainDefineXmlFlags,
} from '../generated/procedures.ts';
import { writeEchoGuest } from './echo-guest.ts';
import { type PrivateLibvirtd, startPrivateLibvirtd } from './private-libvirtd.ts';

const run = promisify(execFile);
const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: Parameters<typeof startPrivateLibvirtd>[0] = {}) {
  const daemon = await startPrivateLibvirtd(options);
  cleanups.push(daemon.stop);
  return daemon;
}

async function runGuest(daemon: PrivateLibvirtd, name: string): Promise<void> {
  const connection = await connect({ socketPath: daemon.socketPath });
  const xmlDesc = await writeEchoGuest({ name, directory: daemon.directory });
  await connection.call(domainCreateXml, { xmlDesc, flags: START.paused });
  await connection.close();
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const isAlive = (pid: number) => exists(`/proc/${pid}`);

it('two daemons can have a domain of the same name, and stopping leaves nothing behind', async () => {
  const daemons = [await start(), await start({ network: 'private' })];
  for (const daemon of daemons) await runGuest(daemon, 'same');
  for (const daemon of daemons) {
    const processes = await daemon.processes();
    const qemus = processes.filter(({ command }) => command[0]?.includes('qemu-system'));
    expect(qemus).toHaveLength(1);
    await daemon.stop();
    for (const { pid } of processes) await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await exists(daemon.directory)).toBe(false);
  }
});

it('a daemon with its own network sees no interface of this machine', async () => {
  const daemon = await start({ network: 'private' });
  expect((await daemon.run('ls', '/sys/class/net')).trim()).toBe('lo');
  await expect(daemon.run('ls', '/no-such-path')).rejects.toThrow(/no-such-path/);
});

it('a daemon in a named network sees its interfaces', async () => {
  const namespace = `libvirtd-${process.pid}`;
  await run('ip', ['netns', 'add', namespace]);
  cleanups.push(async () => void (await run('ip', ['netns', 'delete', namespace])));
  await run('ip', ['-n', namespace, 'link', 'add', 'probe0', 'type', 'bridge']);
  const daemon = await start({ network: { namespace } });
  expect((await daemon.run('ls', '/sys/class/net')).trim().split('\n')).toEqual(['lo', 'probe0']);
});

it('a given directory is kept, and the next start finds its domains', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kept-libvirtd-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  const first = await start({ directory });
  const one = await connect({ socketPath: first.socketPath });
  const xml = await writeEchoGuest({ name: 'kept', directory });
  await one.call(domainDefineXmlFlags, { xml, flags: 0 });
  await one.close();
  await first.stop();
  const second = await start({ directory });
  const two = await connect({ socketPath: second.socketPath });
  const { domains } = await two.call(connectListAllDomains, { needResults: 1, flags: 0 });
  expect(domains.map(({ name }) => name)).toEqual(['kept']);
  await two.close();
});

it('a daemon that cannot start fails with its reason and leaves nothing behind', async () => {
  const attempt = startPrivateLibvirtd({ libvirtdConf: ['nonsense'] });
  await expect(attempt).rejects.toThrow(/libvirtd\.conf/);
});

it('kill -9 of the process that started it ends everything and removes the directory', async () => {
  const program = `
    import { startPrivateLibvirtd } from ${JSON.stringify(fileURLToPath(new URL('./private-libvirtd.ts', import.meta.url)))};
    const { directory, pids } = await startPrivateLibvirtd();
    process.stdout.write(JSON.stringify({ directory, pids }) + '\\n');
    setInterval(() => undefined, 1000);
  `;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program]);
  cleanups.push(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  await expect.poll(() => said).toContain('\n');
  const { directory, pids } = JSON.parse(said) as PrivateLibvirtd;
  expect(await isAlive(pids.libvirtd)).toBe(true);
  child.kill('SIGKILL');
  for (const pid of Object.values(pids)) await expect.poll(() => isAlive(pid)).toBe(false);
  await expect.poll(() => exists(directory)).toBe(false);
});

it('daemons that are restarted by several callers at the same time run once, with a known pid', async () => {
  const daemon = await start();
  const first = daemon.pids.libvirtd;
  await Promise.all([1, 2, 3].map(() => daemon.restartDaemon('libvirtd')));
  expect(daemon.pids.libvirtd).not.toBe(first);
  expect(await isAlive(daemon.pids.libvirtd)).toBe(true);
  const connection = await connect({ socketPath: daemon.socketPath });
  await connection.close();
});
