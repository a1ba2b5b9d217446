// The alerts of an installation. Each one is rendered as a rule for Prometheus and as a unit test of that
// rule, and docs/operators/alerts.md has a section with its name.
//
// - severity: `page` wakes a person, because tenants suffer now or will soon; `ticket` waits for the morning.
// - expr: what is wrong. `d(seconds)` renders a duration, so that tests can scale all durations.
// - forS: for how many seconds it must be wrong.
// - summary: one sentence. `{{ $labels.x }}` is filled in by Prometheus.
// - fires: series of the unit test while it is wrong, in promtool's notation, one value a minute.
// - labels: the labels of the alert in that test, besides those of the alert itself.
// - quiet: series with which the alert must not fire.

const API = 'job="gantry-api"';
const SCHEDULER = 'job="gantry-scheduler"';
const AGENT = 'job="gantry-agent"';
const MINUTE = 60;
const HOUR = 3_600;

export const ALERTS = [
  {
    name: 'GantryApiUnavailable',
    severity: 'page',
    expr: () => `sum(up{${API}}) == 0 or absent(up{${API}})`,
    forS: MINUTE,
    summary: 'No api process replies: tenants cannot reach the API.',
    fires: { [`up{${API}, instance="a"}`]: '0x30' },
    labels: {},
    quiet: { [`up{${API}, instance="a"}`]: '0x30', [`up{${API}, instance="b"}`]: '1x30' },
  },
  {
    name: 'GantryApiErrors',
    severity: 'page',
    expr: (d) =>
      `sum(rate(gantry_http_requests_total{status=~"5.."}[${d(5 * MINUTE)}]))` +
      ` / sum(rate(gantry_http_requests_total[${d(5 * MINUTE)}])) > 0.02`,
    forS: 5 * MINUTE,
    summary: 'More than 2 % of all requests fail for a reason of the control plane.',
    fires: {
      'gantry_http_requests_total{status="200"}': '0+90x30',
      'gantry_http_requests_total{status="500"}': '0+10x30',
    },
    labels: {},
    quiet: {
      'gantry_http_requests_total{status="200"}': '0+995x30',
      'gantry_http_requests_total{status="503"}': '0+5x30',
    },
  },
  {
    name: 'GantryNoScheduler',
    severity: 'page',
    expr: () => `sum(up{${SCHEDULER}}) == 0 or absent(up{${SCHEDULER}})`,
    forS: MINUTE,
    summary: 'No scheduler replies: VMs run on, but nothing is placed, started or stopped.',
    fires: { [`up{${SCHEDULER}, instance="a"}`]: '0x30' },
    labels: {},
    quiet: {
      [`up{${SCHEDULER}, instance="a"}`]: '0x30',
      [`up{${SCHEDULER}, instance="b"}`]: '1x30',
    },
  },
  {
    name: 'GantryProcessDown',
    severity: 'ticket',
    expr: () => 'up{job=~"gantry-api|gantry-scheduler"} == 0',
    forS: 5 * MINUTE,
    summary: '{{ $labels.job }} on {{ $labels.instance }} does not reply.',
    fires: { [`up{${API}, instance="a"}`]: '0x30' },
    labels: { job: 'gantry-api', instance: 'a' },
    quiet: { [`up{${API}, instance="a"}`]: '0 0 0 1x27' },
  },
  {
    name: 'GantryDatabaseAway',
    severity: 'page',
    expr: () => 'gantry_database_up == 0',
    forS: MINUTE,
    summary: 'The database does not reply to {{ $labels.job }} on {{ $labels.instance }}.',
    fires: { [`gantry_database_up{${API}, instance="a"}`]: '0x30' },
    labels: { job: 'gantry-api', instance: 'a' },
    quiet: { [`gantry_database_up{${API}, instance="a"}`]: '1x30' },
  },
  {
    name: 'GantryDatabaseSlow',
    severity: 'ticket',
    expr: (d) =>
      'histogram_quantile(0.95, sum by (job, instance, le)' +
      ` (rate(gantry_database_probe_duration_seconds_bucket[${d(5 * MINUTE)}]))) > 0.25`,
    forS: 10 * MINUTE,
    summary:
      'The database takes more than 250 ms to reply to {{ $labels.job }} on {{ $labels.instance }}.',
    fires: {
      [`gantry_database_probe_duration_seconds_bucket{${API}, instance="a", le="0.25"}`]: '0x30',
      [`gantry_database_probe_duration_seconds_bucket{${API}, instance="a", le="0.5"}`]: '0+60x30',
      [`gantry_database_probe_duration_seconds_bucket{${API}, instance="a", le="+Inf"}`]: '0+60x30',
    },
    labels: { job: 'gantry-api', instance: 'a' },
    quiet: {
      [`gantry_database_probe_duration_seconds_bucket{${API}, instance="a", le="0.25"}`]: '0+60x30',
      [`gantry_database_probe_duration_seconds_bucket{${API}, instance="a", le="+Inf"}`]: '0+60x30',
    },
  },
  {
    name: 'GantryClockWrong',
    severity: 'page',
    expr: () => 'gantry_clock_wrong == 1',
    forS: 2 * MINUTE,
    summary:
      '{{ $labels.job }} on {{ $labels.instance }} does not serve: its clock differs from that of the database.',
    fires: { [`gantry_clock_wrong{${SCHEDULER}, instance="a"}`]: '1x30' },
    labels: { job: 'gantry-scheduler', instance: 'a' },
    quiet: { [`gantry_clock_wrong{${SCHEDULER}, instance="a"}`]: '0x30' },
  },
  {
    name: 'GantryEventLoopBlocked',
    severity: 'ticket',
    expr: (d) =>
      'histogram_quantile(0.95, sum by (job, instance, le)' +
      ` (rate(gantry_event_loop_lag_seconds_bucket[${d(5 * MINUTE)}]))) > 0.5`,
    forS: 10 * MINUTE,
    summary:
      '{{ $labels.job }} on {{ $labels.instance }} is too busy to react within half a second.',
    fires: {
      [`gantry_event_loop_lag_seconds_bucket{${API}, instance="a", le="0.5"}`]: '0x30',
      [`gantry_event_loop_lag_seconds_bucket{${API}, instance="a", le="1"}`]: '0+60x30',
      [`gantry_event_loop_lag_seconds_bucket{${API}, instance="a", le="+Inf"}`]: '0+60x30',
    },
    labels: { job: 'gantry-api', instance: 'a' },
    quiet: {
      [`gantry_event_loop_lag_seconds_bucket{${API}, instance="a", le="0.5"}`]: '0+60x30',
      [`gantry_event_loop_lag_seconds_bucket{${API}, instance="a", le="+Inf"}`]: '0+60x30',
    },
  },
  {
    name: 'GantryOpenFilesNearLimit',
    severity: 'ticket',
    expr: () => 'process_open_fds{job=~"gantry-.+"} / process_max_fds{job=~"gantry-.+"} > 0.8',
    forS: 10 * MINUTE,
    summary:
      '{{ $labels.job }} on {{ $labels.instance }} has used 80 % of the files that it may open.',
    fires: {
      [`process_open_fds{${SCHEDULER}, instance="a"}`]: '900x30',
      [`process_max_fds{${SCHEDULER}, instance="a"}`]: '1000x30',
    },
    labels: { job: 'gantry-scheduler', instance: 'a' },
    quiet: {
      [`process_open_fds{${SCHEDULER}, instance="a"}`]: '500x30',
      [`process_max_fds{${SCHEDULER}, instance="a"}`]: '1000x30',
    },
  },
  {
    name: 'GantryLocationWithoutScheduler',
    severity: 'page',
    expr: () =>
      'max by (location) (gantry_fleet_vms_unplaced)' +
      ' unless on (location) max by (location) (gantry_scheduler_lease_held)',
    forS: 2 * MINUTE,
    summary: 'No scheduler holds the lease of {{ $labels.location }}: no VM is placed there.',
    fires: {
      'gantry_fleet_vms_unplaced{location="north"}': '0x30',
      'gantry_scheduler_lease_held{location="south"}': '1x30',
    },
    labels: { location: 'north' },
    quiet: {
      'gantry_fleet_vms_unplaced{location="north"}': '0x30',
      'gantry_scheduler_lease_held{location="north"}': '1x30',
    },
  },
  {
    name: 'GantryFleetFiguresMissing',
    severity: 'ticket',
    expr: () =>
      `absent(gantry_fleet_figures_timestamp_seconds) and on () sum(gantry_database_up{${SCHEDULER}}) > 0`,
    forS: 10 * MINUTE,
    summary:
      'No scheduler reports figures of the fleet: alerts about hosts and devices cannot fire.',
    fires: { [`gantry_database_up{${SCHEDULER}}`]: '1x30' },
    labels: {},
    quiet: {
      [`gantry_database_up{${SCHEDULER}}`]: '1x30',
      gantry_fleet_figures_timestamp_seconds: '1x30',
    },
  },
  {
    name: 'GantryHostLost',
    severity: 'page',
    // An operator who drains a host is about to work on it.
    expr: () =>
      'sum by (location) (gantry_fleet_hosts{state="unreachable", admin_state!="draining"}) > 0',
    forS: 2 * MINUTE,
    summary: 'A host in {{ $labels.location }} is unreachable: its VMs may be gone.',
    fires: {
      'gantry_fleet_hosts{location="north", state="unreachable", admin_state="active"}': '1x30',
    },
    labels: { location: 'north' },
    quiet: {
      'gantry_fleet_hosts{location="north", state="ready", admin_state="active"}': '9x30',
      'gantry_fleet_hosts{location="north", state="unreachable", admin_state="draining"}': '1x30',
    },
  },
  {
    name: 'GantryFenceWaiting',
    severity: 'page',
    expr: () => 'sum by (location) (gantry_fleet_hosts_fence_waiting) > 0',
    forS: MINUTE,
    summary:
      'A fenced host in {{ $labels.location }} waits for a storage cluster: its VMs cannot start elsewhere.',
    fires: { 'gantry_fleet_hosts_fence_waiting{location="north"}': '1x30' },
    labels: { location: 'north' },
    quiet: { 'gantry_fleet_hosts_fence_waiting{location="north"}': '0x30' },
  },
  {
    name: 'GantryHostTroubled',
    severity: 'ticket',
    expr: () => 'sum by (location, reason) (gantry_fleet_hosts_troubled) > 0',
    forS: 15 * MINUTE,
    summary: 'A host in {{ $labels.location }} takes no new VMs: {{ $labels.reason }}.',
    fires: { 'gantry_fleet_hosts_troubled{location="north", reason="refusing"}': '1x40' },
    labels: { location: 'north', reason: 'refusing' },
    quiet: { 'gantry_fleet_hosts_troubled{location="north", reason="refusing"}': '0x40' },
  },
  {
    name: 'GantryHostBehind',
    severity: 'page',
    expr: () => 'min by (location) (gantry_fleet_hosts_behind) > 0',
    forS: 15 * MINUTE,
    summary:
      'A connected host in {{ $labels.location }} does not accept its newest spec: changes by tenants have no effect.',
    fires: { 'gantry_fleet_hosts_behind{location="north"}': '2x40' },
    labels: { location: 'north' },
    quiet: { 'gantry_fleet_hosts_behind{location="north"}': '2 0 2 0 2x5 0 2x5 0 2x5 0' },
  },
  {
    name: 'GantryHostDrifted',
    severity: 'ticket',
    expr: () => 'sum by (location) (gantry_fleet_hosts_drifted) > 0',
    forS: 15 * MINUTE,
    summary:
      'A host in {{ $labels.location }} differs from what was accepted and takes no new VMs.',
    fires: { 'gantry_fleet_hosts_drifted{location="north"}': '1x40' },
    labels: { location: 'north' },
    quiet: { 'gantry_fleet_hosts_drifted{location="north"}': '0x40' },
  },
  {
    name: 'GantryStoragePoolProblem',
    severity: 'ticket',
    expr: () => 'max by (location, cluster, pool) (gantry_fleet_storage_pool_problem) > 0',
    forS: 10 * MINUTE,
    summary: 'The storage pool {{ $labels.pool }} in {{ $labels.location }} has a problem.',
    fires: {
      'gantry_fleet_storage_pool_problem{location="north", cluster="main", pool="volumes"}': '1x40',
    },
    labels: { location: 'north', cluster: 'main', pool: 'volumes' },
    quiet: {
      'gantry_fleet_storage_pool_problem{location="north", cluster="main", pool="volumes"}': '0x40',
    },
  },
  {
    name: 'GantryBackupOverdue',
    severity: 'ticket',
    expr: () => 'max by (location) (gantry_fleet_backup_disks{figure="overdue"}) > 0',
    forS: 15 * MINUTE,
    summary: 'The last good backup of a disk in {{ $labels.location }} is too old.',
    fires: { 'gantry_fleet_backup_disks{location="north", figure="overdue"}': '1x40' },
    labels: { location: 'north' },
    quiet: { 'gantry_fleet_backup_disks{location="north", figure="overdue"}': '0x40' },
  },
  {
    name: 'GantryDeviceQuarantined',
    severity: 'ticket',
    expr: () => 'sum by (location, kind) (gantry_fleet_devices{state="quarantined"}) > 0',
    forS: 5 * MINUTE,
    summary:
      'A {{ $labels.kind }} in {{ $labels.location }} was set aside: it is not proven clean.',
    fires: { 'gantry_fleet_devices{location="north", kind="gpu", state="quarantined"}': '1x30' },
    labels: { location: 'north', kind: 'gpu' },
    quiet: { 'gantry_fleet_devices{location="north", kind="gpu", state="ready"}': '8x30' },
  },
  {
    name: 'GantryDeviceMissing',
    severity: 'ticket',
    expr: () => 'sum by (location, kind) (gantry_fleet_devices{state="missing"}) > 0',
    forS: 5 * MINUTE,
    summary: 'A {{ $labels.kind }} in {{ $labels.location }} has disappeared from its host.',
    fires: { 'gantry_fleet_devices{location="north", kind="gpu", state="missing"}': '1x30' },
    labels: { location: 'north', kind: 'gpu' },
    quiet: { 'gantry_fleet_devices{location="north", kind="gpu", state="ready"}': '8x30' },
  },
  {
    name: 'GantryDeviceUnhealthy',
    severity: 'ticket',
    expr: () =>
      'sum by (location, kind, rule) (gantry_fleet_device_problems{severity="block"}) > 0',
    forS: 5 * MINUTE,
    summary:
      'A {{ $labels.kind }} in {{ $labels.location }} takes no new VMs: the health rule {{ $labels.rule }} found a problem.',
    fires: {
      'gantry_fleet_device_problems{location="north", kind="gpu", rule="lost", severity="block"}':
        '1x30',
    },
    labels: { location: 'north', kind: 'gpu', rule: 'lost' },
    quiet: {
      'gantry_fleet_device_problems{location="north", kind="gpu", rule="link", severity="warn"}':
        '1x30',
    },
  },
  {
    name: 'GantryVmsNotPlaced',
    severity: 'page',
    expr: () => 'max by (location) (gantry_fleet_oldest_unplaced_vm_seconds) > 120',
    forS: 2 * MINUTE,
    summary: 'A VM in {{ $labels.location }} has waited for a host for more than two minutes.',
    fires: { 'gantry_fleet_oldest_unplaced_vm_seconds{location="north"}': '121+60x30' },
    labels: { location: 'north' },
    quiet: { 'gantry_fleet_oldest_unplaced_vm_seconds{location="north"}': '30x30' },
  },
  {
    name: 'GantryVmCreationsFail',
    severity: 'page',
    // What a tenant or the lack of capacity causes is not a failure of the installation.
    expr: (d) =>
      'sum(increase(gantry_fleet_vm_operations_total{operation="create", result="failed",' +
      ` reason!~"out_of_stock|address_exhausted|cancelled|host_fenced"}[${d(15 * MINUTE)}])) > 5`,
    forS: MINUTE,
    summary:
      'More than five VMs could not be created within 15 minutes, for reasons of their hosts.',
    fires: {
      'gantry_fleet_vm_operations_total{operation="create", result="failed", reason="host_failed"}':
        '0+1x40',
    },
    labels: {},
    quiet: {
      'gantry_fleet_vm_operations_total{operation="create", result="failed", reason="out_of_stock"}':
        '0+9x40',
    },
  },
  {
    name: 'GantryVmCreationsSlow',
    severity: 'ticket',
    expr: (d) =>
      'histogram_quantile(0.95, sum by (le)' +
      ` (rate(gantry_fleet_vm_time_to_running_seconds_bucket[${d(HOUR)}]))) > 300`,
    forS: 15 * MINUTE,
    summary: 'One VM in twenty needs more than five minutes until it runs.',
    fires: {
      'gantry_fleet_vm_time_to_running_seconds_bucket{le="300"}': '0x100',
      'gantry_fleet_vm_time_to_running_seconds_bucket{le="600"}': '0+1x100',
      'gantry_fleet_vm_time_to_running_seconds_bucket{le="+Inf"}': '0+1x100',
    },
    labels: {},
    quiet: {
      'gantry_fleet_vm_time_to_running_seconds_bucket{le="300"}': '0+1x100',
      'gantry_fleet_vm_time_to_running_seconds_bucket{le="+Inf"}': '0+1x100',
    },
  },
  {
    name: 'GantryOperationsOverdue',
    severity: 'page',
    expr: () => 'max(gantry_fleet_operations_overdue) > 0',
    forS: 5 * MINUTE,
    summary: 'Operations do not end although their deadline has passed.',
    fires: { gantry_fleet_operations_overdue: '1x30' },
    labels: {},
    quiet: { gantry_fleet_operations_overdue: '0x30' },
  },
  {
    name: 'GantryOrphans',
    severity: 'ticket',
    expr: () => 'max(gantry_fleet_orphans) > 0',
    forS: 10 * MINUTE,
    summary:
      'VMs run on hosts that the database does not place there: decide what becomes of them.',
    fires: { gantry_fleet_orphans: '1x30' },
    labels: {},
    quiet: { gantry_fleet_orphans: '0x30' },
  },
  {
    name: 'GantryUsageNotClosed',
    severity: 'ticket',
    // A day is closed a few minutes after midnight.
    expr: () => `time() - max(gantry_fleet_usage_closed_timestamp_seconds) > ${26 * HOUR}`,
    forS: 15 * MINUTE,
    summary: 'The usage of a past day is not final: invoices will be late.',
    fires: { gantry_fleet_usage_closed_timestamp_seconds: `${-27 * HOUR}x40` },
    labels: {},
    quiet: { gantry_fleet_usage_closed_timestamp_seconds: `${-2 * HOUR}x40` },
  },
  {
    name: 'GantryCertificatesExpiring',
    severity: 'ticket',
    expr: () => 'max(gantry_fleet_certificates_expiring) > 0',
    forS: HOUR,
    summary:
      'Hosts have not renewed their certificates in time. When these expire, the hosts are lost.',
    fires: { gantry_fleet_certificates_expiring: '1x120' },
    labels: {},
    quiet: { gantry_fleet_certificates_expiring: '0x120' },
  },
  {
    name: 'GantryAuthorityExpires',
    severity: 'ticket',
    expr: () =>
      `min(gantry_scheduler_authority_expiry_timestamp_seconds) - time() < ${60 * 24 * HOUR}`,
    forS: HOUR,
    summary: "The fleet's authority expires within 60 days. When it does, all hosts are lost.",
    fires: { gantry_scheduler_authority_expiry_timestamp_seconds: `${30 * 24 * HOUR}x120` },
    labels: {},
    quiet: { gantry_scheduler_authority_expiry_timestamp_seconds: `${99 * 24 * HOUR}x120` },
  },
  {
    name: 'GantryAgentDown',
    severity: 'ticket',
    expr: () => `up{${AGENT}} == 0`,
    forS: 10 * MINUTE,
    summary: 'The agent of {{ $labels.instance }} does not reply to Prometheus.',
    fires: { [`up{${AGENT}, instance="h1"}`]: '0x30' },
    labels: { job: 'gantry-agent', instance: 'h1' },
    quiet: { [`up{${AGENT}, instance="h1"}`]: '1x30' },
  },
  {
    name: 'GantryCertificateNotRenewed',
    severity: 'page',
    // An agent renews its certificate when a third of its life is left.
    expr: () =>
      '(gantry_agent_certificate_expiry_timestamp_seconds - time()) / (gantry_agent_certificate_expiry_timestamp_seconds' +
      ' - gantry_agent_certificate_issued_timestamp_seconds) < 0.25',
    forS: 10 * MINUTE,
    summary:
      'The agent of {{ $labels.instance }} cannot renew its certificate. When it expires, the host is lost.',
    fires: {
      [`gantry_agent_certificate_issued_timestamp_seconds{${AGENT}, instance="h1"}`]: `${-80 * 24 * HOUR}x30`,
      [`gantry_agent_certificate_expiry_timestamp_seconds{${AGENT}, instance="h1"}`]: `${10 * 24 * HOUR}x30`,
    },
    labels: { job: 'gantry-agent', instance: 'h1' },
    quiet: {
      [`gantry_agent_certificate_issued_timestamp_seconds{${AGENT}, instance="h1"}`]: `${-50 * 24 * HOUR}x30`,
      [`gantry_agent_certificate_expiry_timestamp_seconds{${AGENT}, instance="h1"}`]: `${40 * 24 * HOUR}x30`,
    },
  },
  {
    name: 'GantryStoragePoolFilling',
    severity: 'page',
    expr: () => 'gantry_host_storage_pool_free_bytes / gantry_host_storage_pool_size_bytes < 0.1',
    forS: 5 * MINUTE,
    summary:
      'Less than 10 % of {{ $labels.pool }} on {{ $labels.instance }} is free. When it is full, VMs stop.',
    fires: {
      [`gantry_host_storage_pool_free_bytes{${AGENT}, instance="h1", pool="/data"}`]: '5x30',
      [`gantry_host_storage_pool_size_bytes{${AGENT}, instance="h1", pool="/data"}`]: '100x30',
    },
    labels: { job: 'gantry-agent', instance: 'h1', pool: '/data' },
    quiet: {
      [`gantry_host_storage_pool_free_bytes{${AGENT}, instance="h1", pool="/data"}`]: '20x30',
      [`gantry_host_storage_pool_size_bytes{${AGENT}, instance="h1", pool="/data"}`]: '100x30',
    },
  },
  {
    name: 'GantryHostMemoryLow',
    severity: 'page',
    expr: () => 'gantry_host_memory_available_bytes < 1073741824',
    forS: 5 * MINUTE,
    summary: '{{ $labels.instance }} has less than 1 GiB of memory left. The kernel may end VMs.',
    fires: { [`gantry_host_memory_available_bytes{${AGENT}, instance="h1"}`]: '5e8x30' },
    labels: { job: 'gantry-agent', instance: 'h1' },
    quiet: { [`gantry_host_memory_available_bytes{${AGENT}, instance="h1"}`]: '5e9x30' },
  },
  {
    name: 'GantryDriveWornOut',
    severity: 'ticket',
    expr: () => 'gantry_host_drive_wear_ratio > 0.9 or gantry_host_drive_critical_warning > 0',
    forS: 30 * MINUTE,
    summary:
      'The drive {{ $labels.address }} of {{ $labels.instance }} is near the end of its life.',
    fires: {
      [`gantry_host_drive_wear_ratio{${AGENT}, instance="h1", kind="drive", address="0000:01:00.0"}`]:
        '0.95x60',
    },
    labels: { job: 'gantry-agent', instance: 'h1', kind: 'drive', address: '0000:01:00.0' },
    quiet: {
      [`gantry_host_drive_wear_ratio{${AGENT}, instance="h1", kind="drive", address="0000:01:00.0"}`]:
        '0.5x60',
    },
  },
];
