import type { Device, Domain } from '@gantry/agent/host-driver';
import type { InterfaceSpec } from '@gantry/agent/spec';
import type { Sql } from '@gantry/db/connect';
import type { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';

/**
 * The invariants of a cloud. `brokenRules` must be empty at every moment, even while parts are stopped;
 * `disagreements` must be empty when everything runs and no operation is unfinished. Both return
 * sentences. Leave out hosts that were fenced: the invariants do not apply to them.
 */
export type WatchedCloud = { sql: Sql; hosts: readonly SimulatedHost[] };

type OnHost<T> = T & { hostId: string };
type Sight = {
  domains: OnHost<Domain>[];
  devices: OnHost<Device>[];
  interfaces: OnHost<{ vmId: string; iface: InterfaceSpec }>[];
};

export async function brokenRules({ sql, hosts }: WatchedCloud): Promise<string[]> {
  const before = look(hosts);
  const claims = await readClaims(sql);
  // What is on a host was claimed before it came there, and is claimed until after it is gone: so it
  // is claimed at every moment between two looks that both saw it.
  const after = look(hosts);
  return [
    ...sharedDevices(before),
    ...sharedAddresses(before),
    ...runningTwice(before),
    ...unclaimed(seenTwice(before, after), claims),
    ...(await brokenClaims(sql)),
  ];
}

export async function disagreements(cloud: WatchedCloud): Promise<string[]> {
  const { sql, hosts } = cloud;
  const hostIds = hosts.map(({ id }) => id);
  return [
    ...(await brokenRules(cloud)),
    ...(await unfinished(sql)),
    ...(await differentVms(cloud)),
    ...(await leftovers(cloud)),
    ...(await differentDisks(cloud)),
    ...(await differentFirewalls(cloud)),
    ...(await behindHosts(sql, hostIds)),
    ...(await missingReceipts(sql)),
    ...(await wrongQuotas(sql)),
    ...(await wrongMeters(sql)),
  ];
}

/**
 * Makes the database record every claim that ends, so that `disagreements` can check that each
 * ended with a receipt. Without it this is not checked.
 */
export async function watchClaims(sql: Sql): Promise<void> {
  await sql`create table ended_claims (device_id uuid, vm_id uuid, host_id uuid)`;
  await sql`create function note_ended_claim() returns trigger language plpgsql as $$
    begin
      insert into ended_claims select id, old.vm_id, host_id from devices where id = old.device_id;
      return null;
    end $$`;
  await sql`create trigger device_claims_noted after delete on device_claims
    for each row execute function note_ended_claim()`;
}

function look(hosts: readonly SimulatedHost[]): Sight {
  const onHost = <T extends object>(host: SimulatedHost, things: readonly T[]) =>
    things.map((thing) => ({ ...thing, hostId: host.id }));
  return {
    domains: hosts.flatMap((host) => onHost(host, host.driver.hypervisor.look())),
    devices: hosts.flatMap((host) => onHost(host, host.driver.devices.look())),
    interfaces: hosts.flatMap((host) => onHost(host, interfacesOf(host.driver))),
  };
}

function interfacesOf({ network }: SimulatedHostDriver): { vmId: string; iface: InterfaceSpec }[] {
  return network
    .vmIds()
    .flatMap((vmId) => network.interfacesOf(vmId).map((iface) => ({ vmId, iface })));
}

const devicesOf = ({ devices }: Domain) => devices.map(({ address }) => address);

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

async function readClaims(sql: Sql): Promise<Claims> {
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
    problems.push(`VM ${vmId} has ${address} of host ${hostId}, which is ${owner ?? 'nobody'}'s`);
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
async function brokenClaims(sql: Sql): Promise<string[]> {
  const rows = await sql<{ problem: string }[]>`
    select 'VM ' || v.id || ' of type ' || v.type || ' has ' || g.all_gpus || ' GPUs, ' || g.own_gpus
        || ' of them on its host, and ' || d.all_drives || ' drives, ' || d.own_drives || ' on its host' as problem
      from placements p join vms v on v.id = p.vm_id join vm_types t on t.name = v.type
      cross join lateral (select count(*) as all_gpus, count(*) filter (where x.host_id = p.host_id) as own_gpus
        from device_claims c join devices x on x.id = c.device_id where c.vm_id = v.id and x.kind = 'gpu') g
      cross join lateral (select count(*) as all_drives, count(*) filter (where x.host_id = p.host_id) as own_drives
        from device_claims c join devices x on x.id = c.device_id where c.vm_id = v.id and x.kind = 'drive') d
      where g.all_gpus <> t.gpu_count or g.own_gpus <> t.gpu_count
        or d.all_drives <> t.disk_count or d.own_drives <> t.disk_count
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

async function unfinished(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string; resource_type: string; resource_id: string }[]>`
    select name, resource_type, resource_id from operations where state = 'IN_PROGRESS'`;
  return rows.map((row) => `${row.name} of ${row.resource_type} ${row.resource_id} has not ended`);
}

type VmFact = {
  id: string;
  state: string;
  host_id: string | null;
  devices: string[];
  disks: string[];
  interfaces: string[];
};

/**
 * A running VM runs on its host, with the resources that the database has for it. Every other VM
 * runs nowhere.
 */
async function differentVms({ sql, hosts }: WatchedCloud): Promise<string[]> {
  const vms = await sql<VmFact[]>`
    select v.id, v.state, p.host_id,
      array(select d.pci_address from device_claims c join devices d on d.id = c.device_id where c.vm_id = v.id) as devices,
      array(select a.disk_id::text from disk_attachments a where a.vm_id = v.id and a.desired_state = 'attached') as disks,
      array(select host(c.address) || '/' || masklen(s.cidr) || ' ' || coalesce(host(a.address), '') from network_interfaces n
        join address_claims c on c.network_interface_id = n.id join subnets s on s.id = n.subnet_id
        left join public_addresses a on a.network_interface_id = n.id where n.vm_id = v.id) as interfaces
    from vms v left join placements p on p.vm_id = v.id`;
  const { domains, devices, interfaces } = look(hosts);
  const problems: string[] = [];
  for (const vm of vms) {
    const running = domains.filter(({ vmId, state }) => vmId === vm.id && state === 'running');
    const where = running.map(({ hostId }) => hostId);
    const wanted = vm.state === 'STATE_RUNNING' ? [vm.host_id] : [];
    if (!same(where, wanted)) {
      problems.push(`VM ${vm.id} is ${vm.state} on ${vm.host_id} and runs on [${where}]`);
      continue;
    }
    const [domain] = running;
    if (!domain) continue;
    const bound = devices.filter(({ vmId }) => vmId === vm.id).map(({ address }) => address);
    const addresses = interfaces
      .filter(({ vmId }) => vmId === vm.id)
      .map(({ iface }) => `${iface.privateIpv4} ${iface.publicIpv4}`);
    const pairs: [string, string[], string[]][] = [
      ['devices', devicesOf(domain), vm.devices],
      ['bound devices', bound, vm.devices],
      ['disks', domain.disks.map(({ id }) => id), vm.disks],
      ['addresses', addresses, vm.interfaces],
    ];
    for (const [what, has, should] of pairs)
      if (!same(has, should))
        problems.push(`running VM ${vm.id} has ${what} [${has}] and should have [${should}]`);
  }
  return problems;
}

/** Everything on a host belongs to a VM that is placed there. */
async function leftovers({ sql, hosts }: WatchedCloud): Promise<string[]> {
  const { placements } = await readClaims(sql);
  return hosts.flatMap(({ id, driver }) => {
    const found: [string, string[]][] = [
      ['a domain', driver.hypervisor.look().map(({ vmId }) => vmId)],
      ['a device', driver.devices.look().map(({ vmId }) => vmId)],
      ['an interface', driver.network.vmIds()],
      ['a seed', driver.seeds.vmIds()],
    ];
    return found.flatMap(([what, vmIds]) =>
      vmIds
        .filter((vmId) => !placements.has(`${id} ${vmId}`))
        .map((vmId) => `host ${id} has ${what} of VM ${vmId}, which is not placed there`),
    );
  });
}

type DiskFact = { id: string; host_id: string | null; size_gib: number; shared: boolean | null };

/**
 * Every stored disk is in the database, and every disk that the database says is stored exists with
 * its size.
 */
async function differentDisks({ sql, hosts }: WatchedCloud): Promise<string[]> {
  const disks = await sql<DiskFact[]>`select d.id, d.host_id, d.size_gib, h.shared_storage as shared
    from disks d left join hosts h on h.id = d.host_id and h.state <> 'fenced'`;
  const known = new Set(disks.filter(({ host_id }) => host_id !== null).map(({ id }) => id));
  const problems: string[] = [];
  for (const store of new Set(hosts.map(({ driver }) => driver.disks)))
    for (const id of store.ids())
      if (!known.has(id)) problems.push(`disk ${id} is stored and nobody knows of it`);
  for (const { id, host_id, size_gib, shared } of disks) {
    const host = hosts.find((one) => one.id === host_id);
    if (!host || shared === null) continue;
    const size = Number(host.driver.disks.sizeBytes(id) ?? 0) / 1024 ** 3;
    if (size !== size_gib)
      problems.push(`disk ${id} should have ${size_gib} GiB on host ${host_id} and has ${size}`);
  }
  return problems;
}

/** A host with VMs has exactly the rules of their networks in force. */
async function differentFirewalls({ sql, hosts }: WatchedCloud): Promise<string[]> {
  const rows = await sql<{ host_id: string; rules: string[] }[]>`
    select p.host_id, array_agg(distinct r.id || case when jsonb_array_length(r.sources) = 0 then ' 0.0.0.0/0' else '' end) as rules
    from placements p join network_interfaces n on n.vm_id = p.vm_id
    join firewall_rules r on r.network_id = n.network_id group by 1`;
  return rows.flatMap(({ host_id, rules }) => {
    const host = hosts.find(({ id }) => id === host_id);
    const anywhere = new Set(
      rules.map((rule) => rule.split(' ')[0]).filter((_, i) => rules[i]?.includes(' ')),
    );
    const has = (host?.driver.network.firewall?.rules ?? []).map(({ id, sources }) =>
      anywhere.has(id) ? `${id} ${sources}` : id,
    );
    return host && !same(has, rules)
      ? [`host ${host_id} has rules [${has}] in force and should have [${rules}]`]
      : [];
  });
}

async function behindHosts(sql: Sql, hostIds: string[]): Promise<string[]> {
  const rows = await sql<{ problem: string }[]>`
    select 'host ' || h.id || ' is ' || h.state || ', has accepted ' || h.accepted_number || ' of ' || r.number
        || ', refuses "' || h.refusal || '" and has unknown VMs {' || array_to_string(h.unknown_vms, ',') || '}' as problem
      from hosts h join host_revisions r on r.host_id = h.id
      where h.id = any(${hostIds}::uuid[]) and (h.state <> 'ready' or h.accepted_number <> r.number or h.refusal <> ''
        or cardinality(h.unknown_vms) > 0)
    union all select 'host ' || host_id || ' owes rule ' || rule_id from firewall_rule_hosts`;
  return rows.map(({ problem }) => problem);
}

async function missingReceipts(sql: Sql): Promise<string[]> {
  const [watched] = await sql`select to_regclass('ended_claims') as name`;
  if (!watched?.['name']) return [];
  const rows = await sql<{ device_id: string; vm_id: string; ends: number; receipts: number }[]>`
    select e.device_id, e.vm_id, count(*)::int as ends,
      (select count(*)::int from device_receipts r where r.device_id = e.device_id and r.vm_id = e.vm_id) as receipts
    from ended_claims e group by 1, 2
    having count(*) <> (select count(*) from device_receipts r where r.device_id = e.device_id and r.vm_id = e.vm_id)`;
  return rows.map(
    (row) =>
      `device ${row.device_id} left VM ${row.vm_id} ${row.ends} times, with ${row.receipts} receipts`,
  );
}

async function wrongQuotas(sql: Sql): Promise<string[]> {
  const rows = await sql<{ project_id: string; type: string; used: number; counted: number }[]>`
    with counted as (
      select project_id, 'vms' as type, count(*) as used from vms group by 1
      union all select v.project_id, 'gpus', sum(t.gpu_count) from vms v join vm_types t on t.name = v.type group by 1
      union all select project_id, 'disks', count(*) from disks where kind = 'data' group by 1
      union all select project_id, 'disk_gib', sum(size_gib) from disks where kind = 'data' group by 1
      union all select project_id, 'firewall_rules', count(*) from firewall_rules group by 1)
    select q.project_id, q.type, q.used::float8 as used, coalesce(c.used, 0)::float8 as counted
    from quotas q left join counted c on c.project_id = q.project_id and c.type = q.type
    where q.type in ('vms', 'gpus', 'disks', 'disk_gib', 'firewall_rules') and q.used <> coalesce(c.used, 0)`;
  return rows.map(
    (row) => `project ${row.project_id} uses ${row.used} ${row.type} and has ${row.counted}`,
  );
}

/** Exactly the running VMs and the existing disks are metered, with their size. */
async function wrongMeters(sql: Sql): Promise<string[]> {
  const rows = await sql<{ resource_id: string; metered: string | null; used: string | null }[]>`
    select coalesce(m.resource_id, r.id) as resource_id, m.what as metered, r.what as used
    from (select resource_id, resource_type || ' ' || units as what from meter_intervals where ended_at is null) m
    full join (select id, type || ' 1' as what from vms where state = 'STATE_RUNNING'
      union all select id, type || ' ' || size_gib from disks where kind = 'data') r on r.id = m.resource_id
    where m.what is distinct from r.what`;
  return rows.map(
    ({ resource_id, metered, used }) =>
      `${resource_id} is metered as ${metered ?? 'nothing'} and is ${used ?? 'nothing'}`,
  );
}

function same(some: readonly (string | null)[], others: readonly (string | null)[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}
