import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { allRows } from '@gantry/testkit/database/all-rows';
import { failure, type HandDrivenHost, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let cloud: Cloud;
let host: HandDrivenHost;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());

const begin = async (options = {}) => {
  host = await cloud.addHandDrivenHost(options);
};
const claims = async (vmId: string) =>
  (await cloud.sql`select from device_claims where vm_id = ${vmId}`).length;
const intervals = (vmId: string) =>
  cloud.sql<{ started_at: Date; ended_at: Date | null }[]>`
    select started_at, ended_at from meter_intervals where resource_id = ${vmId} order by started_at`;
const startedAnHourAgo = (vmId: string) =>
  cloud.sql`update meter_intervals set started_at = now() - interval '1 hour' where resource_id = ${vmId}`;
const recordedAt = async (operationId: string) =>
  (await cloud.sql`select recorded_at from operations where id = ${operationId}`)[0]?.[
    'recorded_at'
  ];
const events = async (vmId: string) =>
  (await cloud.sql`select type from events where resource_id = ${vmId} order by id`).map(
    ({ type }) => type,
  );

describe('CREATE', () => {
  it('succeeds when the VM is reported as running, and metering starts then', async () => {
    await begin();
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    const [wanted] = (await host.spec()).vms ?? [];
    expect(wanted).toMatchObject({ id, generation: 1, image: { name: 'debian-12' } });
    await host.say(id, { state: 'VM_OBSERVED_STATE_WORKING', revision: '0' });
    expect(await cloud.vmState(id)).toBe('STATE_CREATING');
    expect(await intervals(id)).toHaveLength(0);
    await host.obey();
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { id, state: 'STATE_RUNNING' } },
    });
    expect(await intervals(id)).toMatchObject([{ ended_at: null }]);
    expect((await host.spec()).vms?.[0]).not.toHaveProperty('image');
  });

  it("fails with the host's reason, and the VM is removed after it is taken down", async () => {
    await begin();
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    await host.say(id, {
      ...{ state: 'VM_OBSERVED_STATE_FAILED', generation: '0', disks: [] },
      failure: failure('image_unavailable'),
    });
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'image_unavailable', details: {} } },
    });
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    const { takeDowns } = await host.spec();
    expect(takeDowns).toMatchObject([{ id, graceful: false, disks: [expect.any(String)] }]);
    expect(await claims(id)).toBe(2);
    await host.obey();
    expect(await cloud.vmState(id)).toBe('gone');
    expect(
      await cloud.sql`select from disks where kind = 'os' and host_id = ${host.id}`,
    ).toHaveLength(0);
  });

  it("fails without the paths and addresses in the host's reason", async () => {
    await begin();
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    await host.say(id, {
      ...{ state: 'VM_OBSERVED_STATE_FAILED', generation: '0', disks: [] },
      failure: failure('image_unavailable', 'no reply from 10.9.1.4:3300: see /var/lib/gantry/x'),
    });
    expect(await cloud.operation(operationId)).toMatchObject({
      result: { message: 'no reply from …: see …' },
    });
  });

  it('fails if the VM ends before it has run', async () => {
    await begin();
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    await host.say(id, { state: 'VM_OBSERVED_STATE_CRASHED' });
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'FAILED' });
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
  });

  it('accepts a report with the character U+0000', async () => {
    await begin();
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    const bad = { code: 'bad_disk', message: 'a\0b', sinceMs: '1' };
    await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: bad });
    expect(await cloud.operation(operationId)).toMatchObject({ result: { message: 'ab' } });
  });
});

describe('STOP', () => {
  it('releases nothing while a receipt is missing or belongs to another take-down', async () => {
    await begin();
    const id = await cloud.runVm(host);
    const { operationId } = await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    expect((await host.spec()).takeDowns).toMatchObject([{ id, graceful: true, disks: [] }]);
    await host.obey((report) => report.receipts.pop());
    await host.obey((report) => report.receipts.shift());
    await host.obey((report) => {
      for (const receipt of report.receipts)
        receipt.revision = String(Number(receipt.revision) - 1);
    });
    await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: failure('device_in_use') });
    expect(await claims(id)).toBe(2);
    expect(await cloud.vmState(id)).toBe('STATE_STOPPING');
    await host.obey();
    expect(await claims(id)).toBe(0);
    expect(await cloud.vmState(id)).toBe('STATE_SHUTOFF');
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { state: 'STATE_SHUTOFF' } },
    });
    const receipts =
      await cloud.sql`select kind, method, failure_code from device_receipts where vm_id = ${id} order by kind`;
    expect(receipts).toMatchObject([
      { kind: 'drive', method: 'format_ses1', failure_code: '' },
      { kind: 'gpu', method: 'flr', failure_code: '' },
    ]);
    expect(
      await cloud.sql`select from address_claims c join network_interfaces n
      on n.id = c.network_interface_id where n.vm_id = ${id}`,
    ).toHaveLength(1);
  });

  it('quarantines a device that is not clean, and stores the receipt', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    await host.obey((report) => {
      for (const receipt of report.receipts)
        if (receipt.kind === 'gpu') receipt.failure = failure('reset_failed');
    });
    expect(await cloud.vmState(id)).toBe('STATE_SHUTOFF');
    expect(
      await cloud.sql`select g.state, r.failure_code from devices g join device_receipts r on r.device_id = g.id
      where g.kind = 'gpu' and r.vm_id = ${id}`,
    ).toMatchObject([{ state: 'quarantined', failure_code: 'reset_failed' }]);
    expect(
      await cloud.sql`select state from devices where kind = 'drive' and host_id = ${host.id} and state <> 'ready'`,
    ).toHaveLength(0);
  });

  it('fails at once while the kernel holds up a device, stays in force, and ends when it can', async () => {
    await begin();
    const id = await cloud.runVm(host);
    const { operationId } = await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: failure('device_stuck') });
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'device_stuck' } },
    });
    expect(await cloud.vmState(id)).toBe('STATE_STOPPING');
    expect(await claims(id)).toBe(2);
    await host.obey();
    expect(await cloud.vmState(id)).toBe('STATE_SHUTOFF');
    expect(await claims(id)).toBe(0);
  });

  it('ends metering in the transaction of the request, whenever the host obeys', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await startedAnHourAgo(id);
    const { operationId } = await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    expect(await cloud.vmState(id)).toBe('STATE_STOPPING');
    const atRequest = await intervals(id);
    expect(atRequest).toEqual([{ ...atRequest[0], ended_at: await recordedAt(operationId) }]);
    // The host still reports the VM as running, then fails to stop it, and the operation is overdue.
    const running = { state: 'VM_OBSERVED_STATE_RUNNING', generation: '2' } as const;
    await host.say(id, running);
    await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: failure('stuck') });
    await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
    await endOverdueOperations(cloud);
    expect(await cloud.vmState(id)).toBe('STATE_STOPPING');
    await host.say(id, running);
    expect(await intervals(id)).toEqual(atRequest);
    await host.obey();
    expect(await cloud.vmState(id)).toBe('STATE_SHUTOFF');
    expect(await intervals(id)).toEqual(atRequest);
  });

  it('is charged by the time of the database if the clock of the api is an hour slow', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await cloud.sql`update meter_intervals set started_at = now() - interval '2 hours' where resource_id = ${id}`;
    const { operationId } = await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    await cloud.sql`update operations set started_at = started_at - interval '1 hour' where id = ${operationId}`;
    await host.obey();
    expect(
      await cloud.sql`select from meter_intervals
        where resource_id = ${id} and ended_at < now() - interval '50 minutes'`,
    ).toHaveLength(0);
  });
});

describe('START', () => {
  const start = async (id: string) =>
    (await cloud.request('PATCH', `/vms/${id}`, { action: 'START' })).operationId;

  it('from SHUTOFF places the VM again without an image, and starts metering again', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    await host.obey();
    const operationId = await start(id);
    expect(await cloud.vmState(id)).toBe('STATE_STARTING');
    await cloud.place(id, host);
    const [wanted] = (await host.spec()).vms ?? [];
    expect(wanted).toMatchObject({ id, generation: 3 });
    expect(wanted).not.toHaveProperty('image');
    await host.obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await intervals(id)).toMatchObject([{ ended_at: expect.any(Date) }, { ended_at: null }]);
  });

  it('from CRASHED boots the VM on its host', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await host.say(id, { state: 'VM_OBSERVED_STATE_CRASHED' });
    const operationId = await start(id);
    expect((await host.spec()).vms).toMatchObject([{ id, generation: 2 }]);
    await host.say(id, { generation: '1' });
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
    await host.obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('that fails leaves ERROR, releases the claims with proof, and can be repeated', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    await host.obey();
    const operationId = await start(id);
    await cloud.place(id, host);
    await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: failure('device_missing') });
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'device_missing' } },
    });
    expect(await cloud.vmState(id)).toBe('STATE_ERROR');
    expect((await host.spec()).takeDowns).toMatchObject([{ id, graceful: false, disks: [] }]);
    expect(await claims(id)).toBe(2);
    await host.obey();
    expect(await claims(id)).toBe(0);
    expect(await cloud.vmState(id)).toBe('STATE_ERROR');
    const again = await start(id);
    await cloud.place(id, host);
    await host.obey();
    expect(await cloud.operation(again)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('can be repeated before the failed VM is taken down', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await host.say(id, { state: 'VM_OBSERVED_STATE_CRASHED' });
    await start(id);
    await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED' });
    const takenDown = await host.done();
    const again = await start(id);
    await host.report(takenDown);
    expect(await claims(id)).toBe(2);
    await host.obey();
    expect(await cloud.operation(again)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('that ends in a crash fails, and the VM is CRASHED', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await host.say(id, { state: 'VM_OBSERVED_STATE_CRASHED' });
    const operationId = await start(id);
    await host.say(id, { state: 'VM_OBSERVED_STATE_CRASHED' });
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'FAILED' });
    expect(await cloud.vmState(id)).toBe('STATE_CRASHED');
  });
});

describe('a VM that runs', () => {
  it('is reset, and the reset is not metered', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await startedAnHourAgo(id);
    const { operationId } = await cloud.request('PATCH', `/vms/${id}`, { action: 'RESET' });
    expect(await intervals(id)).toMatchObject([{ ended_at: await recordedAt(operationId) }]);
    await host.say(id, { generation: '1' });
    expect(await cloud.vmState(id)).toBe('STATE_RESETTING');
    await host.obey();
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    const [first, second, ...more] = await intervals(id);
    expect(first?.ended_at).toEqual(await recordedAt(operationId));
    expect(second?.ended_at).toBeNull();
    expect(more).toHaveLength(0);
  });

  it('keeps running if it does not reply to a RESET, which fails with the reason and is done later', async () => {
    await begin();
    const id = await cloud.runVm(host);
    const { operationId } = await cloud.request('PATCH', `/vms/${id}`, { action: 'RESET' });
    const silent = {
      ...{ state: 'VM_OBSERVED_STATE_FAILED' as const, generation: '1' },
      failure: failure('vm_unresponsive'),
    };
    const report = await host.say(id, silent);
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'vm_unresponsive' } },
    });
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
    const before = await allRows(cloud.sql);
    await host.report(report);
    expect(await allRows(cloud.sql)).toEqual(before);
    expect((await host.spec()).vms).toMatchObject([{ id, generation: 2 }]);
    await host.obey();
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
    expect(await events(id)).toEqual([]);
    expect(await claims(id)).toBe(2);
  });

  it('is CRASHED when it ends by itself: metering stops, and repeated reports give one event', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await host.say(id, { state: 'VM_OBSERVED_STATE_CRASHED' });
    await host.say(id, { state: 'VM_OBSERVED_STATE_CRASHED' });
    expect(await cloud.vmState(id)).toBe('STATE_CRASHED');
    expect(await events(id)).toEqual(['vm_crashed']);
    expect(await intervals(id)).toMatchObject([{ ended_at: expect.any(Date) }]);
    expect(await claims(id)).toBe(2);
  });

  it('that its host cannot bring up again is in ERROR and is never removed', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: failure('disk_missing') });
    expect(await cloud.vmState(id)).toBe('STATE_ERROR');
    expect((await host.spec()).takeDowns).toMatchObject([{ id, disks: [] }]);
    await host.obey();
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(id)).toBe('STATE_ERROR');
  });
});

describe('DELETE', () => {
  const remove = async (id: string) => (await cloud.request('DELETE', `/vms/${id}`)).operationId;
  const expectGone = async (id: string, operationId: string) => {
    expect(await cloud.vmState(id)).toBe('gone');
    expect(await cloud.operation(operationId)).toMatchObject({
      state: 'SUCCEEDED',
      result: { id },
    });
    expect(
      await cloud.sql`select from meter_intervals where resource_id = ${id} and ended_at is null`,
    ).toHaveLength(0);
  };

  it('of a running VM succeeds with proof, and removes its OS disk and addresses', async () => {
    await begin();
    const id = await cloud.runVm(host);
    const operationId = await remove(id);
    await cloud.settleWithoutHost();
    await host.obey((report) => report.receipts.pop());
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    await host.obey();
    await expectGone(id, operationId);
    expect(await host.spec()).toMatchObject({ vms: [], takeDowns: [], deletedDisks: [] });
  });

  it('ends metering in the transaction of the request, whenever the host obeys', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await startedAnHourAgo(id);
    const operationId = await remove(id);
    const atRequest = await intervals(id);
    expect(atRequest).toEqual([{ ...atRequest[0], ended_at: await recordedAt(operationId) }]);
    await host.say(id, { state: 'VM_OBSERVED_STATE_RUNNING', generation: '1' });
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    expect(await intervals(id)).toEqual(atRequest);
    await host.obey();
    await expectGone(id, operationId);
    expect(await intervals(id)).toEqual(atRequest);
  });

  it('of a VM without a host succeeds at once', async () => {
    const { id, operationId: creation } = await cloud.createVm();
    const operationId = await remove(id);
    await cloud.settleWithoutHost();
    await expectGone(id, operationId);
    expect(await cloud.operation(creation)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'cancelled' } },
    });
  });

  it('during a creation or a stop waits for the proof', async () => {
    await begin();
    const { id } = await cloud.createVm();
    await cloud.place(id, host);
    const creating = await host.done();
    const operationId = await remove(id);
    await host.report(creating);
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    await host.obey();
    await expectGone(id, operationId);

    const other = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${other}`, { action: 'STOP' });
    const stopping = await host.done();
    const deletion = await remove(other);
    await host.report(stopping);
    expect(await claims(other)).toBe(2);
    await host.obey();
    await expectGone(other, deletion);
  });

  it('of a stopped VM succeeds when the host that stores its OS disk has removed it', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    await host.obey();
    const operationId = await remove(id);
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    expect((await host.spec()).deletedDisks).toHaveLength(1);
    await host.obey((report) => report.deletedDisks.pop());
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    await host.obey();
    await cloud.settleWithoutHost();
    await expectGone(id, operationId);
    expect((await host.spec()).deletedDisks).toEqual([]);
  });

  it('of a VM in CRASHED or ERROR takes it down first', async () => {
    await begin();
    for (const state of ['VM_OBSERVED_STATE_CRASHED', 'VM_OBSERVED_STATE_FAILED'] as const) {
      const id = await cloud.runVm(host);
      await host.say(id, { state });
      const operationId = await remove(id);
      await host.obey();
      await expectGone(id, operationId);
    }
  });
});

describe('a report', () => {
  it('about an earlier revision, from an earlier stream or with an earlier generation changes nothing', async () => {
    await begin();
    const id = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${id}`, { action: 'RESET' });
    const good = await host.done();
    await host.report({ ...good, vms: [] });
    const before = await allRows(cloud.sql);
    const word = wordOn(good, id);
    await host.report({ ...good, vms: [{ ...word, revision: '1' }] });
    await host.report({ ...good, vms: [{ ...word, generation: '1' }] });
    expect(await allRows(cloud.sql)).toEqual(before);
    const { epoch } = host;
    await host.attachAgain();
    const attached = await allRows(cloud.sql);
    const later = host.epoch;
    host.epoch = epoch;
    expect(await host.report(good)).toBe(false);
    expect(await allRows(cloud.sql)).toEqual(attached);
    host.epoch = later;
    expect(await host.report(good)).toBe(true);
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
  });

  it('that repeats the last one changes no row', async () => {
    await begin();
    const running = await cloud.runVm(host);
    const crashed = await cloud.runVm(host);
    const stopping = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${stopping}`, { action: 'STOP' });
    const report = await host.obey((one) => {
      wordOn(one, crashed).state = 'VM_OBSERVED_STATE_CRASHED';
      wordOn(one, stopping).state = 'VM_OBSERVED_STATE_WORKING';
      one.serialLogs = [{ vmId: running, tail: 'login:\0' }];
      one.vms.push({ ...wordOn(one, running), id: 'stranger', state: 'VM_OBSERVED_STATE_UNKNOWN' });
    });
    await host.report(report);
    const before = await allRows(cloud.sql);
    await host.report(report);
    expect(await allRows(cloud.sql)).toEqual(before);
    expect(await cloud.sql`select unknown_vms from hosts where id = ${host.id}`).toMatchObject([
      { unknown_vms: ['stranger'] },
    ]);
    expect((await cloud.call('GET', `/vms/${running}/serial-log`)).body.serial_log).toBe('login:');
  });

  it('about a VM that does not reply shows it to operators until it replies, and changes nothing else', async () => {
    await begin();
    const id = await cloud.runVm(host);
    const shown = async () =>
      (await cloud.api.call('GET', `/admin/hosts/${host.id}`, { bearer: cloud.operator })).body
        .unresponsive_vms;
    const silent = { code: 'vm_unresponsive', message: 'libvirt did not reply\0' };
    const report = await host.say(id, { failure: { ...silent, sinceMs: '1767323045678' } });
    expect(await shown()).toEqual([
      { vm_id: id, message: 'libvirt did not reply', since: '2026-01-02T03:04:05.678Z' },
    ]);
    const before = await allRows(cloud.sql);
    await host.report(report);
    expect(await allRows(cloud.sql)).toEqual(before);
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
    await host.say(id, { failure: { ...silent, sinceMs: '-9223372036854775808' } });
    expect(await shown()).toMatchObject([{ vm_id: id, since: '' }]);
    await host.obey();
    expect(await shown()).toEqual([]);
  });

  it.each(['libvirt_unresponsive', 'network_command_timeout'])(
    'about a VM that ran, and does not run again because of %s, keeps it and its devices until it does',
    async (code) => {
      await begin();
      const id = await cloud.runVm(host);
      const silent = { ...failure(code), sinceMs: '1767323045678' };
      await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: silent });
      expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
      expect((await host.spec()).vms).toMatchObject([{ id }]);
      expect(
        await cloud.sql`select unresponsive_vms from hosts where id = ${host.id}`,
      ).toMatchObject([{ unresponsive_vms: [{ vmId: id }] }]);
      await host.obey();
      expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
    },
  );

  it('about a VM of another host changes nothing', async () => {
    await begin();
    const id = await cloud.runVm(host);
    const other = await cloud.addHandDrivenHost();
    const report = await other.done();
    report.vms.push({ ...wordOn(await host.done(), id), state: 'VM_OBSERVED_STATE_CRASHED' });
    report.serialLogs = [{ vmId: id, tail: 'mine now' }];
    await other.report(report);
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
    expect(await cloud.sql`select from serial_logs where vm_id = ${id}`).toHaveLength(0);
  });
});
