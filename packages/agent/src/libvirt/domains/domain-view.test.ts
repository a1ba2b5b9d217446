import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@gantry/daemon/log';
import { type ByteLevelLibvirt, serveLibvirt } from '@gantry/testkit/hosts/byte-level-libvirt';
import { connect } from 'node-libvirt/connect';
import {
  domainDefineXmlFlags,
  domainDestroyFlags,
  domainGetXmlDesc,
} from 'node-libvirt/generated/procedures';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { DISK_ALIAS_PREFIX } from '../domain-xml/render-disk.ts';
import { openLibvirt } from './open-libvirt.ts';

const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
const OTHER = '2f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d32';
const log = createLog({ process: 'test', level: 'silent' });

let daemon: ByteLevelLibvirt;
let libvirt: ReturnType<typeof openLibvirt>;
let directory: string;
let told: string[];

beforeEach(async () => {
  daemon = await serveLibvirt();
  directory = await mkdtemp(join(tmpdir(), 'gantry-domain-view-'));
  await define(VM, 'disk-1');
  await define(OTHER, 'disk-2');
  const { socketPath } = daemon;
  libvirt = openLibvirt({ socketPath, serialLogDirectory: directory, log, clock: systemClock });
  told = [];
  const subscribed = new Promise<void>((reconnected) => {
    libvirt.watch({
      domainChanged: (vmId) => void told.push(`${vmId} changed`),
      domainRecovered: (vmId) => void told.push(`${vmId} recovered`),
      serialLogGrew: () => {},
      reconnected,
    });
  });
  await subscribed;
});
afterEach(async () => {
  await libvirt.close();
  await daemon.close();
  await rm(directory, { recursive: true });
});

async function define(vmId: string, diskId: string): Promise<void> {
  const disk = `<disk><target dev='vda'/><alias name='${DISK_ALIAS_PREFIX}${diskId}'/></disk>`;
  const xml = `<domain><name>gantry-${vmId}</name><uuid>${vmId}</uuid><devices>${disk}</devices></domain>`;
  const connection = await connect({ socketPath: daemon.socketPath });
  await connection.call(domainDefineXmlFlags, { xml, flags: 0 });
  await connection.close();
}

const handle = (vmId: string) => ({
  ...{ name: '', id: -1, uuid: Buffer.from(vmId.replaceAll('-', ''), 'hex') },
});
/** Makes a call about a locked domain, and gives it up. */
async function fallSilent(vmId: string): Promise<void> {
  daemon.lock(vmId);
  const args = { dom: handle(vmId), flags: 0 };
  const hanging = libvirt.lines.run(vmId, 'read', (connection) =>
    connection.call(domainGetXmlDesc, args, { timeoutMs: 1 }),
  );
  await expect(hanging).rejects.toMatchObject({ code: 'vm_unresponsive' });
}
const seen = async (vmId: string) =>
  (await libvirt.view.list()).find((domain) => domain.vmId === vmId);

describe('a domain that does not reply', () => {
  it('is shown as last known, without a call, and beside the others', async () => {
    await libvirt.view.list();
    await fallSilent(VM);
    libvirt.view.noticed(VM);
    libvirt.view.noticed(OTHER);
    expect(await seen(VM)).toMatchObject({
      last: { state: 'shutoff' },
      silence: { message: expect.stringContaining('libvirt did not reply') },
    });
    expect(await seen(OTHER)).toMatchObject({ last: { state: 'shutoff' }, silence: null });
    expect(told).toContain(`${VM} changed`);
  });

  it('is shown as unknown if it was never read', async () => {
    daemon.lock(VM);
    await fallSilent(VM);
    expect(await seen(VM)).toMatchObject({ last: null });
    await expect(libvirt.view.latest(VM)).rejects.toMatchObject({ code: 'vm_unresponsive' });
    expect(await libvirt.view.mayUseDisk('any disk')).toBe(true);
  });

  it('keeps its own disks in use, although it was shut off, and no others', async () => {
    await libvirt.view.list();
    expect(await libvirt.view.mayUseDisk('disk-1')).toBe(false);
    await fallSilent(VM);
    expect(await libvirt.view.mayUseDisk('disk-1')).toBe(true);
    expect(await libvirt.view.mayUseDisk('disk-2')).toBe(false);
  });

  it('fails further calls at once, and is read again when libvirt replies', async () => {
    await libvirt.view.list();
    await fallSilent(VM);
    await expect(libvirt.view.read(VM)).rejects.toMatchObject({ code: 'vm_unresponsive' });
    daemon.unlock(VM);
    await expect.poll(() => told).toContain(`${VM} recovered`);
    expect(await seen(VM)).toMatchObject({ last: { state: 'shutoff' }, silence: null });
  });
});

it('a domain is not read while it is being ended', async () => {
  await libvirt.view.list();
  daemon.lock(VM);
  const ending = libvirt.lines.run(VM, 'end', (connection) =>
    connection.call(domainDestroyFlags, { dom: handle(VM), flags: 0 }),
  );
  libvirt.view.noticed(VM);
  expect(await seen(VM)).toMatchObject({ last: { state: 'shutoff' }, silence: null });
  const reading = libvirt.view.read(VM);
  daemon.unlock(VM);
  await ending;
  expect(await reading).toMatchObject({ state: 'shutoff' });
});

it('domains are listed once for a connection; events name the new ones', async () => {
  await libvirt.view.list();
  const { lists } = daemon;
  const third = '3f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d33';
  await define(third, 'disk-3');
  expect(await seen(third)).toBeUndefined();
  libvirt.view.noticed(third);
  expect(await seen(third)).toMatchObject({ last: { state: 'shutoff' } });
  expect(daemon.lists).toBe(lists);
});

it('a disk counts as used from the request to attach it until libvirt has replied', async () => {
  let attached = () => {};
  const attaching = libvirt.view.whileAttaching(OTHER, 'new disk', () => {
    return new Promise<void>((resolve) => {
      attached = resolve;
    });
  });
  expect(await libvirt.view.mayUseDisk('new disk')).toBe(true);
  attached();
  await attaching;
  expect(await libvirt.view.mayUseDisk('new disk')).toBe(false);
});
