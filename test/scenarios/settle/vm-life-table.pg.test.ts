import { acquireLeases, releaseLeases } from '@gantry/db/queries/placement/leases';
import { commitFailures } from '@gantry/db/queries/placement/placements';
import { newId } from '@gantry/model/ids';
import { vmRefusal } from '@gantry/model/vm-life/actions';
import {
  VM_DESIRED_STATES,
  VM_OBSERVED_STATES,
  VM_POWER_ACTIONS,
  type VmFacts,
  type VmState,
  type VmTransition,
  vmShouldRun,
  vmStateOf,
} from '@gantry/model/vm-life/states';
import { VM_TRANSITIONS, type VmEvent } from '@gantry/model/vm-life/transitions';
import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { markUnreachable } from '@gantry/scheduler/liveness/mark-unreachable';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { settleWithoutHost } from '@gantry/scheduler/settle/settle-without-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import {
  failure,
  type HandDrivenHost,
  type VmObservedState,
} from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * Compares packages/model/src/vm-life with the product. The second test explores: it begins with
 * a VM as the api creates it, applies every event to it by calling the api and the scheduler, and
 * does the same with every combination of facts that results, until no new combination appears.
 */

type Vm = VmFacts & { placed: boolean; operation: string | null };
type Planted = { id: string; vm: Vm };

const CREATED: Vm = {
  desiredState: 'running',
  powerAction: 'CREATE',
  pending: true,
  observedState: 'none',
  reachable: true,
  abandoned: false,
  placed: false,
  operation: 'CREATE',
};

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());

it('vms.state and vm_should_run give the results of the table for every combination of facts', async () => {
  const vms = VM_DESIRED_STATES.flatMap((desiredState) =>
    VM_POWER_ACTIONS.flatMap((powerAction) =>
      VM_OBSERVED_STATES.flatMap((observedState) =>
        [0, 1, 2, 3, 4, 5, 6, 7].map((bits): Vm => {
          const [pending, reachable, abandoned] = [bits & 1, bits & 2, bits & 4].map(Boolean);
          return {
            desiredState,
            powerAction,
            observedState,
            pending: !!pending,
            reachable: !!reachable,
            abandoned: !!abandoned,
            placed: false,
            operation: null,
          };
        }),
      ),
    ),
  );
  const planted = await plant(vms);
  const rows = await cloud.sql<{ id: string; state: VmState; should_run: boolean }[]>`
    select id, state, vm_should_run(desired_state, abandoned, observed_state, observed_generation, generation)
      as should_run from vms where id = any(${planted.map(({ id }) => id)})`;
  await uproot(planted);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const database = planted.map(({ id }) => [byId.get(id)?.state, byId.get(id)?.should_run]);
  expect(database).toEqual(planted.map(({ vm }) => [vmStateOf(vm), vmShouldRun(vm)]));
  expect(database).toHaveLength(480);
});

it('the api and the scheduler make exactly the transitions of the table', async () => {
  const known = new Map([[keyOf(CREATED), CREATED]]);
  const seen = new Set<string>();
  for (let frontier = [CREATED]; frontier.length > 0; ) {
    const found: Vm[] = [];
    for (const [event, apply] of EVENTS) {
      for (const { before, after } of await apply(frontier)) {
        const from = vmStateOf(before);
        const to = after ? vmStateOf(after) : 'removed';
        if (from !== to) seen.add(lineOf(event, from, to));
        if (!after || known.has(keyOf(after))) continue;
        known.set(keyOf(after), after);
        found.push(after);
      }
    }
    frontier = found;
  }
  const transitions: readonly VmTransition[] = VM_TRANSITIONS;
  const listed = transitions.flatMap(({ event, from, to }) =>
    from.flatMap((state) =>
      to.flatMap((next) => (state === next ? [] : [lineOf(event, state, next)])),
    ),
  );
  expect([...seen].sort()).toEqual([...new Set(listed)].sort());
  // The exploration did not end early.
  expect(known.size).toBeGreaterThan(40);
}, 300_000);

type Outcome = { before: Vm; after: Vm | null };
type Apply = (vms: Vm[]) => Promise<Outcome[]>;

const EVENTS: [VmEvent, Apply][] = [
  ['START', (vms) => request(vms, 'START')],
  ['STOP', (vms) => request(vms, 'STOP')],
  ['RESET', (vms) => request(vms, 'RESET')],
  ['DELETE', (vms) => request(vms, 'DELETE')],
  ['MOVE', moveRunning],
  [
    'placed',
    // Placement reads only VMs that should run, are on no host and have a pending power action.
    async (vms) =>
      vms
        .filter((vm) => !vm.placed && vm.pending && vmShouldRun(vm))
        .map((before) => ({ before, after: { ...before, placed: true } })),
  ],
  [
    'no_host_found',
    (vms) =>
      withPlanted(
        vms.filter(({ placed }) => !placed),
        null,
        failToPlace,
      ),
  ],
  ['host_reported_running', (vms) => report(vms, 'VM_OBSERVED_STATE_RUNNING')],
  ['host_reported_crash', (vms) => report(vms, 'VM_OBSERVED_STATE_CRASHED')],
  ['host_reported_failure', (vms) => report(vms, 'VM_OBSERVED_STATE_FAILED')],
  [
    'host_reported_unresponsive',
    (vms) => report(vms, 'VM_OBSERVED_STATE_FAILED', 'vm_unresponsive'),
  ],
  ['host_reported_gone', (vms) => report(vms, 'VM_OBSERVED_STATE_TAKEN_DOWN')],
  [
    'removed_without_host',
    (vms) =>
      withPlanted(
        vms.filter(({ placed }) => !placed),
        null,
        () => settleWithoutHost(cloud.sql),
      ),
  ],
  ['deadline_passed', passDeadlines],
  [
    'host_unreachable',
    (vms) =>
      onHost(vms.filter(isPlacedAndReachable), async ({ id }) => {
        await cloud.sql`update hosts set scheduler_id = null, last_seen_at = now() - interval '1 hour'
          where id = ${id}`;
        const silence = { schedulerMs: 3_600_000, hostMs: 60_000 };
        const steadyMs = Number.POSITIVE_INFINITY;
        await markUnreachable({ sql: cloud.sql, log: cloud.log, silence, steadyMs });
      }),
  ],
  [
    'host_reachable',
    (vms) =>
      onHost(
        vms.filter(({ reachable }) => !reachable),
        async (host, planted) => {
          await cloud.sql`update hosts set state = 'unreachable' where id = ${host.id}`;
          await send(host, planted, { state: 'VM_OBSERVED_STATE_WORKING' });
        },
      ),
  ],
  [
    'host_fenced',
    (vms) =>
      onHost(
        vms.filter(({ placed }) => placed),
        async ({ id }) => {
          await cloud.sql`update hosts set fenced_at = now() where id = ${id}`;
          await fenceHosts({ sql: cloud.sql, log: cloud.log });
        },
      ),
  ],
  [
    'host_fenced',
    (vms) =>
      onHost(
        vms.filter(({ placed }) => placed),
        async ({ id }, planted) => {
          await cloud.sql`update vms set on_host_failure = 'restart' where id = any(${planted.map((vm) => vm.id)})`;
          await cloud.sql`update hosts set fenced_at = now() where id = ${id}`;
          await fenceHosts({ sql: cloud.sql, log: cloud.log });
        },
      ),
  ],
];

/** Sends the request over HTTP. Expects that the api accepts it exactly in the states of the table. */
async function request(
  vms: Vm[],
  action: 'START' | 'STOP' | 'RESET' | 'DELETE',
): Promise<Outcome[]> {
  const host = await cloud.addHandDrivenHost();
  const expectedStatus = (vm: Vm) => {
    const isBusy = action === 'DELETE' ? vm.operation === 'DELETE' : vm.operation !== null;
    return !isBusy && vmRefusal(action, vmStateOf(vm)) === null ? 200 : 409;
  };
  // Equal refusals are requested once: they depend only on the state and the operation.
  const refusals = new Map<string, Vm>();
  for (const vm of vms)
    if (expectedStatus(vm) === 409) refusals.set(`${vmStateOf(vm)} ${vm.operation}`, vm);
  const requested = [...vms.filter((vm) => expectedStatus(vm) === 200), ...refusals.values()];
  return await withPlanted(requested, host, async (planted) => {
    const statuses = await Promise.all(
      planted.map(async ({ id }) => {
        const { status } =
          action === 'DELETE'
            ? await cloud.call('DELETE', `/vms/${id}`)
            : await cloud.call('PATCH', `/vms/${id}`, { action });
        return status;
      }),
    );
    expect(planted.map(({ vm }, i) => [action, vm, statuses[i]])).toEqual(
      planted.map(({ vm }) => [action, vm, expectedStatus(vm)]),
    );
  });
}

/** An operator moves the VMs that run. Their disks are in a storage cluster, and another host has room. */
async function moveRunning(vms: Vm[]): Promise<Outcome[]> {
  const host = await cloud.addHandDrivenHost();
  const other = await cloud.addHandDrivenHost();
  await cloud.sql`update hosts set storage_address = '10.9.8.7' where id = ${other.id}`;
  const movable = vms.filter(
    (vm) => vm.placed && vm.operation === null && vmRefusal('MOVE', vmStateOf(vm)) === null,
  );
  const outcomes = await withPlanted(movable, host, async (planted) => {
    await cloud.sql`update disks set pool_id = ${newId()}, host_id = null where id in (
      select disk_id from disk_attachments where vm_id = any(${planted.map(({ id }) => id)}))`;
    for (const { id } of planted) {
      const { status } = await cloud.api.call('POST', `/admin/vms/${id}:move`, {
        ...{ bearer: cloud.operator, body: {} },
      });
      expect(status).toBe(200);
    }
  });
  await cloud.sql`update hosts set storage_address = null, admin_state = 'cordoned' where id = ${other.id}`;
  return outcomes;
}

async function failToPlace(planted: Planted[]): Promise<void> {
  const leases = await acquireLeases(cloud.sql, { holder: newId(), ttlMs: 60_000 });
  const lease = leases.find(({ location }) => location === 'eu-north-a');
  if (!lease) throw new Error('BUG: the lease of the location is not free');
  const rows = await cloud.sql<{ id: string; generation: string }[]>`
    select id, generation from vms where id = any(${planted.map(({ id }) => id)})`;
  const reason = { code: 'out_of_stock', message: 'no host has room', details: {} };
  const { outcome } = await commitFailures(cloud.sql, {
    lease,
    failures: rows.map(({ id, generation }) => ({ vmId: id, generation, failure: reason })),
  });
  expect(outcome).toBe('committed');
  await releaseLeases(cloud.sql, leases);
}

async function passDeadlines(vms: Vm[]): Promise<Outcome[]> {
  const host = await cloud.addHandDrivenHost();
  return await withPlanted(
    vms.filter(({ operation }) => operation !== null),
    host,
    async (planted) => {
      const ids = planted.map(({ id }) => id);
      await cloud.sql`update operations set deadline_at = now() - interval '1 second'
        where resource_id = any(${ids})`;
      await endOverdueOperations({ sql: cloud.sql, log: cloud.log });
    },
  );
}

async function report(
  vms: Vm[],
  state: VmObservedState,
  code = 'image_unavailable',
): Promise<Outcome[]> {
  return await onHost(vms.filter(isPlacedAndReachable), (host, planted) =>
    send(host, planted, { state, code }),
  );
}

/** One report about all VMs, for their present revision and generation. */
async function send(
  host: HandDrivenHost,
  planted: Planted[],
  { state, code = '' }: { state: VmObservedState; code?: string },
): Promise<void> {
  const rows = await cloud.sql<{ id: string; revision: string; generation: string }[]>`
    select id, revision, generation from vms where id = any(${planted.map(({ id }) => id)})`;
  const vms = rows.map(({ id, revision, generation }) => ({
    id,
    revision,
    generation,
    state,
    disks: [],
    failure: state === 'VM_OBSERVED_STATE_FAILED' ? failure(code) : null,
    known: null,
    contentHash: '',
  }));
  expect(await host.report({ ...(await host.done()), vms, receipts: [] })).toBe(true);
}

async function onHost(
  vms: Vm[],
  act: (host: HandDrivenHost, planted: Planted[]) => Promise<void>,
): Promise<Outcome[]> {
  const host = await cloud.addHandDrivenHost();
  return await withPlanted(vms, host, (planted) => act(host, planted));
}

async function withPlanted(
  vms: Vm[],
  host: HandDrivenHost | null,
  act: (planted: Planted[]) => Promise<void>,
): Promise<Outcome[]> {
  if (vms.length === 0) return [];
  const planted = await plant(vms, host);
  await act(planted);
  const after = await readFacts(planted);
  await uproot(planted);
  return planted.map(({ id, vm }) => ({ before: vm, after: after.get(id) ?? null }));
}

/** Writes VMs with these facts. VMs that are placed are on the host. */
async function plant(vms: Vm[], host: HandDrivenHost | null = null): Promise<Planted[]> {
  const { sql, tenant } = cloud;
  const [image] = await sql<{ id: string }[]>`select id from images limit 1`;
  const planted = vms.map((vm) => ({ id: newId(), vm }));
  const rows = planted.map(({ id, vm }) => ({
    id,
    project_id: tenant.projectId,
    name: `vm-${id}`,
    type: 'a40.1x',
    location: 'eu-north-a',
    image_id: image?.id ?? '',
    ssh_public_key: '',
    desired_state: vm.desiredState,
    power_action: vm.powerAction,
    generation: 2,
    observed_generation: vm.pending ? 1 : 2,
    observed_state: vm.observedState,
    reachable: vm.reachable,
    abandoned: vm.abandoned,
    placed: vm.placed,
  }));
  await sql`insert into vms ${sql(rows)}`;
  const placed = planted.filter(({ vm }) => vm.placed).map(({ id }) => id);
  if (host && placed.length > 0)
    await sql`insert into placements (vm_id, host_id, epoch)
      select id, ${host.id}, 1 from unnest(${placed}::uuid[]) as id`;
  const busy = planted.filter(({ vm }) => vm.operation !== null);
  if (busy.length > 0)
    await sql`insert into operations
        (id, project_id, resource_type, resource_id, name, state, request, started_at, deadline_at)
      select gen_random_uuid(), ${tenant.projectId}, 'vm', id, name, 'IN_PROGRESS', '{}', now(),
        now() + interval '1 hour'
      from unnest(${busy.map(({ id }) => id)}::uuid[],
        ${busy.map(({ vm }) => vm.operation ?? '')}::text[]) as vm (id, name)`;
  return planted;
}

async function uproot(planted: Planted[]): Promise<void> {
  const { sql } = cloud;
  const ids = planted.map(({ id }) => id);
  await sql`delete from operations where resource_id = any(${ids})`;
  await sql`delete from placements where vm_id = any(${ids})`;
  await sql`delete from vms where id = any(${ids})`;
}

async function readFacts(planted: Planted[]): Promise<Map<string, Vm>> {
  const rows = await cloud.sql<(Vm & { id: string })[]>`
    select v.id, v.desired_state as "desiredState", v.power_action as "powerAction",
      v.observed_generation < v.generation as pending, v.observed_state as "observedState",
      v.reachable, v.abandoned, v.placed, o.name as operation
    from vms v left join operations o on o.resource_id = v.id and o.state = 'IN_PROGRESS'
    where v.id = any(${planted.map(({ id }) => id)})`;
  return new Map(rows.map(({ id, ...vm }) => [id, vm]));
}

function isPlacedAndReachable({ placed, reachable }: Vm): boolean {
  return placed && reachable;
}

function keyOf(vm: Vm): string {
  return JSON.stringify(Object.entries(vm).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function lineOf(event: string, from: string, to: string): string {
  return `${event}: ${from} -> ${to}`;
}
