import { newId } from '@gantry/model/ids';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';
import { loadFleet } from '@gantry/proto/load';
import { settleReport } from '@gantry/scheduler/settle/settle-report';
import type { DriverStep } from '@gantry/simulator/driver/faults';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { vi } from 'vitest';
import type { ChaosHost, World } from './world.ts';

/**
 * Everything that can happen to a cloud. Each step has two numbers that choose the resource and the
 * variant. A step without a matching resource does nothing.
 */
type Happening = {
  weight: number;
  run: (world: World, which: number, how: number) => Promise<void>;
};

const fleet = loadFleet();
const TYPES = ['a40.1x', 'a40.2x', 'a40.1x', 'a40.8x'];
const LOCATIONS = ['eu-north-a', 'us-east-a'];
const FAILING: readonly DriverStep[] = [
  ...(['define', 'start', 'reset', 'ask_shutdown', 'power_off', 'undefine'] as const),
  ...(['attach_disk', 'detach_disk', 'grow_attached_disk', 'grow_disk'] as const),
  ...(['create_disk', 'remove_disk', 'bind_device', 'release_device'] as const),
  ...([
    'ensure_interfaces',
    'remove_interfaces',
    'apply_firewall',
    'ensure_seed',
    'remove_seed',
  ] as const),
  ...(['list_domains', 'list_devices', 'read_disk'] as const),
];
const DOWN = ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR'];
/** Fails one try, all tries of one attempt, or several attempts. */
const FAILURES = [1, 3, 8];

const tenant = {
  createVm: {
    weight: 12,
    run: async (world, which, how) => {
      const location = pick(LOCATIONS, how);
      await world.ask('POST', '/vms', {
        ...{ name: freshName('v'), type: pick(TYPES, which), location, image: 'debian-12' },
        ssh_public_key: SSH_PUBLIC_KEY,
      });
    },
  },
  start: { weight: 6, run: (world, which) => power(world, which, 'START') },
  stop: { weight: 6, run: (world, which) => power(world, which, 'STOP') },
  reset: { weight: 3, run: (world, which) => power(world, which, 'RESET') },
  deleteVm: {
    weight: 4,
    run: async (world, which) => {
      const id = pick(await world.vmIds(), which);
      if (id) await world.ask('DELETE', `/vms/${id}`);
    },
  },
  createDisk: {
    weight: 3,
    run: async (world, which, how) => {
      const type = pick(['persistent-ssd', 'persistent-ssd', 'shared-volume'], which);
      const location = pick(LOCATIONS, how);
      await world.ask('POST', '/disks', { name: freshName('d'), size: '10GiB', type, location });
    },
  },
  attachDisk: {
    weight: 6,
    run: async (world, which, how) => {
      const pairs = await world.sql<{ vm_id: string; disk_id: string }[]>`
        select v.id as vm_id, d.id as disk_id from vms v join disks d on d.location = v.location
        where d.kind = 'data' order by v.id, d.id`;
      const one = pick(pairs, 3 * which + how);
      if (!one) return;
      const { vm_id: vmId, disk_id: diskId } = one;
      const mode = pick(['read-write', 'read-only'], which + how);
      const disk = { disk_id: diskId, mode, attachment_type: 'data' };
      await world.ask('POST', `/vms/${vmId}/attach-disks`, { attach_disks: [disk] });
    },
  },
  detachDisk: {
    weight: 4,
    run: async (world, which) => {
      const rows = await world.sql<{ vm_id: string; disk_id: string }[]>`
        select vm_id, disk_id from disk_attachments where attachment_type = 'data' order by 1, 2`;
      const one = pick(rows, which);
      if (!one) return;
      await world.ask('POST', `/vms/${one.vm_id}/detach-disks`, { detach_disks: [one.disk_id] });
    },
  },
  growDisk: {
    weight: 4,
    run: async (world, which, how) => {
      const id = pick(await world.diskIds(), which);
      if (id) await world.ask('PATCH', `/disks/${id}`, { size: `${11 + how}GiB` });
    },
  },
  deleteDisk: {
    weight: 2,
    run: async (world, which) => {
      const id = pick(await world.diskIds(), which);
      if (id) await world.ask('DELETE', `/disks/${id}`);
    },
  },
  createRule: {
    weight: 2,
    run: async (world, which, how) => {
      const [network] = await world.sql`select id from networks limit 1`;
      const vmId = pick(await world.vmIds(), which);
      const sources = how % 3 === 0 ? [] : [how % 3 === 1 && vmId ? { resource_id: vmId } : {}];
      await world.ask('POST', '/vpc/firewall-rules', {
        ...{ name: freshName('r'), vpc_network_id: network?.['id'], direction: 'ingress' },
        ...{ action: 'allow', protocols: ['tcp'], sources, destinations: [{}] },
      });
    },
  },
  changeRule: {
    weight: 1,
    run: async (world, which, how) => {
      const id = pick(await world.ruleIds(), which);
      const body = { destination_ports: [`${1000 + how}`] };
      if (id) await world.ask('PATCH', `/vpc/firewall-rules/${id}`, body);
    },
  },
  deleteRule: {
    weight: 1,
    run: async (world, which) => {
      const id = pick(await world.ruleIds(), which);
      if (id) await world.ask('DELETE', `/vpc/firewall-rules/${id}`);
    },
  },
} satisfies Record<string, Happening>;

const hosts = {
  killAgent: onHost(3, async (world, one) => world.killAgent(one)),
  startAgent: onHost(2, async (world, one) => await world.startAgent(one)),
  restartAgent: onHost(3, async (world, one) => {
    world.killAgent(one);
    await world.startAgent(one);
  }),
  rebootHost: onHost(2, async (world, one, how) => {
    world.killAgent(one);
    one.host.driver.reboot({ keepDomains: how % 2 === 0 });
    await world.startAgent(one);
  }),
  crashDomain: onHost(2, async (_world, { host }, how) => {
    const running = host.driver.hypervisor.look().filter(({ state }) => state === 'running');
    const domain = pick(running, how);
    if (domain) host.driver.hypervisor.crash(domain.vmId, how % 2 ? 'crashed' : 'shutoff');
  }),
  failPart: {
    weight: 6,
    run: async (world, which, how) => {
      const { driver } = pickHost(world, which).host;
      const step = pick(FAILING, which * 7 + how) ?? 'start';
      const fault = { code: 'host_failed', message: `${step} was told to fail` };
      driver.faults.failNext(step, pick(FAILURES, how) ?? 1, fault);
    },
  },
  spoilDevice: onHost(1, async (world, one, how) => {
    const device = pick(await world.devicesOf(one), how);
    const fault = { code: 'reset_failed', message: 'was told not to come clean' };
    if (device) one.host.driver.devices.spoil(device.address, fault);
  }),
  slowBoots: onHost(2, async (_world, { host }, how) =>
    host.driver.behave({ bootMs: 40 * how, resetMs: 10 * how, eraseMs: 15 * how }),
  ),
  deafGuests: onHost(2, async (_world, { host }, how) =>
    host.driver.behave({ shutdownMs: how % 2 ? null : 50 }),
  ),
} satisfies Record<string, Happening>;

const schedulers = {
  killScheduler: {
    weight: 2,
    run: async (world, which) => {
      const one = pick(world.schedulers, which);
      if (one) await world.killScheduler(one);
    },
  },
  startScheduler: {
    weight: 2,
    run: async (world) => {
      if (world.schedulers.length < 3) await world.addScheduler();
    },
  },
  pauseScheduler: onScheduler(2, (database) => database.pause()),
  resumeScheduler: onScheduler(2, (database) => database.resume()),
  cutDatabase: onScheduler(2, (database) => database.cut()),
} satisfies Record<string, Happening>;

const network = {
  cutLink: onHost(2, async (_world, { link }) => link.cut()),
  loseReports: onHost(2, async (_world, { link }, how) => link.loseNext(1 + (how % 3))),
  repeatReports: onHost(2, async (_world, { link }, how) => link.repeatNext(1 + (how % 3))),
  replaySpec: onHost(4, async (_world, { link }, how) => link.replaySpec(how)),
  lateReport: onHost(3, async (world, one, how) => {
    const report = one.link.lateReport(how);
    if (!report) return;
    const { id: hostId } = one.host;
    const [row] =
      await world.sql`select stream_epoch - 1 as before from hosts where id = ${hostId}`;
    const settled = await settleReport({
      ...{ sql: world.sql, hostId, streamEpoch: String(row?.['before']), report: received(report) },
      proof: { isAccepted: true, firewallNumber: String(report.firewallNumber ?? 0) },
    });
    if (settled) throw new Error(`host ${hostId} was believed by a stream that is over`);
  }),
} satisfies Record<string, Happening>;

const operators = {
  cordon: onHost(1, (world, one) => admin(world, one, 'cordon')),
  uncordon: onHost(1, (world, one) => admin(world, one, 'uncordon')),
  drain: onHost(1, (world, one) => admin(world, one, 'drain')),
  quarantine: onHost(1, async (world, one, how) => {
    const device = pick(await world.devicesOf(one), how);
    const reason = 'it smells burnt';
    if (device) await world.operate('POST', `/admin/devices/${device.id}:quarantine`, { reason });
  }),
  release: onHost(1, async (world, one, how) => {
    const device = pick(await world.devicesOf(one), how);
    if (device) await world.operate('POST', `/admin/devices/${device.id}:release`);
  }),
  revoke: onHost(1, async (world, one) => {
    await admin(world, one, 'revoke-certificates');
    one.revoked = true;
  }),
  fence: onHost(1, async (world, one) => {
    // Fencing waits until the host's stream is known to have ended, which needs a working
    // scheduler.
    for (const { database } of world.schedulers) database.resume();
    if (world.schedulers.length === 0) await world.addScheduler();
    await world.replaceHost(one);
  }),
} satisfies Record<string, Happening>;

/** Waits until no operation is unfinished, or until none can finish now. */
const rest: Happening = {
  weight: 8,
  run: async (world) => {
    const under = () => world.sql`select from operations where state = 'IN_PROGRESS'`;
    await vi
      .waitFor(
        async () => {
          if ((await under()).length > 0) throw new Error('not yet');
        },
        { timeout: 600, interval: 30 },
      )
      .catch(() => {});
  },
};

export const HAPPENINGS: Record<string, Happening> = {
  ...{ ...tenant, ...hosts, ...schedulers, ...network, ...operators, rest },
};

function onHost(
  weight: number,
  run: (world: World, host: ChaosHost, how: number) => Promise<unknown>,
): Happening {
  return {
    weight,
    run: async (world, which, how) => {
      await run(world, pickHost(world, which), how);
    },
  };
}

function onScheduler(
  weight: number,
  run: (database: World['schedulers'][number]['database']) => void,
): Happening {
  return {
    weight,
    run: async (world, which) => {
      const one = pick(world.schedulers, which);
      if (one) run(one.database);
    },
  };
}

/** Usually chooses a VM for which the step makes sense. */
async function power(world: World, which: number, action: string): Promise<void> {
  const states = action === 'START' ? DOWN : ['STATE_RUNNING'];
  const apt = await world.sql<{ id: string }[]>`
    select id from vms where state = any(${states}) order by id`;
  const ids = apt.map(({ id }) => id);
  const id = pick(ids.length > 0 && which < 6 ? ids : await world.vmIds(), which);
  if (id) await world.ask('PATCH', `/vms/${id}`, { action });
}

async function admin(world: World, { host }: ChaosHost, action: string): Promise<void> {
  await world.operate('POST', `/admin/hosts/${host.id}:${action}`);
}

function pickHost(world: World, which: number): ChaosHost {
  const host = pick(world.hosts, which);
  if (!host) throw new Error('BUG: a world has hosts');
  return host;
}

function pick<T>(items: readonly T[], which: number): T | undefined {
  return items[which % Math.max(1, items.length)];
}

function freshName(prefix: string): string {
  return `${prefix}-${newId().slice(-12)}`;
}

/** The message as the receiver decodes it. */
function received(report: object): HostReport__Output {
  const { requestSerialize, requestDeserialize } = fleet.service.Attach;
  return requestDeserialize(requestSerialize(report));
}
