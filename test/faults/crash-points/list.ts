/**
 * Every statement with which a scheduler writes, by path. A scheduler is killed before and after each
 * of them. If the test names a statement that is missing here, add it: this is the moment to think
 * about what a crash before and after it leaves behind. If it names one that was not reached, let the
 * test reach it, or remove it.
 *
 * The agent needs no list: packages/simulator/src/agent-crash-safety.test.ts kills it before and
 * after every change of its host that it counts, so that a new one is included.
 */
export const CRASH_POINTS = {
  start: ['insert into fleet_authorities', 'insert into schedulers'],
  lead: [
    'insert into leases, update leases (holder), update schedulers (last_seen_at)',
    'update leases (expires_at)',
    'update leases (wanted_by)',
    'update leases (epoch)',
    'insert into availabilities',
  ],
  enrol: ['update join_tokens (used_at), insert into hosts, insert into host_certificates'],
  attach: [
    'update hosts (scheduler_id)',
    'update hosts (inventory)',
    'insert into devices',
    'update devices (state)',
  ],
  place: ['place_vms'],
  settle: [
    'update hosts (accepted_number)',
    'delete from firewall_rule_hosts',
    'update hosts (accepted_number), delete from firewall_rule_hosts',
    'update hosts (failed_builds)',
    'update vms (observed_state)',
    'insert into meter_intervals',
    'update meter_intervals (unproven)',
    'update disk_attachments (attached)',
    'update disks (host_id)',
    'update disks (observed_size_gib)',
    'update firewall_rules (applied_generation)',
    'insert into serial_logs',
    'insert into events',
    'update operations (state)',
  ],
  release: [
    'insert into device_receipts',
    'delete from device_claims',
    'delete from placements',
    'delete from address_claims',
    'update public_addresses (network_interface_id)',
    'update vms (placed)',
    'delete from disk_attachments',
    'delete from disks',
    'delete from vms',
    'delete from firewall_rules',
  ],
  lose: [
    'update hosts (state)',
    'update vms (reachable)',
    'update meter_intervals (ended_at)',
    'delete from schedulers, update hosts (scheduler_id)',
  ],
  era: ['update hosts (awaits_comparison)', 'update hosts (awaits_era)'],
} as const satisfies Record<string, readonly string[]>;
