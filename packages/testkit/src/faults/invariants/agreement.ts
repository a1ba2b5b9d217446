import type postgres from 'postgres';
import { brokenRules, devicesOf, gather, readClaims, type WatchedCloud } from './one-owner.ts';

/**
 * What holds when everything runs and no operation is unfinished: the database and the hosts agree.
 * `disagreements` returns sentences and must be empty.
 */
export async function disagreements(cloud: WatchedCloud): Promise<string[]> {
  const { sql } = cloud;
  // This is asked again and again until it is empty, and the rest reads the whole history.
  const soon = await unfinished(sql);
  if (soon.length > 0) return soon;
  const hostIds = (await cloud.look()).map(({ hostId }) => hostId);
  return [
    ...(await brokenRules(cloud)),
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
export async function watchClaims(sql: postgres.Sql): Promise<void> {
  await sql`create table ended_claims (device_id uuid, vm_id uuid, host_id uuid)`;
  await sql`create function note_ended_claim() returns trigger language plpgsql as $$
    begin
      insert into ended_claims select id, old.vm_id, host_id from devices where id = old.device_id;
      return null;
    end $$`;
  await sql`create trigger device_claims_noted after delete on device_claims
    for each row execute function note_ended_claim()`;
}

async function unfinished(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string; resource_type: string; resource_id: string }[]>`
    select name, resource_type, resource_id from operations where state = 'IN_PROGRESS'`;
  return rows.map((row) => `${row.name} of ${row.resource_type} ${row.resource_id} has not ended`);
}

type VmFact = {
  id: string;
  state: string;
  generation: string;
  host_id: string | null;
  devices: string[];
  disks: string[];
  interfaces: string[];
};

/**
 * A running VM runs on its host, with the resources that the database has for it. Every other VM
 * runs nowhere.
 */
async function differentVms({ sql, look }: WatchedCloud): Promise<string[]> {
  const vms = await sql<VmFact[]>`
    select v.id, v.state, v.generation::text as generation, p.host_id,
      array(select d.pci_address from device_claims c join devices d on d.id = c.device_id where c.vm_id = v.id) as devices,
      array(select a.disk_id::text from disk_attachments a where a.vm_id = v.id and a.desired_state = 'attached') as disks,
      array(select host(c.address) || '/' || masklen(s.cidr) || ' ' || coalesce(host(a.address), '') from network_interfaces n
        join address_claims c on c.network_interface_id = n.id join subnets s on s.id = n.subnet_id
        left join public_addresses a on a.network_interface_id = n.id where n.vm_id = v.id) as interfaces
    from vms v left join placements p on p.vm_id = v.id`;
  const { domains, devices, interfaces } = gather(await look());
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
      ['the generation', [domain.generation], [vm.generation]],
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
async function leftovers({ sql, look }: WatchedCloud): Promise<string[]> {
  const { placements } = await readClaims(sql);
  return (await look()).flatMap(({ hostId, domains, devices, interfaces, seeds }) => {
    const found: [string, string[]][] = [
      ['a domain', domains.map(({ vmId }) => vmId)],
      ['a device', devices.map(({ vmId }) => vmId)],
      ['an interface', interfaces.map(({ vmId }) => vmId)],
      ['a seed', seeds],
    ];
    return found.flatMap(([what, vmIds]) =>
      vmIds
        .filter((vmId) => !placements.has(`${hostId} ${vmId}`))
        .map((vmId) => `host ${hostId} has ${what} of VM ${vmId}, which is not placed there`),
    );
  });
}

type DiskFact = { id: string; host_id: string | null; size_gib: number; shared: boolean | null };

/**
 * Every stored disk is in the database, and every disk that the database says is stored exists with
 * its size.
 */
async function differentDisks({ sql, look }: WatchedCloud): Promise<string[]> {
  const rows = await sql<DiskFact[]>`select d.id, d.host_id, d.size_gib, h.shared_storage as shared
    from disks d left join hosts h on h.id = d.host_id and h.state <> 'fenced'`;
  const known = new Set(rows.filter(({ host_id }) => host_id !== null).map(({ id }) => id));
  const sights = await look();
  const stored = new Set(sights.flatMap(({ disks }) => disks.map(({ id }) => id)));
  const problems = [...stored]
    .filter((id) => !known.has(id))
    .map((id) => `disk ${id} is stored and the database does not know it`);
  for (const { id, host_id, size_gib, shared } of rows) {
    const host = sights.find(({ hostId }) => hostId === host_id);
    if (!host || shared === null) continue;
    const size = Number(host.disks.find((disk) => disk.id === id)?.sizeBytes ?? 0) / 1024 ** 3;
    if (size !== size_gib)
      problems.push(`disk ${id} should have ${size_gib} GiB on host ${host_id} and has ${size}`);
  }
  return problems;
}

/** A host with VMs has exactly the rules of their networks in force. */
async function differentFirewalls({ sql, look }: WatchedCloud): Promise<string[]> {
  const rows = await sql<{ host_id: string; rules: string[] }[]>`
    select p.host_id, array_agg(distinct r.id || ' ' || array_to_string(r.destination_ports, ',')
      || case when jsonb_array_length(r.sources) = 0 then ' 0.0.0.0/0' else '' end) as rules
    from placements p join network_interfaces n on n.vm_id = p.vm_id
    join firewall_rules r on r.network_id = n.network_id group by 1`;
  const sights = await look();
  return rows.flatMap(({ host_id, rules }) => {
    const host = sights.find(({ hostId }) => hostId === host_id);
    const anywhere = new Set(
      rules.filter((rule) => rule.endsWith('/0')).map((rule) => rule.split(' ')[0]),
    );
    const has = (host?.rules ?? []).map(({ id, sources, destinationPorts }) => {
      const rule = `${id} ${destinationPorts.join()}`;
      return anywhere.has(id) ? `${rule} ${sources}` : rule;
    });
    return host && !same(has, rules)
      ? [`host ${host_id} has rules [${has}] in force and should have [${rules}]`]
      : [];
  });
}

async function behindHosts(sql: postgres.Sql, hostIds: string[]): Promise<string[]> {
  const rows = await sql<{ problem: string }[]>`
    select 'host ' || h.id || ' is ' || h.state || ', has accepted ' || h.accepted_number || ' of ' || r.number
        || ', refuses "' || h.refusal || '" and has unknown VMs {' || array_to_string(h.unknown_vms, ',') || '}' as problem
      from hosts h join host_revisions r on r.host_id = h.id
      where h.id = any(${hostIds}::uuid[]) and (h.state <> 'ready' or h.accepted_number <> r.number or h.refusal <> ''
        or cardinality(h.unknown_vms) > 0)
    union all select 'host ' || host_id || ' owes rule ' || rule_id from firewall_rule_hosts`;
  return rows.map(({ problem }) => problem);
}

async function missingReceipts(sql: postgres.Sql): Promise<string[]> {
  const [watched] = await sql`select to_regclass('ended_claims') as name`;
  if (!watched?.['name']) return [];
  const rows = await sql<{ device_id: string; vm_id: string; ends: number; receipts: number }[]>`
    with ended as (select device_id, vm_id, count(*)::int as ends from ended_claims group by 1, 2),
      received as (select device_id, vm_id, count(*)::int as receipts from device_receipts group by 1, 2)
    select e.device_id, e.vm_id, e.ends, coalesce(r.receipts, 0) as receipts
    from ended e left join received r on r.device_id = e.device_id and r.vm_id = e.vm_id
    where e.ends <> coalesce(r.receipts, 0)`;
  return rows.map(
    (row) =>
      `device ${row.device_id} left VM ${row.vm_id} ${row.ends} times, with ${row.receipts} receipts`,
  );
}

async function wrongQuotas(sql: postgres.Sql): Promise<string[]> {
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

/** Exactly the running VMs and the disks that are not being deleted are metered, with their size. */
async function wrongMeters(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ resource_id: string; metered: string | null; used: string | null }[]>`
    select coalesce(m.resource_id, r.id) as resource_id, m.what as metered, r.what as used
    from (select resource_id, resource_type || ' ' || units as what from meter_intervals where ended_at is null) m
    full join (select id, type || ' 1' as what from vms where state = 'STATE_RUNNING'
      union all select id, type || ' ' || size_gib from disks where kind = 'data' and desired_state = 'present') r on r.id = m.resource_id
    where m.what is distinct from r.what`;
  return rows.map(
    ({ resource_id, metered, used }) =>
      `${resource_id} is metered as ${metered ?? 'nothing'} and is ${used ?? 'nothing'}`,
  );
}

function same(some: readonly (string | null)[], others: readonly (string | null)[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}
