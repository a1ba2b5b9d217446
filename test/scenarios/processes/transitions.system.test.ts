import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type Client,
  connectClient,
  connectToNewProject,
  type Operation,
} from '@gantry/testkit/processes/client';
import { runAgentCommand } from '@gantry/testkit/processes/run-commands';
import {
  type Fleet,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * Every transition of the contract as a client sees it. Hosts are held in the step of a state until
 * the test has seen the state, so that none is missed on a busy machine.
 */
let processes: Processes;
let client: Client;
/** Calls an api whose operations have a deadline of two seconds. */
let hasty: Client;
let schedulers: Scheduler[];
let fleet: Fleet;
/**
 * A host in another location that is held from the beginning and checked at the end. Its VM belongs
 * to another project, because a firewall rule of this one would wait for it.
 */
let frozen: { fleet: Fleet; client: Client; vmId: string };

beforeAll(async () => {
  processes = await startProcesses();
  const api = await processes.startApi();
  const env = { GANTRY_LEASE_TTL_MS: '2000', GANTRY_UNREACHABLE_AFTER_MS: '10000' };
  schedulers = [await processes.startScheduler(env), await processes.startScheduler(env)];
  const common = {
    ...{ schedulers, api },
    env: {
      GANTRY_FLEET_BOOT_MS: '20',
      GANTRY_FLEET_SHUTDOWN_MS: '20',
      GANTRY_FLEET_ERASE_MS: '20',
    },
  };
  client = await connectClient(processes, api);
  const elsewhere = await processes.startFleet({
    ...common,
    ...{ name: 'us', hosts: 'us-east-a:a40-8=1' },
  });
  const neighbour = await connectToNewProject(processes, api);
  const vmId = await run({ name: 'frozen', location: 'us-east-a' }, neighbour);
  elsewhere.signal('SIGSTOP');
  frozen = { fleet: elsewhere, client: neighbour, vmId };
  fleet = await processes.startFleet({ ...common, name: 'eu', hosts: 'eu-north-a:a40-8=2' });
  const impatient = await processes.startApi({ GANTRY_OPERATION_DEADLINE_S: '2' });
  hasty = await connectClient(processes, impatient);
});
afterAll(() => processes?.stop());

type NewVm = Parameters<Client['createVm']>[0];

/** Creates a VM that runs. */
async function run(fields: NewVm, as: Client = client): Promise<string> {
  const operation = await as.ended(await as.createVm(fields));
  expect(operation).toMatchObject({ state: 'SUCCEEDED', result: { state: 'STATE_RUNNING' } });
  return operation.metadata.id;
}

const everyHost = async (verb: string, body: object) => {
  for (const { name } of await fleet.hosts()) await fleet.order(name, verb, body);
};

/** Waits until the schedulers have settled everything, so that a requested disk exists. */
async function oneTurn(): Promise<void> {
  turns += 1;
  const disk = { name: `turn-${turns}`, size: '1GiB', location: 'eu-north-a' };
  await client.ended(await client.open('POST', '/disks', disk));
}
let turns = 0;

type Held = { act: () => Promise<Operation>; seen?: (operation: Operation) => Promise<void> };

/**
 * Starts a change that the hosts hold in a step, checks the state there, and lets the change
 * continue.
 */
async function held(step: string, { act, seen }: Held): Promise<Operation> {
  await everyHost('hang', { step });
  try {
    const operation = await act();
    expect(operation).toMatchObject({ state: 'IN_PROGRESS', result: null, completed_at: '' });
    await expect
      .poll(async () => (await fleet.hosts()).some(({ hanging }) => hanging.includes(step)))
      .toBe(true);
    await seen?.(operation);
    await oneTurn();
    expect(await client.read(operation)).toEqual(operation);
    await everyHost('unhang', { step });
    return await client.ended(operation);
  } finally {
    await everyHost('unhang', { step });
  }
}

const seesState = (vmId: string, state: string) =>
  expect.poll(() => client.stateOf(vmId), { interval: 50 }).toBe(state);

const action = (vmId: string, name: string) =>
  client.open('PATCH', `/vms/${vmId}`, { action: name });

/** Runs an action of a VM: the state during the action and the state after it. */
async function through(
  vmId: string,
  step: { action: string; in: string; via: string; to: string },
) {
  const ended = await held(step.in, {
    act: () => action(vmId, step.action),
    seen: () => seesState(vmId, step.via),
  });
  expect(ended).toMatchObject({
    state: 'SUCCEEDED',
    metadata: { operation_name: step.action, id: vmId, type: 'vm' },
    result: { id: vmId, state: step.to },
  });
  expect(ended.completed_at).not.toBe('');
  expect(await client.stateOf(vmId)).toBe(step.to);
  return ended.result;
}

/** What never changes while a VM exists. */
// biome-ignore lint/suspicious/noExplicitAny: a VM as the API shows it
const lasting = ({ id, project_id, created_at, disks, network_interfaces }: any) => ({
  ...{ id, project_id, created_at, disks: disks.map((disk: { id: string }) => disk.id) },
  // biome-ignore lint/suspicious/noExplicitAny: as above
  interfaces: network_interfaces.map((iface: any) => ({
    ...{ id: iface.id, mac: iface.mac_address, network: iface.network, subnet: iface.subnet },
    private: iface.ips[0].private_ipv4.address,
  })),
});

describe('a VM', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a VM as the API shows it
  let vm: any;

  it('is created: CREATING, then RUNNING with addresses, a disk and a serial log', async () => {
    const ended = await held('start', {
      act: () => client.createVm({ name: 'life' }),
      seen: async ({ metadata }) => {
        await seesState(metadata.id, 'STATE_CREATING');
        const meanwhile = await client.call('PATCH', `/vms/${metadata.id}`, { action: 'STOP' });
        expect(meanwhile).toMatchObject({ status: 409, body: { code: 'operation_in_progress' } });
      },
    });
    expect(ended).toMatchObject({
      ...{ state: 'SUCCEEDED', metadata: { operation_name: 'CREATE', type: 'vm' } },
      result: { id: ended.metadata.id, state: 'STATE_RUNNING' },
    });
    vm = (await client.call('GET', `/vms/${ended.metadata.id}`)).body;
    expect(vm).toEqual(ended.result);
    const [ip] = vm.network_interfaces[0].ips;
    expect(ip.private_ipv4.address).toMatch(/^172\.27\./);
    expect(vm.ssh_destination).toBe(ip.public_ipv4.address);
    expect(vm.disks).toMatchObject([{ attachment_type: 'os', size: '128GiB' }]);
    const log = async () => (await client.call('GET', `/vms/${vm.id}/serial-log`)).body.serial_log;
    await expect.poll(log).toContain('life login:');
  });

  it('is renamed while it runs, and keeps its type until it is stopped', async () => {
    const path = `/vms/${vm.id}`;
    const operation = await client.open('PATCH', path, { action: 'UPDATE', name: 'renamed' });
    expect(await client.ended(operation)).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { name: 'renamed', state: 'STATE_RUNNING' } },
    });
    const refused = await client.call('PATCH', path, { action: 'UPDATE', type: 'a40.2x' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('is reset: RESETTING, then RUNNING', async () => {
    const reset = { action: 'RESET', in: 'reset', via: 'STATE_RESETTING', to: 'STATE_RUNNING' };
    expect(lasting(await through(vm.id, reset))).toEqual(lasting(vm));
  });

  it('is stopped: STOPPING, then SHUTOFF with nothing claimed', async () => {
    const stop = { action: 'STOP', in: 'ask_shutdown', via: 'STATE_STOPPING', to: 'STATE_SHUTOFF' };
    expect(lasting(await through(vm.id, stop))).toEqual(lasting(vm));
    const { sql } = processes;
    expect(await sql`select from device_claims where vm_id = ${vm.id}`).toHaveLength(0);
  });

  it('changes its type while it is off', async () => {
    const change = { action: 'UPDATE', type: 'a40.2x' };
    const operation = await client.open('PATCH', `/vms/${vm.id}`, change);
    expect(await client.ended(operation)).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { type: 'a40.2x', state: 'STATE_SHUTOFF' } },
    });
  });

  it('is started: STARTING, then RUNNING with the same ids and private address', async () => {
    const start = { action: 'START', in: 'start', via: 'STATE_STARTING', to: 'STATE_RUNNING' };
    expect(lasting(await through(vm.id, start))).toEqual(lasting(vm));
    const { sql } = processes;
    expect(
      await sql`select from device_claims c
      join devices d on d.id = c.device_id where d.kind = 'gpu' and c.vm_id = ${vm.id}`,
    ).toHaveLength(2);
  });

  it('that ends by itself is CRASHED, and START boots it again', async () => {
    await fleet.order(await fleet.hostOf(vm.id), 'crash', { vm_id: vm.id });
    await seesState(vm.id, 'STATE_CRASHED');
    const start = { action: 'START', in: 'start', via: 'STATE_STARTING', to: 'STATE_RUNNING' };
    expect(lasting(await through(vm.id, start))).toEqual(lasting(vm));
  });

  it('that its host cannot start is in ERROR, the reason is in the operation, and START tries again', async () => {
    const stop = { action: 'STOP', in: 'ask_shutdown', via: 'STATE_STOPPING', to: 'STATE_SHUTOFF' };
    await through(vm.id, stop);
    const fault = { code: 'host_failed', message: 'no such machine type' };
    await everyHost('fail', { step: 'start', times: 3, ...fault });
    expect(await client.ended(await action(vm.id, 'START'))).toMatchObject({
      ...{ state: 'FAILED', result: { ...fault, details: {} } },
      completed_at: expect.stringMatching(/Z$/),
    });
    expect(await client.stateOf(vm.id)).toBe('STATE_ERROR');
    await everyHost('clear-faults', {});
    const start = { action: 'START', in: 'start', via: 'STATE_STARTING', to: 'STATE_RUNNING' };
    expect(lasting(await through(vm.id, start))).toEqual(lasting(vm));
  });

  it('is deleted: DELETING, then gone', async () => {
    const ended = await held('undefine', {
      act: () => client.open('DELETE', `/vms/${vm.id}`),
      seen: async () => {
        await seesState(vm.id, 'STATE_DELETING');
        const again = await client.call('DELETE', `/vms/${vm.id}`);
        expect(again).toMatchObject({ status: 409, body: { code: 'operation_in_progress' } });
      },
    });
    expect(ended).toMatchObject({ state: 'SUCCEEDED', metadata: { operation_name: 'DELETE' } });
    expect(lasting(ended.result)).toEqual(lasting(vm));
    expect(await client.stateOf(vm.id)).toBe('404');
  });

  it('is deleted in the middle of its creation, which is cancelled', async () => {
    await everyHost('hang', { step: 'start' });
    const creation = await client.createVm({ name: 'unborn' });
    const deletion = await client.open('DELETE', `/vms/${creation.metadata.id}`);
    expect(await client.ended(creation)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'cancelled' } },
    });
    await everyHost('unhang', { step: 'start' });
    expect((await client.ended(deletion)).state).toBe('SUCCEEDED');
    expect(await client.stateOf(creation.metadata.id)).toBe('404');
  });
});

describe('a disk', () => {
  let vmId: string;
  let diskId: string;
  const show = async () => (await client.call('GET', `/disks/${diskId}`)).body;
  const grow = (size: string) => () => client.open('PATCH', `/disks/${diskId}`, { size });
  const succeeds = async (opened: Promise<Operation>, result: object) =>
    expect(await client.ended(await opened)).toMatchObject({ state: 'SUCCEEDED', result });
  const attach = () =>
    client.open('POST', `/vms/${vmId}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    });
  const detach = () => client.open('POST', `/vms/${vmId}/detach-disks`, { detach_disks: [diskId] });

  beforeAll(async () => {
    vmId = await run({ name: 'carrier' });
  });

  it('is created and grown before any VM has it', async () => {
    const creation = await client.open('POST', '/disks', {
      ...{ name: 'data', size: '10GiB', location: 'eu-north-a' },
    });
    expect(creation).toMatchObject({ state: 'IN_PROGRESS', result: null, completed_at: '' });
    diskId = creation.metadata.id;
    const ended = await client.ended(creation);
    expect(ended).toMatchObject({ state: 'SUCCEEDED', result: { id: diskId, state: 'ready' } });
    await succeeds(grow('20GiB')(), { size: '20GiB', state: 'ready' });
  });

  it('is attached to a running VM, grown under it and detached', async () => {
    const attached = await held('attach_disk', { act: attach });
    expect(attached).toMatchObject({ metadata: { operation_name: 'ATTACH_DISKS', id: vmId } });
    expect(attached.result.disks).toMatchObject([
      { attachment_type: 'os' },
      { id: diskId, attachment_type: 'data', mode: 'read-write' },
    ]);
    expect(await client.call('DELETE', `/disks/${diskId}`)).toMatchObject({
      ...{ status: 409, body: { code: 'disk_attached' } },
    });
    const grown = await held('grow_attached_disk', {
      act: grow('30GiB'),
      seen: () => expect.poll(async () => (await show()).state).toBe('resizing'),
    });
    expect(grown).toMatchObject({ state: 'SUCCEEDED', result: { size: '30GiB', state: 'ready' } });
    const detached = await held('detach_disk', { act: detach });
    expect(detached).toMatchObject({ metadata: { operation_name: 'DETACH_DISKS' } });
    expect(detached.result.disks).toMatchObject([{ attachment_type: 'os' }]);
    expect(await show()).toMatchObject({ vm_ids: [], attachment_type: '', state: 'ready' });
  });

  it('that a host stores is grown there while no VM has it', async () => {
    const grown = await held('grow_disk', { act: grow('40GiB') });
    expect(grown).toMatchObject({ state: 'SUCCEEDED', result: { size: '40GiB', state: 'ready' } });
  });

  it('is attached to a stopped VM, and runs with it', async () => {
    const stop = { action: 'STOP', in: 'ask_shutdown', via: 'STATE_STOPPING', to: 'STATE_SHUTOFF' };
    await through(vmId, stop);
    await succeeds(attach(), { state: 'STATE_SHUTOFF', disks: [{}, { id: diskId }] });
    const start = { action: 'START', in: 'start', via: 'STATE_STARTING', to: 'STATE_RUNNING' };
    expect((await through(vmId, start)).disks).toMatchObject([{}, { id: diskId, size: '40GiB' }]);
  });

  it('stays when its VM is deleted, and the OS disk goes', async () => {
    const { body } = await client.call('GET', `/vms/${vmId}`);
    await client.ended(await client.open('DELETE', `/vms/${vmId}`));
    expect(await show()).toMatchObject({ vm_ids: [], state: 'ready' });
    expect((await client.call('GET', `/disks/${body.disks[0].id}`)).status).toBe(404);
  });

  it('is deleted: deleting, then gone', async () => {
    const ended = await held('remove_disk', {
      act: () => client.open('DELETE', `/disks/${diskId}`),
      seen: () => expect.poll(async () => (await show()).state).toBe('deleting'),
    });
    expect(ended).toMatchObject({ state: 'SUCCEEDED', result: { id: diskId, size: '40GiB' } });
    expect((await client.call('GET', `/disks/${diskId}`)).status).toBe(404);
  });
});

describe('a firewall rule', () => {
  let ruleId: string;
  const show = () => client.call('GET', `/vpc/firewall-rules/${ruleId}`);
  const isIn = (state: string) => expect.poll(async () => (await show()).body.state).toBe(state);

  it('is pending until every host of its network has it in force, then active', async () => {
    await run({ name: 'guarded' });
    const { body } = await client.call('GET', '/vpc/networks');
    const ended = await held('apply_firewall', {
      act: () =>
        client.open('POST', '/vpc/firewall-rules', {
          ...{ name: 'web', vpc_network_id: body.items[0].id, action: 'allow' },
          ...{ direction: 'ingress', protocols: ['tcp'], destination_ports: ['80'] },
          ...{ sources: [{ cidr: '10.0.0.0/8' }], destinations: [] },
        }),
      seen: async ({ metadata }) => {
        ruleId = metadata.id;
        expect(metadata.request).toMatchObject({ direction: 'DIRECTION_INGRESS' });
        await isIn('pending');
      },
    });
    expect(ended).toMatchObject({ state: 'SUCCEEDED', metadata: { type: 'vpc-firewall-rule' } });
    expect(ended.result).toEqual((await show()).body);
    expect(ended.result).toMatchObject({ state: 'active', direction: 'ingress', action: 'allow' });
  });

  it('is changed, and the operation succeeds when it is in force', async () => {
    const ended = await held('apply_firewall', {
      act: () =>
        client.open('PATCH', `/vpc/firewall-rules/${ruleId}`, { destination_ports: ['443'] }),
      seen: () => isIn('pending'),
    });
    expect(ended).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { state: 'active', destination_ports: ['443'] } },
    });
  });

  it('is deleted, and removed when no host applies it', async () => {
    const ended = await held('apply_firewall', {
      act: () => client.open('DELETE', `/vpc/firewall-rules/${ruleId}`),
      seen: () => isIn('deleting'),
    });
    expect(ended).toMatchObject({ state: 'SUCCEEDED', result: { id: ruleId } });
    expect((await show()).status).toBe(404);
  });
});

describe('a creation that cannot succeed', () => {
  it('because no host fits names the filter that left none', async () => {
    const ended = await client.ended(await client.createVm({ name: 'large', type: 'a100.8x' }));
    expect(ended).toMatchObject({ state: 'FAILED', result: { code: 'out_of_stock' } });
    expect(ended.result.details.filters).toEqual(
      expect.arrayContaining([
        { filter: 'location', left: 2 },
        { filter: 'gpu_model', left: 0 },
      ]),
    );
    await seesState(ended.metadata.id, '404');
  });

  it('because the image is missing fails with image_unavailable', async () => {
    const image = { name: 'nowhere', locations: ['eu-north-a'] };
    expect((await client.admin('POST', '/images', image)).status).toBe(200);
    const ended = await client.ended(await client.createVm({ name: 'blank', image: 'nowhere' }));
    expect(ended).toMatchObject({ state: 'FAILED', result: { code: 'image_unavailable' } });
    await seesState(ended.metadata.id, '404');
  });

  it("because its host fails returns the host's reason", async () => {
    const fault = { code: 'host_failed', message: 'QEMU does not start' };
    await everyHost('fail', { step: 'start', times: 3, ...fault });
    const ended = await client.ended(await client.createVm({ name: 'unlucky' }));
    expect(ended).toMatchObject({ state: 'FAILED', result: { ...fault, details: {} } });
    await seesState(ended.metadata.id, '404');
    await everyHost('clear-faults', {});
  });

  it('within its deadline fails, and the unfinished VM is removed', async () => {
    await everyHost('hang', { step: 'start' });
    const opened = await hasty.createVm({ name: 'late' });
    const ended = await client.ended(opened).finally(() => everyHost('unhang', { step: 'start' }));
    expect(ended).toMatchObject({ state: 'FAILED', result: { code: 'host_failed' } });
    expect(ended.result.message).toContain('in time');
    const tookMs = Date.parse(ended.completed_at) - Date.parse(ended.started_at);
    expect(tookMs).toBeGreaterThanOrEqual(2_000);
    await seesState(opened.metadata.id, '404');
    const { sql } = processes;
    expect(await sql`select from device_claims where vm_id = ${opened.metadata.id}`).toHaveLength(
      0,
    );
  });
});

describe('a host', () => {
  let vmId: string;
  let name: string;
  beforeAll(async () => {
    vmId = await run({ name: 'far-away' });
    name = await fleet.hostOf(vmId);
  });

  it('without a connection makes its VMs UNREACHABLE, and their true state returns with it', async () => {
    await fleet.order(name, 'kill-agent');
    await seesState(vmId, 'STATE_UNREACHABLE');
    const refused = await client.call('PATCH', `/vms/${vmId}`, { action: 'STOP' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await fleet.order(name, 'start-agent');
    await seesState(vmId, 'STATE_RUNNING');

    await fleet.order(name, 'kill-agent');
    await seesState(vmId, 'STATE_UNREACHABLE');
    await fleet.order(name, 'crash', { vm_id: vmId });
    await fleet.order(name, 'start-agent');
    await seesState(vmId, 'STATE_CRASHED');
    await client.ended(await action(vmId, 'START'));
    const { body } = await client.call('GET', `/events?resource_id=${vmId}`);
    const types = body.items.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(['vm_unreachable', 'vm_reachable', 'vm_crashed']));
  });

  it('that loses power starts its VMs again when it is back', async () => {
    await fleet.order(name, 'reboot');
    await expect
      .poll(async () => (await fleet.hosts()).find((host) => host.name === name)?.vms)
      .toContainEqual({ id: vmId, state: 'running' });
    await seesState(vmId, 'STATE_RUNNING');
  });

  it('that an operator fences releases its VMs, which can be started elsewhere', async () => {
    const before = (await client.call('GET', `/vms/${vmId}`)).body;
    const { host_id } = (await fleet.hosts()).find((host) => host.name === name) ?? {};
    const fence = () => client.admin('POST', `/hosts/${host_id}:fence`, { confirm: name });
    expect(await fence()).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await fleet.order(name, 'power-off');
    await seesState(vmId, 'STATE_UNREACHABLE');
    expect(await fence()).toMatchObject({ status: 200 });
    await seesState(vmId, 'STATE_CRASHED');
    const start = { action: 'START', in: 'start', via: 'STATE_STARTING', to: 'STATE_RUNNING' };
    expect(lasting(await through(vmId, start))).toEqual(lasting(before));
    expect(await fleet.hostOf(vmId)).not.toBe(name);
    // Its certificates are not valid any more, so it cannot affect the fleet.
    await fleet.order(name, 'start-agent');
    await expect.poll(() => fleet.log()).toMatch(/revoked|fenced/);
    expect((await client.admin('GET', `/hosts/${host_id}`)).body).toMatchObject({
      ...{ state: 'fenced', connected: false },
    });
  });

  it('that hangs is detected too', async () => {
    const stateOf = () => frozen.client.stateOf(frozen.vmId);
    await expect.poll(stateOf, { timeout: 90_000, interval: 200 }).toBe('STATE_UNREACHABLE');
    frozen.fleet.signal('SIGCONT');
    await expect.poll(stateOf).toBe('STATE_RUNNING');
  });
});

describe('an operator', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'gantry-agent-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('enrols a host with a token, once', async () => {
    const { body } = await client.admin('POST', '/join-tokens', { location: 'eu-north-a' });
    const enroll = (name: string) =>
      runAgentCommand(
        [
          ...['enroll', '--server', `localhost:${schedulers[0]?.port}`, '--name', name],
          ...['--token', body.token, '--ca-sha256', body.ca_sha256],
        ],
        { GANTRY_STATE_DIRECTORY: path.join(directory, name) },
      );
    const enrolled = await enroll('new-host');
    expect(enrolled).toMatchObject({ code: 0, stdout: expect.stringContaining('enrolled as ') });
    const { items } = (await client.admin('GET', '/hosts')).body;
    expect(items.find((host: { name: string }) => host.name === 'new-host')).toMatchObject({
      ...{ location: 'eu-north-a', connected: false, gpus: [] },
    });
    expect(await enroll('another')).toMatchObject({ code: 1 });
    const running = await runAgentCommand(['run'], {
      GANTRY_STATE_DIRECTORY: path.join(directory, 'new-host'),
      GANTRY_SCHEDULERS: `localhost:${schedulers[0]?.port}`,
      GANTRY_STAND_IN_DEVICES: 'yes',
    });
    expect(running).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('GANTRY_STAND_IN_DEVICES') },
    });
  });
});
