import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LibvirtHost, startLibvirtHost } from './host.ts';
import { leftovers } from './leftovers.ts';
import { listNamespaces, ownName } from './namespaces.ts';
import { OUTSIDE_ADDRESS } from './outside.ts';

const NOTHING = { domains: [], files: [], links: [], processes: [], tables: [], rules: [] };

describe('two hosts on one machine', () => {
  let hosts: [LibvirtHost, LibvirtHost];

  beforeAll(async () => {
    hosts = await Promise.all([startLibvirtHost('one'), startLibvirtHost('two')]);
  });
  afterAll(async () => {
    for (const host of hosts ?? []) await host.stop();
    const ours = [...(await listNamespaces()), ...(await readdir(tmpdir()))];
    expect(ours.filter((name) => name.startsWith(ownName('')))).toEqual([]);
  });

  test('each has its own libvirtd and domains', async () => {
    const [one, two] = hosts;
    const file = path.join(one.directory, 'domain.xml');
    await writeFile(
      file,
      "<domain type='qemu'><name>x</name><memory>65536</memory><os><type>hvm</type></os></domain>",
    );
    await one.libvirtd.run('virsh', 'define', file);
    expect((await leftovers(one)).domains).toEqual(['x']);
    expect(await leftovers(two)).toEqual(NOTHING);
    await one.libvirtd.run('virsh', 'undefine', 'x');
    expect(await leftovers(one)).toEqual(NOTHING);
  });

  test('each reaches the other and the outside', async () => {
    const [one, two] = hosts;
    expect(one.address).not.toBe(two.address);
    for (const address of [two.address, OUTSIDE_ADDRESS]) {
      await one.runIn('ip', 'route', 'get', address);
      expect(await replies(one, address)).toBe('refused');
    }
    expect(await replies(one, '198.51.100.99')).toBe('unreachable');
  });

  test('everything that a VM could leave is found: files, interfaces, tables, rules', async () => {
    const [one] = hosts;
    await writeFile(path.join(one.dataDirectory, 'disk.raw'), '');
    await one.runIn('ip', 'link', 'add', 'gbr0', 'type', 'bridge');
    await one.runIn('nft', 'add', 'table', 'inet', 'gantry');
    await one.runIn('ip', 'rule', 'add', 'pref', '1000', 'lookup', '77');
    const { files, links, tables, rules } = await leftovers(one);
    const left = { files, links, tables, rules };
    expect(left).toEqual({
      files: ['disk.raw'],
      links: ['gbr0'],
      tables: ['table inet gantry'],
      rules: ['1000 77'],
    });
  });

  test('a shared port of the loopback is reachable from inside', async () => {
    const [one] = hosts;
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const ask = () => one.runIn('bash', '-c', `cat < /dev/tcp/127.0.0.1/${port}`);
    await expect(ask()).rejects.toThrow(/refused/);
    await one.reachLoopback(port);
    expect(await ask()).toBe('hello');
    server.close();
  });
});

test('the remains of a killed test are removed by the next one, and by several concurrent ones', async () => {
  const program = fileURLToPath(new URL('./doomed-host.ts', import.meta.url));
  const tsx = fileURLToPath(new URL('../../../../node_modules/.bin/tsx', import.meta.url));
  const doomed = spawn(tsx, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(doomed.stdout, 'data');
  const left = JSON.parse(String(said)) as {
    pid: number;
    namespace: string;
    directory: string;
    daemon: number;
  };
  process.kill(left.pid, 'SIGKILL');
  const isRunning = (pid: number) => existsSync(`/proc/${pid}`);
  await expect.poll(() => [left.pid, left.daemon].some(isRunning)).toBe(false);
  expect(await listNamespaces()).toContain(left.namespace);

  const next = await Promise.allSettled(['three', 'four'].map(startLibvirtHost));
  try {
    expect(next.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await listNamespaces()).not.toContain(left.namespace);
    expect(existsSync(left.directory)).toBe(false);
  } finally {
    for (const host of next) if (host.status === 'fulfilled') await host.value.stop();
  }
});

/** The owner of the address refuses a connection to a port without a listener. */
async function replies(host: LibvirtHost, address: string): Promise<'refused' | 'unreachable'> {
  const line = `timeout 5 bash -c 'exec 3<>/dev/tcp/${address}/9' 2>&1 || true`;
  const said = await host.runIn('bash', '-c', line);
  return said.includes('refused') ? 'refused' : 'unreachable';
}
