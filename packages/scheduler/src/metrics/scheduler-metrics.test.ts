import { Metrics } from '@gantry/daemon/metrics/metrics';
import { expect, it } from 'vitest';
import { AttachedHosts } from '../attached/attached-hosts.ts';
import type { HostStream } from '../fleet/host-stream.ts';
import { addSchedulerMetrics } from './scheduler-metrics.ts';

const streamOf = (hostId: string) => ({ hostId }) as HostStream;

it('counts hosts by the version of their agent, specs without a reply and leases', async () => {
  const hosts = new AttachedHosts();
  for (const [id, version] of [
    ['a', '0.1.0'],
    ['b', '0.2.0'],
    ['c', '0.2.0'],
  ] as const)
    hosts.add(streamOf(id), '1').agentVersion = version;
  const [slow] = [...hosts.values()];
  slow?.sent.record({ era: 1, number: 7, hash: 'h' });
  const metrics = new Metrics();
  addSchedulerMetrics(metrics, {
    hosts,
    locations: () => ['north'],
    authorityExpiresMs: () => 5_000,
  });
  const lines = async () =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('gantry_'));
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'gantry_scheduler_streams{agent_version="0.1.0"} 1',
      'gantry_scheduler_streams{agent_version="0.2.0"} 2',
      'gantry_scheduler_lease_held{location="north"} 1',
      'gantry_scheduler_unacknowledged_specs 1',
      'gantry_scheduler_authority_expiry_timestamp_seconds 5',
    ]),
  );
  slow?.sent.acknowledge({ number: '7', hash: 'h' });
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'gantry_scheduler_unacknowledged_specs 0',
      'gantry_scheduler_oldest_unacknowledged_spec_seconds 0',
    ]),
  );
});
