// The dashboards for Grafana: rows of panels, each with a title, a unit of Grafana and one query per line.

const API = 'job="gantry-api"';
const rate = (metric, by) => `sum by (${by}) (rate(${metric}[$__rate_interval]))`;
const quantile = (q, histogram, by = '') =>
  `histogram_quantile(${q}, ${rate(`${histogram}_bucket`, ['le', by].filter((one) => one).join(', '))})`;
const ofAgents = (expr) => expr.replaceAll('HOST', '{instance=~"$host"}');

export const DASHBOARDS = [
  {
    file: 'gantry-fleet.json',
    uid: 'gantry-fleet',
    title: 'Gantry: fleet',
    panels: [
      panel('GPUs by use', 'short', {
        '{{model}} {{use}}': 'sum by (model, use) (gantry_fleet_gpus)',
      }),
      panel('Free GPUs that are fragmented', 'percentunit', {
        '{{location}} {{model}}':
          '1 - gantry_fleet_gpus_free_on_whole_hosts / on (location, model) (gantry_fleet_gpus{use="free"} > 0)',
      }),
      panel('VMs that still fit, by type (counted to 100)', 'short', {
        '{{location}} {{vm_type}}': 'gantry_fleet_vms_placeable',
      }),
      panel('VMs by state', 'short', { '{{state}}': 'sum by (state) (gantry_fleet_vms)' }),
      panel('VMs without a host', 'short', { '{{location}}': 'gantry_fleet_vms_unplaced' }),
      panel('Longest wait for a host', 's', {
        '{{location}}': 'gantry_fleet_oldest_unplaced_vm_seconds',
      }),
      panel('Creations by result', 'ops', {
        '{{result}} {{reason}}': rate(
          'gantry_fleet_vm_operations_total{operation="create"}',
          'result, reason',
        ),
      }),
      panel('Time until a VM runs', 's', {
        median: quantile(0.5, 'gantry_fleet_vm_time_to_running_seconds'),
        '95 %': quantile(0.95, 'gantry_fleet_vm_time_to_running_seconds'),
      }),
      panel('Hosts by state', 'short', {
        '{{state}} {{admin_state}}': 'sum by (state, admin_state) (gantry_fleet_hosts)',
      }),
      panel('Hosts that need attention', 'short', {
        'troubled: {{reason}}': 'sum by (reason) (gantry_fleet_hosts_troubled)',
        drifted: 'sum(gantry_fleet_hosts_drifted)',
        behind: 'sum(gantry_fleet_hosts_behind)',
        'certificate expires': 'sum(gantry_fleet_certificates_expiring)',
      }),
      panel('Devices that no VM can get', 'short', {
        '{{kind}} {{state}}': 'sum by (kind, state) (gantry_fleet_devices{state!="ready"})',
        '{{kind}} kept by an operator': 'sum by (kind) (gantry_fleet_devices_set_aside)',
        '{{kind}}: {{rule}}':
          'sum by (kind, rule) (gantry_fleet_device_problems{severity="block"})',
      }),
      panel('Versions of agents', 'short', {
        '{{agent_version}}': 'sum by (agent_version) (gantry_scheduler_streams)',
      }),
    ],
  },
  {
    file: 'gantry-control-plane.json',
    uid: 'gantry-control-plane',
    title: 'Gantry: control plane',
    panels: [
      panel('Requests by status', 'reqps', {
        '{{status}}': rate('gantry_http_requests_total', 'status'),
      }),
      panel('Duration of requests', 's', {
        median: quantile(0.5, 'gantry_http_request_duration_seconds'),
        '99 %': quantile(0.99, 'gantry_http_request_duration_seconds'),
      }),
      panel('Requests that run and wait', 'short', {
        '{{instance}} {{state}}': 'gantry_api_requests',
      }),
      panel('Event streams', 'short', { '{{instance}}': 'gantry_api_event_streams' }),
      panel('Streams of hosts', 'short', {
        '{{instance}}': 'sum by (instance) (gantry_scheduler_streams)',
      }),
      panel('Leases', 'short', {
        '{{location}} {{instance}}': 'gantry_scheduler_lease_held',
      }),
      panel('Specs that hosts have not acknowledged', 'short', {
        '{{instance}}': 'gantry_scheduler_unacknowledged_specs',
      }),
      panel('Slowest acknowledgement', 's', {
        '{{instance}}': 'gantry_scheduler_oldest_unacknowledged_spec_seconds',
      }),
      panel('Time to settle a report, 99 %', 's', {
        '{{instance}}': quantile(
          0.99,
          'gantry_scheduler_report_settle_duration_seconds',
          'instance',
        ),
      }),
      panel('Reports that wait', 'short', { '{{instance}}': 'gantry_scheduler_unsettled_reports' }),
      panel('Operations', 'short', {
        unfinished: 'sum(gantry_fleet_operations_unfinished)',
        overdue: 'sum(gantry_fleet_operations_overdue)',
      }),
      panel('Consoles', 'short', { '{{instance}}': 'gantry_scheduler_consoles' }),
      panel('Reply of the database, 99 %', 's', {
        '{{job}} {{instance}}': quantile(
          0.99,
          'gantry_database_probe_duration_seconds',
          'job, instance',
        ),
      }),
      panel('Connections to the database', 'short', {
        '{{job}} {{instance}} {{state}}': 'gantry_database_connections',
      }),
      panel('Lag of the event loop, 99 %', 's', {
        '{{job}} {{instance}}': quantile(0.99, 'gantry_event_loop_lag_seconds', 'job, instance'),
      }),
      panel('CPU', 'percentunit', {
        '{{job}} {{instance}}':
          'rate(process_cpu_seconds_total{job=~"gantry-api|gantry-scheduler"}[$__rate_interval])',
      }),
      panel('Memory', 'bytes', {
        '{{job}} {{instance}}': 'process_resident_memory_bytes{job=~"gantry-api|gantry-scheduler"}',
      }),
      panel('Memory of objects', 'bytes', {
        '{{instance}}': `nodejs_heap_size_used_bytes{${API}}`,
      }),
    ],
  },
  {
    file: 'gantry-hosts.json',
    uid: 'gantry-hosts',
    title: 'Gantry: hosts',
    host: 'label_values(gantry_agent_build_info, instance)',
    panels: [
      panel('Attached', 'short', { '{{instance}}': ofAgents('gantry_agent_attachedHOST') }),
      panel('VMs', 'short', { '{{instance}}': ofAgents('gantry_agent_vmsHOST') }),
      panel('CPU in use', 'percentunit', {
        '{{instance}}': ofAgents(
          '1 - sum by (instance) (rate(gantry_host_cpu_seconds_total{mode=~"idle|iowait", instance=~"$host"}[$__rate_interval]))' +
            ' / sum by (instance) (rate(gantry_host_cpu_seconds_totalHOST[$__rate_interval]))',
        ),
      }),
      panel('Memory that is left', 'bytes', {
        '{{instance}}': ofAgents('gantry_host_memory_available_bytesHOST'),
      }),
      panel('Storage that is free', 'percentunit', {
        '{{instance}} {{pool}}': ofAgents(
          'gantry_host_storage_pool_free_bytesHOST / gantry_host_storage_pool_size_bytesHOST',
        ),
      }),
      panel('Wear of drives', 'percentunit', {
        '{{instance}} {{address}}': ofAgents('gantry_host_drive_wear_ratioHOST'),
      }),
      panel('Temperature of GPUs that no VM has', 'celsius', {
        '{{instance}} {{address}}': ofAgents('gantry_host_gpu_temperature_celsiusHOST'),
      }),
      panel('Traffic of NICs', 'Bps', {
        '{{instance}} {{nic}} in': ofAgents(
          'rate(gantry_host_nic_receive_bytes_totalHOST[$__rate_interval])',
        ),
        '{{instance}} {{nic}} out': ofAgents(
          'rate(gantry_host_nic_transmit_bytes_totalHOST[$__rate_interval])',
        ),
      }),
      panel('PCIe errors', 'ops', {
        '{{instance}} {{address}} {{severity}}': ofAgents(
          'rate(gantry_host_pcie_errors_totalHOST[$__rate_interval]) > 0',
        ),
      }),
      panel('Findings about devices', 'short', {
        '{{instance}} {{address}}': ofAgents('gantry_host_device_warningsHOST > 0'),
      }),
      panel('Days until the certificate expires', 'd', {
        '{{instance}}': ofAgents(
          '(gantry_agent_certificate_expiry_timestamp_secondsHOST - time()) / 86400',
        ),
      }),
    ],
  },
];

function panel(title, unit, queries) {
  return { title, unit, queries };
}
