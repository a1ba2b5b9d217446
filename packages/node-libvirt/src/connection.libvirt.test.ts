import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { createClient } from './client.ts';
import { connect } from './connect.ts';
import type { Connection } from './connection.ts';
import { DOMAIN_EVENT, subscribe } from './domain-events.ts';
import { CallTimeoutError, ConnectionClosedError } from './errors.ts';
import { START } from './flags.ts';
import {
  connectGetDomainCapabilities,
  connectGetHostname,
  connectListAllDomains,
  domainCreateXml,
  domainDestroyFlags,
  domainResume,
} from './generated/procedures.ts';
import { writeCertificates } from './testing/certificates.ts';
import { writeEchoGuest } from './testing/echo-guest.ts';
import { startPrivateLibvirtd } from './testing/private-libvirtd.ts';

/** A busy machine may let a daemon that is well wait for a second. */
const keepalive = { intervalMs: 500, count: 3 };
const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startDaemon(options: Parameters<typeof startPrivateLibvirtd>[0] = {}) {
  const daemon = await startPrivateLibvirtd(options);
  cleanups.push(daemon.stop);
  return daemon;
}

it('a daemon that hangs is noticed, and is used again when it continues', async () => {
  const daemon = await startDaemon();
  const { socketPath } = daemon;
  const connection = await connect({ socketPath, keepalive });
  // Long enough for pings. A daemon that replies to them keeps its connection.
  const { hostname } = await connection.call(connectGetHostname);
  process.kill(daemon.pids.libvirtd, 'SIGSTOP');
  cleanups.push(() => void process.kill(daemon.pids.libvirtd, 'SIGCONT'));
  const late = connection.call(connectGetHostname, undefined, { timeoutMs: 50 });
  await expect(late).rejects.toThrow(CallTimeoutError);
  const waiting = connection.call(connectGetHostname).catch((error: unknown) => error);
  const reason = await connection.closed;
  expect(reason.message).toMatch(/3 pings in a row/);
  expect(await waiting).toBe(reason);

  const client = createClient({ socketPath, connectTimeoutMs: 300 });
  cleanups.push(() => client.close());
  await expect(client.connection()).rejects.toThrow(/within 300 ms/);
  process.kill(daemon.pids.libvirtd, 'SIGCONT');
  const again = await vi.waitFor(() => client.connection(), 30_000);
  expect(await again.call(connectGetHostname)).toEqual({ hostname });
});

it('an idle connection with keepalive stays open', async () => {
  const { socketPath } = await startDaemon();
  const connection = await connect({ socketPath, keepalive: { intervalMs: 200, count: 10 } });
  const busy = await connect({ socketPath });
  cleanups.push(
    () => connection.close(),
    () => busy.close(),
  );
  // Longer than the time after which missing replies close the connection.
  const args = { emulatorbin: null, arch: null, machine: null, virttype: 'qemu', flags: 0 };
  const start = performance.now();
  while (performance.now() - start < 3_000) await busy.call(connectGetDomainCapabilities, args);
  expect((await connection.call(connectGetHostname)).hostname).not.toBe('');
});

it('after kill -9 of the daemon the client reconnects, subscribes and finds its domain', async () => {
  const daemon = await startDaemon();
  const events: string[] = [];
  const client = createClient({
    socketPath: daemon.socketPath,
    backoff: { firstMs: 20, maxMs: 100 },
  });
  cleanups.push(() => client.close());
  const seen: Connection[] = [];
  client.onConnected(async (connection) => {
    await subscribe(connection, DOMAIN_EVENT.lifecycle, {
      listener: ({ domain, event }) => events.push(`${domain.name} ${event}`),
    });
    seen.push(connection);
  });
  const connection = await client.connection();
  const xml = await writeEchoGuest({ name: 'survivor', directory: daemon.directory });
  const { dom } = await connection.call(domainCreateXml, { xmlDesc: xml, flags: START.paused });
  const pending = connection.closed;
  process.kill(daemon.pids.libvirtd, 'SIGKILL');
  expect(await pending).toBeInstanceOf(ConnectionClosedError);
  await daemon.startDaemon('libvirtd');
  await expect.poll(() => seen.length).toBe(2);
  const fresh = await client.connection();
  const { domains } = await fresh.call(connectListAllDomains, { needResults: 1, flags: 0 });
  expect(domains).toEqual([dom]);
  // Waits until libvirt has reconnected to QEMU; before that, a destroy kills QEMU but fails.
  await fresh.call(domainResume, { dom });
  await fresh.call(domainDestroyFlags, { dom, flags: 0 });
  await expect
    .poll(() => events)
    .toEqual(expect.arrayContaining(['survivor resumed', 'survivor stopped']));
});

it('TLS works with a certificate that the daemon trusts, and with no other', async () => {
  const port = await findFreePort();
  const [ours, strangers] = await Promise.all([makeFolder(), makeFolder()]);
  const tls = await writeCertificates(ours);
  const stranger = await writeCertificates(strangers);
  const daemon = await startDaemon({
    listen: true,
    libvirtdConf: [
      'listen_tls = 1',
      'listen_addr = "127.0.0.1"',
      `tls_port = "${port}"`,
      'auth_tls = "none"',
      `key_file = "${join(ours, 'server.key')}"`,
      `cert_file = "${join(ours, 'server.crt')}"`,
      `ca_file = "${join(ours, 'ca.crt')}"`,
    ],
  });
  const local = await connect({ socketPath: daemon.socketPath });
  const remote = await connect({ host: '127.0.0.1', port, tls, keepalive });
  cleanups.push(
    () => local.close(),
    () => remote.close(),
  );
  const here = await local.call(connectGetHostname);
  expect(await remote.call(connectGetHostname)).toEqual(here);

  const unknown = { ...stranger, ca: tls.ca };
  await expect(connect({ host: '127.0.0.1', port, tls: unknown })).rejects.toThrow(
    /refused the client's certificate/,
  );
  const suspicious = { ...tls, ca: stranger.ca };
  await expect(connect({ host: '127.0.0.1', port, tls: suspicious })).rejects.toThrow(
    /certificate/,
  );
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'libvirt-tls-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  return folder;
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('BUG: no port');
  return address.port;
}
