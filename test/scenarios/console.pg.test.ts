import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import {
  type ListeningApi,
  listenTestApi,
  type TestConsole,
} from '@gantry/testkit/api/listening-api';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { makeAccessKey, SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/**
 * Tests consoles from a WebSocket through api, scheduler and agent to a guest's shell, and back.
 */
const TIMINGS = { checkMs: 50, silentMs: 30_000, idleMs: 60_000 };
let cloud: Cloud;
let listening: ListeningApi;
let host: SimulatedHost;
let vmId: string;
let opened: TestConsole[] = [];

beforeAll(async () => {
  cloud = await startCloud();
  cloud.api.deps.consoleTimings = TIMINGS;
  listening = await listenTestApi(cloud.api);
  await cloud.addScheduler();
  host = await cloud.addHost();
});
afterAll(async () => {
  await listening.stop();
  await cloud.stop();
});

const vmState = async (id: string) => (await cloud.call('GET', `/vms/${id}`)).body.state;
let made = 0;
beforeEach(async () => {
  made += 1;
  const { body } = await cloud.call('POST', '/vms', {
    ...{ name: `vm-${made}`, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  vmId = body.operation.metadata.id;
  await expect.poll(() => vmState(vmId)).toBe('STATE_RUNNING');
});
afterEach(async () => {
  cloud.api.deps.consoleTimings = TIMINGS;
  for (const { socket } of opened) socket.terminate();
  opened = [];
  await cloud.call('DELETE', `/vms/${vmId}`);
});

const path = (id = vmId) => `/projects/${cloud.tenant.projectId}/vms/${id}/console`;
const open = ({ bearer = cloud.tenant.accessKey, query = '' } = {}) => {
  const console = listening.open(path() + query, bearer === '' ? {} : { bearer });
  opened.push(console);
  return console;
};
const shell = async (console: TestConsole) => {
  await expect.poll(() => console.shown()).toContain('login: ');
  return console;
};
/** Returns how many consoles of all VMs the host has open. */
const openOnHost = () =>
  host.driver.hypervisor.look().filter(({ vmId: id }) => host.driver.hypervisor.domain(id)?.console)
    .length;

describe('a console', () => {
  it('shows the output so far, and then the typed bytes and the replies to them', async () => {
    const console = await shell(open());
    console.type('whoami\r');
    await expect.poll(() => console.shown()).toMatch(/whoami\r\nroot\r\n# $/);
    console.socket.send(Buffer.from('echo ünï\r'));
    await expect.poll(() => console.shown()).toContain('\r\nünï\r\n');
    const { body } = await cloud.call('GET', `/vms/${vmId}/serial-log`);
    await expect
      .poll(async () => (await cloud.call('GET', `/vms/${vmId}/serial-log`)).body.serial_log)
      .toContain('root');
    expect(body.serial_log).toContain('login: ');
  });

  it('is opened with a ticket, and every opening is in the audit log', async () => {
    const { body } = await cloud.call('POST', `/vms/${vmId}/console`);
    const console = await shell(open({ bearer: '', query: new URL(body.url).search }));
    console.type('whoami\r');
    await expect.poll(() => console.shown()).toContain('root');
    const again = open({ bearer: '', query: new URL(body.url).search });
    expect(await again.refused).toMatchObject({ status: 401, body: { code: 'bad_credential' } });
    const lines = await cloud.sql`select action, actor_type, status from audit_logs
      where resource_id = ${vmId} and resource_type = 'consoles' order by id`;
    expect(lines).toEqual([
      { action: 'consoles.create-ticket', actor_type: 'access_key', status: 200 },
      { action: 'consoles.open', actor_type: 'access_key', status: 200 },
    ]);
  });

  it('is shared by at most four clients of one VM, and closes on the host after the last one', async () => {
    const [one, two] = [await shell(open()), await shell(open())];
    one.type('echo from-one\r');
    for (const each of [one, two]) await expect.poll(() => each.shown()).toContain('\r\nfrom-one');
    two.type('echo from-two\r');
    for (const each of [one, two]) await expect.poll(() => each.shown()).toContain('\r\nfrom-two');
    await shell(open());
    await shell(open());
    expect(await open().closed).toMatchObject({ code: 4429, reason: /^too_many_consoles/ });
    expect(openOnHost()).toBe(1);
    for (const { socket } of opened) socket.close();
    await expect.poll(openOnHost).toBe(0);
    await shell(open());
  });

  it('delivers a large output completely even if the client pauses; the host waits meanwhile', async () => {
    const console = await shell(open());
    console.socket.pause();
    console.type('yes 3000000\r');
    const line = () => host.driver.hypervisor.domain(vmId)?.console;
    await expect.poll(() => line()?.readableLength ?? 0).toBeGreaterThan(1_000_000);
    console.socket.resume();
    await expect.poll(() => console.shown().length).toBeGreaterThan(9_000_000);
    console.type('echo after-all\r');
    await expect.poll(() => console.shown().slice(-100)).toContain('after-all');
  });

  it.each([
    [
      'the VM is stopped',
      () => cloud.call('PATCH', `/vms/${vmId}`, { action: 'STOP' }),
      4410,
      'vm_stopped',
    ],
    ['the VM is deleted', () => cloud.call('DELETE', `/vms/${vmId}`), 4410, 'vm_stopped'],
    ['the VM crashes', async () => host.driver.crashDomain(vmId), 4410, 'vm_stopped'],
  ])('closes when %s', async (_what, happen, code, reason) => {
    const console = await shell(open());
    await happen();
    expect(await console.closed).toMatchObject({ code, reason: expect.stringContaining(reason) });
  });

  it('stays open during a reset', async () => {
    const console = await shell(open());
    await cloud.call('PATCH', `/vms/${vmId}`, { action: 'RESET' });
    await expect.poll(() => console.shown().match(/login: /g)).toHaveLength(2);
    expect(console.socket.readyState).toBe(1);
  });

  it('closes when its key is revoked, and when its user loses the project', async () => {
    const { tenant, sql } = cloud;
    const key = await makeAccessKey(cloud.api, tenant.projectId, 'member');
    const [byKey, byUser] = [
      await shell(open({ bearer: key })),
      await shell(open({ bearer: tenant.member.token })),
    ];
    await sql`delete from access_keys where id in (select id from access_keys order by created_at desc limit 1)`;
    await sql`update members set role = 'read-only' where user_id = ${tenant.member.id}`;
    for (const each of [byKey, byUser])
      expect(await each.closed).toMatchObject({
        code: 4401,
        reason: expect.stringContaining('rights_ended'),
      });
    await sql`update members set role = 'member' where user_id = ${tenant.member.id}`;
  });

  it('closes when its host is disconnected or its scheduler ends, and can be opened again when both are back', async () => {
    const isHeard = async () =>
      (
        await cloud.sql`select from hosts h join schedulers s on s.id = h.scheduler_id
        where h.id = ${host.id} and s.address <> ''`
      ).length;
    const cut = await shell(open());
    host.kill();
    expect(await cut.closed).toMatchObject({ code: 4503 });
    await expect.poll(isHeard).toBe(0);
    expect(await open().refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    await host.start();
    await expect.poll(isHeard).toBe(1);

    const left = await shell(open());
    const [first] = cloud.schedulers.splice(0, 1);
    await cloud.addScheduler();
    await first?.stop();
    expect(await left.closed).toMatchObject({ code: 4503 });
    await expect.poll(isHeard).toBe(1);
    await shell(open());
  });

  it('closes when it is idle for too long', async () => {
    cloud.api.deps.consoleTimings = { ...TIMINGS, idleMs: 300 };
    expect(await open().closed).toMatchObject({ code: 4408 });
  });
});
