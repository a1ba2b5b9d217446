import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from './connect.ts';
import type { Connection } from './connection.ts';
import { openConsole } from './console.ts';
import { DOMAIN_EVENT, subscribe } from './domain-events.ts';
import { LIBVIRT_ERROR, LibvirtError } from './errors.ts';
import { AFFECT, DEFINE, DOMAIN_STATE, METADATA, START, UNDEFINE } from './flags.ts';
import {
  connectGetCapabilities,
  connectGetDomainCapabilities,
  connectGetHostname,
  connectGetLibVersion,
  connectListAllDomains,
  connectListAllNodeDevices,
  domainAttachDeviceFlags,
  domainCreateWithFlags,
  domainDefineXmlFlags,
  domainDestroyFlags,
  domainGetMetadata,
  domainGetState,
  domainGetXmlDesc,
  domainLookupByName,
  domainMemoryStats,
  domainResume,
  domainSetMetadata,
  domainUndefineFlags,
  nodeGetInfo,
  qemuDomainAgentCommand,
} from './generated/procedures.ts';
import type { Domain } from './generated/types.ts';
import { writeEchoGuest } from './testing/echo-guest.ts';
import { type PrivateLibvirtd, startPrivateLibvirtd } from './testing/private-libvirtd.ts';

let daemon: PrivateLibvirtd;
let connection: Connection;

beforeAll(async () => {
  daemon = await startPrivateLibvirtd();
  connection = await connect({ socketPath: daemon.socketPath });
});
afterAll(async () => {
  await connection?.close();
  await daemon?.stop();
});

async function define(name: string): Promise<Domain> {
  const uuid = randomUUID();
  const xml = await writeEchoGuest({ name, uuid, directory: daemon.directory });
  const { dom } = await connection.call(domainDefineXmlFlags, { xml, flags: DEFINE.validate });
  expect(dom.uuid.toString('hex')).toBe(uuid.replaceAll('-', ''));
  return dom;
}

async function remove(dom: Domain): Promise<void> {
  await connection.call(domainDestroyFlags, { dom, flags: 0 }).catch(() => undefined);
  await connection.call(domainUndefineFlags, { dom, flags: UNDEFINE.nvram });
}

const failureOf = async (call: Promise<unknown>): Promise<LibvirtError> => {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(LibvirtError);
  return error as LibvirtError;
};

it('concurrent calls each get their own reply', async () => {
  const { hostname } = await connection.call(connectGetHostname);
  const calls = Array.from({ length: 200 }, (_, index) => index).map(async (index) => {
    if (index % 3 === 0) return (await connection.call(connectGetHostname)).hostname === hostname;
    if (index % 3 === 1)
      return (await connection.call(connectGetLibVersion)).libVer > 9_000_000n - 1n;
    const name = `missing-${index}`;
    return (await failureOf(connection.call(domainLookupByName, { name }))).message.includes(name);
  });
  expect(new Set(await Promise.all(calls))).toEqual(new Set([true]));
});

it('the host name and the versions are readable', async () => {
  const info = await connection.call(nodeGetInfo);
  expect(info.cpus).toBeGreaterThan(0);
  expect(info.model).toMatch(/^[\w ()-]+$/);
  const { capabilities } = await connection.call(connectGetCapabilities);
  expect(capabilities).toContain('<host>');
  const any = { emulatorbin: null, arch: null, machine: null, virttype: 'qemu', flags: 0 };
  const { capabilities: domain } = await connection.call(connectGetDomainCapabilities, any);
  expect(domain).toContain('<domainCapabilities>');
  const { devices } = await connection.call(connectListAllNodeDevices, {
    needResults: 1,
    flags: 0,
  });
  expect(devices.map(({ name }) => name)).toContain('computer');
});

it("errors carry libvirt's codes", async () => {
  const flags = DEFINE.validate;
  const [missing, broken, invalid] = await Promise.all([
    failureOf(connection.call(domainLookupByName, { name: 'nobody' })),
    failureOf(connection.call(domainDefineXmlFlags, { xml: '<domain', flags })),
    failureOf(
      connection.call(domainDefineXmlFlags, { xml: '<domain><nonsense/></domain>', flags }),
    ),
  ]);
  expect(missing.code).toBe(LIBVIRT_ERROR.noDomain);
  expect(broken.code).toBe(LIBVIRT_ERROR.xmlDetail);
  expect(invalid.code).toBe(LIBVIRT_ERROR.xmlInvalidSchema);
  const dom = await define('codes');
  const idle = { dom, flags: 0 };
  expect((await failureOf(connection.call(domainDestroyFlags, idle))).code).toBe(
    LIBVIRT_ERROR.operationInvalid,
  );
  const { code } = await failureOf(
    connection.call(domainGetMetadata, {
      dom,
      type: METADATA.element,
      uri: 'https://gantry.example/',
      flags: AFFECT.config,
    }),
  );
  expect(code).toBe(LIBVIRT_ERROR.noDomainMetadata);
  await remove(dom);
});

it('a domain is defined, started, stopped and removed, and every step is an event', async () => {
  const seen: string[] = [];
  const subscription = await subscribe(connection, DOMAIN_EVENT.lifecycle, {
    listener: ({ domain, event }) => seen.push(`${domain.name} ${event}`),
  });
  const dom = await define('lifecycle');
  await connection.call(domainCreateWithFlags, { dom, flags: 0 });
  const running = await connection.call(domainGetState, { dom, flags: 0 });
  expect(running.state).toBe(DOMAIN_STATE.running);
  const { domains } = await connection.call(connectListAllDomains, { needResults: 1, flags: 0 });
  expect(domains.find(({ name }) => name === 'lifecycle')?.id).toBeGreaterThan(0);
  const { xml } = await connection.call(domainGetXmlDesc, { dom, flags: 0 });
  expect(xml).toContain('<name>lifecycle</name>');
  const { stats } = await connection.call(domainMemoryStats, { dom, maxStats: 16, flags: 0 });
  expect(stats.length).toBeGreaterThan(0);
  await remove(dom);
  const steps = ['defined', 'started', 'stopped', 'undefined'].map((step) => `lifecycle ${step}`);
  await expect.poll(() => seen).toEqual(expect.arrayContaining(steps));
  expect(seen.indexOf('lifecycle stopped')).toBeGreaterThan(seen.indexOf('lifecycle started'));
  await subscription.stop();
  await remove(await define('unheard'));
  expect(seen.filter((line) => line.startsWith('unheard'))).toEqual([]);
});

it('metadata is read as it was set, and its change is an event of that domain only', async () => {
  const [dom, other] = [await define('metadata'), await define('other')];
  const uri = 'https://gantry.example/vm';
  const seen: unknown[] = [];
  await subscribe(connection, DOMAIN_EVENT.metadataChange, {
    domain: dom,
    listener: ({ domain, uri: changed }) => seen.push([domain.name, changed]),
  });
  for (const each of [other, dom]) {
    await connection.call(domainSetMetadata, {
      dom: each,
      type: METADATA.element,
      metadata: "<vm generation='7'/>",
      key: 'gantry',
      uri,
      flags: AFFECT.config,
    });
  }
  const type = METADATA.element;
  const args = { dom, type, uri, flags: AFFECT.config };
  expect((await connection.call(domainGetMetadata, args)).metadata).toMatch(/generation=.7/);
  await expect.poll(() => seen).toEqual([['metadata', uri]]);
  await remove(dom);
  await remove(other);
});

it('the console carries output and input of the guest, and ends with the domain', async () => {
  const dom = await define('console');
  // Started paused, because output that no client reads is lost.
  await connection.call(domainCreateWithFlags, { dom, flags: START.paused });
  const own = await connect({ socketPath: daemon.socketPath });
  const console = await openConsole(own, dom);
  let printed = '';
  console.on('data', (chunk) => {
    printed += String(chunk);
  });
  const failed = new Promise((resolve) => console.once('error', resolve));
  await connection.call(domainResume, { dom });
  await expect.poll(() => printed).toBe('>');
  console.write('hello');
  await expect.poll(() => printed).toBe('>hello');
  const busy = await failureOf(openConsole(own, dom));
  expect(busy.code).toBe(LIBVIRT_ERROR.operationFailed);
  const taken = await openConsole(own, dom, { force: true });
  expect(await failed).toBeInstanceOf(LibvirtError);
  taken.destroy();
  await once(taken, 'close');
  const again = await openConsole(own, dom);
  const ended = buffer(again);
  await remove(dom);
  expect(String(await ended)).toBe('');
  await own.close();
});

it('a guest without an agent has its own error code', async () => {
  const dom = await define('agentless');
  await connection.call(domainCreateWithFlags, { dom, flags: 0 });
  const cmd = '{"execute":"guest-ping"}';
  const call = connection.call(qemuDomainAgentCommand, { dom, cmd, timeout: 1, flags: 0 });
  expect([LIBVIRT_ERROR.argumentUnsupported, LIBVIRT_ERROR.agentUnresponsive]).toContain(
    (await failureOf(call)).code,
  );
  const xml = '<disk/>';
  const bad = connection.call(domainAttachDeviceFlags, { dom, xml, flags: AFFECT.live });
  expect((await failureOf(bad)).code).not.toBe(0);
  await remove(dom);
});
