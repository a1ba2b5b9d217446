import type { HostSight } from '@gantry/simulator/fleet/host-sight';
import type postgres from 'postgres';

/**
 * What holds at every moment, even while parts are stopped: a resource has one owner, and what is on
 * a host is claimed. `brokenRules` returns sentences and must be empty. Leave out hosts that were
 * fenced: the invariants do not apply to them.
 */
export type WatchedCloud = { sql: postgres.Sql; look: () => Promise<HostSight[]> };

type OnHost<T> = T & { hostId: string };
type Sight = {
  domains: OnHost<HostSight['domains'][number]>[];
  devices: OnHost<HostSight['devices'][number]>[];
  interfaces: OnHost<HostSight['interfaces'][number]>[];
};

export async function brokenRules({ sql, look }: WatchedCloud): Promise<string[]> {
  const before = gather(await look());
  const claims = await readClaims(sql);
  // What is on a host was claimed before it came there, and is claimed until after it is gone: so it
  // is claimed at every moment between two looks that both saw it.
  const after = gather(await look());
  return [
    ...sharedDevices(before),
    ...sharedAddresses(before),
    ...runningTwice(before),
    ...unclaimed(seenTwice(before, after), claims),
    ...(await brokenClaims(sql)),
  ];
}

/** Everything on all hosts, each with its host. */
export function gather(sights: readonly HostSight[]): Sight {
  const onHost = <T extends object>({ hostId }: HostSight, things: readonly T[]) =>
    things.map((thing) => ({ ...thing, hostId }));
  return {
    domains: sights.flatMap((host) => onHost(host, host.domains)),
    devices: sights.flatMap((host) => onHost(host, host.devices)),
    interfaces: sights.flatMap((host) => onHost(host, host.interfaces)),
  };
}

export const devicesOf = ({ devices }: HostSight['domains'][number]) =>
  devices.map(({ address }) => address);

function sharedDevices({ domains, devices }: Sight): string[] {
  const users = new Users();
  for (const domain of domains) {
    if (domain.state !== 'running') continue;
    for (const address of devicesOf(domain)) users.add(`${domain.hostId} ${address}`, domain.vmId);
  }
  for (const { hostId, address, vmId } of devices) users.add(`${hostId} ${address}`, vmId);
  return users.shared('device');
}

function sharedAddresses({ interfaces }: Sight): string[] {
  const users = new Users();
  for (const { vmId, iface } of interfaces) {
    users.add(`${iface.networkId} ${iface.privateIpv4}`, vmId);
    users.add(`${iface.networkId} ${iface.mac}`, vmId);
    if (iface.publicIpv4 !== '') users.add(iface.publicIpv4, vmId);
  }
  return users.shared('address');
}

function runningTwice({ domains }: Sight): string[] {
  const hosts = new Users();
  for (const { state, vmId, hostId } of domains) if (state === 'running') hosts.add(vmId, hostId);
  return hosts.shared('VM');
}

/** Resources that must have one owner, with their owners. */
class Users {
  readonly #users = new Map<string, Set<string>>();

  add(thing: string, user: string): void {
    this.#users.set(thing, (this.#users.get(thing) ?? new Set()).add(user));
  }

  shared(kind: string): string[] {
    return [...this.#users]
      .filter(([, users]) => users.size > 1)
      .map(([thing, users]) => `${kind} ${thing} has ${[...users].join(' and ')}`);
  }
}

type Claims = { placements: Set<string>; devices: Map<string, string> };

export async function readClaims(sql: postgres.Sql): Promise<Claims> {
  const rows = await sql<{ host_id: string; vm_id: string; address: string | null }[]>`
    select p.host_id, p.vm_id, d.pci_address as address from placements p
    left join device_claims c on c.vm_id = p.vm_id left join devices d on d.id = c.device_id`;
  const devices = new Map<string, string>();
  for (const { host_id, vm_id, address } of rows)
    if (address !== null) devices.set(`${host_id} ${address}`, vm_id);
  return { placements: new Set(rows.map(({ host_id, vm_id }) => `${host_id} ${vm_id}`)), devices };
}

function seenTwice(before: Sight, after: Sight): Sight {
  const key = ({ hostId, vmId }: { hostId: string; vmId: string }) => `${hostId} ${vmId}`;
  const domains = new Set(after.domains.filter(({ state }) => state === 'running').map(key));
  const devices = new Set(after.devices.map((device) => `${key(device)} ${device.address}`));
  return {
    domains: before.domains.filter((one) => one.state === 'running' && domains.has(key(one))),
    devices: before.devices.filter((one) => devices.has(`${key(one)} ${one.address}`)),
    interfaces: [],
  };
}

function unclaimed({ domains, devices }: Sight, claims: Claims): string[] {
  const problems: string[] = [];
  const require = (hostId: string, address: string, vmId: string) => {
    const owner = claims.devices.get(`${hostId} ${address}`);
    if (owner === vmId) return;
    problems.push(
      `VM ${vmId} has ${address} of host ${hostId}, which belongs to ${owner ?? 'no VM'}`,
    );
  };
  for (const domain of domains) {
    const { hostId, vmId } = domain;
    if (!claims.placements.has(`${hostId} ${vmId}`))
      problems.push(`VM ${vmId} runs on host ${hostId}, where it is not placed`);
    for (const address of devicesOf(domain)) require(hostId, address, vmId);
  }
  for (const { hostId, address, vmId } of devices) require(hostId, address, vmId);
  return problems;
}

/** Reads the database in one statement, and so at one moment. */
async function brokenClaims(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ problem: string }[]>`
    select 'VM ' || v.id || ' of type ' || v.type || ' has ' || g.all_gpus || ' GPUs, ' || g.own_gpus
        || ' of them on its host, and ' || d.all_drives || ' drives, ' || d.own_drives || ' on its host' as problem
      from placements p join vms v on v.id = p.vm_id join vm_types t on t.name = v.type
      cross join lateral (select count(*) as all_gpus, count(*) filter (where x.host_id = p.host_id) as own_gpus
        from device_claims c join devices x on x.id = c.device_id where c.vm_id = v.id and x.kind = 'gpu') g
      cross join lateral (select count(*) as all_drives, count(*) filter (where x.host_id = p.host_id) as own_drives
        from device_claims c join devices x on x.id = c.device_id where c.vm_id = v.id and x.kind = 'drive') d
      where g.own_gpus <> g.all_gpus or d.own_drives <> d.all_drives
        or g.all_gpus > t.gpu_count or d.all_drives > t.disk_count
        -- A VM that is being removed loses each device when the device is clean.
        or not (v.desired_state = 'deleted' or v.abandoned)
          and (g.all_gpus < t.gpu_count or d.all_drives < t.disk_count)
    union all select 'VM ' || v.id || ' says placed ' || v.placed from vms v
      where v.placed <> exists (select from placements where vm_id = v.id)
    union all select 'a claim of ' || c.vm_id || ' has no placement' from device_claims c
      where not exists (select from placements where vm_id = c.vm_id)
    union all select 'VM ' || p.vm_id || ' is in another location than host ' || p.host_id
      from placements p join vms v on v.id = p.vm_id join hosts h on h.id = p.host_id where h.location <> v.location
    union all select 'placed VM ' || n.vm_id || ' has an interface without an address'
      from network_interfaces n join placements p on p.vm_id = n.vm_id
      where not exists (select from address_claims where network_interface_id = n.id)
    union all select 'public address ' || host(a.address) || ' is kept by VM ' || n.vm_id || ', which is nowhere'
      from public_addresses a join network_interfaces n on n.id = a.network_interface_id
      where not exists (select from placements where vm_id = n.vm_id)
    union all select 'operation ' || o.id || ' has ended and says no result' from operations o
      where o.state <> 'IN_PROGRESS' and (o.result is null or o.completed_at is null)`;
  return rows.map(({ problem }) => problem);
}
