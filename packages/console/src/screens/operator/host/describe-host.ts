import type { Schemas } from '@gantry/sdk';
import type { Tone } from '../../../components/badge.tsx';

type Host = Pick<
  Schemas['Host'],
  'state' | 'admin_state' | 'connected' | 'drift' | 'trouble' | 'fenced_at'
>;

/** The state of a host in a few words, the most serious first. */
export function describeHost(host: Host): { label: string; tone: Tone } {
  if (host.state === 'fenced' || host.fenced_at !== '')
    return { label: 'Declared dead', tone: 'bad' };
  if (host.state === 'unreachable') return { label: 'Unreachable', tone: 'bad' };
  if (!host.connected) return { label: 'Not connected', tone: 'bad' };
  if (host.trouble !== '') return { label: 'In trouble, takes no new VMs', tone: 'warn' };
  if (host.drift.length > 0) return { label: 'Changed, takes no new VMs', tone: 'warn' };
  if (host.admin_state === 'draining') return { label: 'Draining, takes no new VMs', tone: 'warn' };
  if (host.admin_state === 'cordoned') return { label: 'Cordoned, takes no new VMs', tone: 'idle' };
  return { label: 'Ready', tone: 'good' };
}
