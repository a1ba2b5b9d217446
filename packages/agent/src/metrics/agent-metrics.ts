import type { Metrics } from '@gantry/daemon/metrics/metrics';
import { CLOCK_SKEW_MS } from '@gantry/pki/certificate-authority';
import type { AgentFigures } from '../agent.ts';
import { type Identity, validityOf } from '../identity/identity.ts';
import { AGENT_VERSION } from '../inventory/version.ts';

type ObservedAgent = {
  identity: () => Identity;
  isAttached: () => boolean;
  figures: () => AgentFigures;
};

/** Adds what the agent knows about itself. */
export function addAgentMetrics(
  metrics: Metrics,
  { identity, isAttached, figures }: ObservedAgent,
): void {
  metrics.gaugeOf({
    name: 'gantry_agent_build_info',
    help: 'The version of the agent. The value is always 1.',
    labels: ['version'],
    read: () => [{ labels: { version: AGENT_VERSION }, value: 1 }],
  });
  metrics.gaugeOf({
    name: 'gantry_agent_attached',
    help: '1 if a scheduler has accepted the stream of this host, otherwise 0.',
    read: () => (isAttached() ? 1 : 0),
  });
  metrics.gaugeOf({
    name: 'gantry_agent_spec_number',
    help: 'The number of the spec that the agent accepted last.',
    read: () => figures().specNumber,
  });
  metrics.gaugeOf({
    name: 'gantry_agent_spec_refused',
    help: '1 if the agent refuses the newest spec, otherwise 0.',
    read: () => (figures().isRefusing ? 1 : 0),
  });
  metrics.gaugeOf({
    name: 'gantry_agent_vms',
    help: 'VMs that this host should have.',
    read: () => figures().vms,
  });
  metrics.gaugeOf({
    name: 'gantry_agent_certificate_issued_timestamp_seconds',
    help: 'When the certificate of this host was issued, in seconds since 1970.',
    // A certificate is valid from some time before it was issued.
    read: () => (validityOf(identity()).notBeforeMs + CLOCK_SKEW_MS) / 1_000,
  });
  metrics.gaugeOf({
    name: 'gantry_agent_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of this host expires, in seconds since 1970.',
    read: () => validityOf(identity()).notAfterMs / 1_000,
  });
}
