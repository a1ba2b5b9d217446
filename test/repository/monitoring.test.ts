import { expect, it } from 'vitest';

const script = new URL('../../scripts/monitoring.mjs', import.meta.url).href;
const { findMissingRunbooks, findUnknownMetrics, findUnlistedMetrics } = await import(script);

const sources = [
  "metrics.gaugeOf({ name: 'gantry_hosts', help: '' })",
  "metrics.histogram({\n    name: 'gantry_wait_seconds',",
];

it('a query that names a metric that no process has is found', () => {
  const uses = ['gantry_hosts', 'gantry_wait_seconds_bucket', 'gantry_hosts_total'];
  expect(findUnknownMetrics({ sources, uses })).toEqual([
    'gantry_hosts_total is in a rule or a dashboard, and no process has it',
  ]);
});

it('the suffixes of histograms do not exist for other metrics', () => {
  expect(findUnknownMetrics({ sources, uses: ['gantry_hosts_bucket'] })).toHaveLength(1);
});

it('an alert without a runbook and a runbook without an alert are found', () => {
  const page = '# Alerts\n\n### HostLost\n\n### Gone\n';
  expect(findMissingRunbooks({ alerts: ['HostLost', 'DiskFull'], page })).toEqual([
    'DiskFull has no runbook',
    'Gone is no alert',
  ]);
});

it('a metric that the documentation does not list is found', () => {
  expect(findUnlistedMetrics({ sources, page: '| `gantry_hosts` |' })).toEqual([
    'docs/operators/monitoring.md does not list gantry_wait_seconds',
  ]);
});
