import type { Schemas } from '@gantry/sdk';
import type { Tone } from '../../../components/badge.tsx';

export type Rollout = Schemas['Rollout'];
export type RolloutHost = Schemas['RolloutHost'];
type Described = { label: string; tone: Tone };

const STATES: Record<Rollout['state'], Described> = {
  running: { label: 'Running', tone: 'busy' },
  paused: { label: 'Paused', tone: 'warn' },
  cancelling: { label: 'Cancelling', tone: 'busy' },
  cancelled: { label: 'Cancelled', tone: 'idle' },
  completed: { label: 'Completed', tone: 'good' },
  rolling_back: { label: 'Rolling back', tone: 'busy' },
  rolled_back: { label: 'Rolled back', tone: 'idle' },
};

const HOST_STATES: Record<RolloutHost['state'], Described> = {
  pending: { label: 'Waiting', tone: 'idle' },
  updating: { label: 'Updating', tone: 'busy' },
  done: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  skipped: { label: 'Skipped', tone: 'idle' },
  rolling_back: { label: 'Rolling back', tone: 'busy' },
  rolled_back: { label: 'Rolled back', tone: 'idle' },
  roll_back_failed: { label: 'Roll back failed', tone: 'bad' },
};

export const describeRollout = ({ state }: Pick<Rollout, 'state'>) => STATES[state];
export const describeRolloutHost = ({ state }: Pick<RolloutHost, 'state'>) => HOST_STATES[state];

/** The waves as people count them. The first one has the canaries. */
export function waveText({ wave, last_wave }: Pick<Rollout, 'wave' | 'last_wave'>): string {
  const number = `${wave + 1} of ${last_wave + 1}`;
  return wave === 0 ? `${number} (canaries)` : number;
}

/** The hosts that need nothing more, and all of them. */
export function progressOf({ hosts }: Pick<Rollout, 'hosts'>): { ended: number; all: number } {
  const all = Object.values(hosts).reduce((sum, count) => sum + count, 0);
  return { ended: all - hosts.pending - hosts.updating - hosts.rolling_back, all };
}

/** The states that hosts are in, such as "2 updating, 10 done". */
export function countsText({ hosts }: Pick<Rollout, 'hosts'>): string {
  const states = Object.keys(HOST_STATES) as RolloutHost['state'][];
  return states
    .filter((state) => hosts[state] > 0)
    .map((state) => `${hosts[state]} ${HOST_STATES[state].label.toLowerCase()}`)
    .join(', ');
}
