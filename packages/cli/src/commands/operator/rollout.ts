import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Schemas } from '@gantry/sdk';
import type { CliContext } from '../../cli-context.ts';
import { startProgress } from '../../terminal/progress.ts';
import type { Style } from '../../terminal/style.ts';
import type { Column } from '../../terminal/table.ts';
import { whileInterruptible } from '../../terminal/while-interruptible.ts';
import { showTags } from '../tags.ts';

export type Rollout = Schemas['Rollout'];
type RolloutHost = Schemas['RolloutHost'];

const STYLES: Record<Rollout['state'], Style> = {
  ...({ running: 'bold', paused: 'yellow', cancelling: 'yellow', cancelled: 'dim' } as const),
  ...({ completed: 'green', rolling_back: 'yellow', rolled_back: 'dim' } as const),
};

export const rolloutColumns: readonly Column<Rollout>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'STATE', value: stateText, style: ({ state }) => STYLES[state] },
  { title: 'WAVE', value: waveText },
  { title: 'HOSTS', value: ({ hosts }) => countsText(hosts) },
  { title: 'CREATED', value: ({ created_at }) => created_at.slice(0, 16), isExtra: true },
];

export const rolloutHostColumns: readonly Column<RolloutHost>[] = [
  { title: 'HOST', value: ({ name }) => name },
  { title: 'WAVE', value: ({ wave }) => String(wave) },
  { title: 'STATE', value: stateText },
  { title: 'FROM', value: ({ from_version }) => from_version },
  { title: 'NOW', value: ({ agent_version }) => agent_version },
  { title: 'REASON', value: ({ reason }) => reason },
];

/** `rolling_back` is `rolling back` for people. */
function stateText({ state }: { state: string }): string {
  return state.replaceAll('_', ' ');
}

function waveText({ wave, last_wave }: Rollout): string {
  return `${wave} of ${last_wave}`;
}

/** The states that hosts are in: `2 updating, 10 done`. */
function countsText(hosts: Rollout['hosts']): string {
  return Object.entries(hosts)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`)
    .join(', ');
}

export function rolloutFields(rollout: Rollout) {
  return [
    ['Id', rollout.id],
    ['Version', rollout.version],
    ['State', stateText(rollout)],
    ['Reason', rollout.state_reason],
    ['Wave', waveText(rollout)],
    ['Hosts', countsText(rollout.hosts)],
    ['Labels', showTags(rollout.labels)],
    ['Canaries', String(rollout.canary_count)],
    ['Batch size', String(rollout.batch_size)],
    ['Time limit', `${rollout.host_time_limit_seconds} s`],
    ['Max failures', String(rollout.max_failures)],
    ['Created', rollout.created_at],
    ['Ended', rollout.ended_at],
  ] as const;
}

const POLL_MS = 1_000;
/** The states in which something happens without an operator. */
const ACTIVE: readonly Rollout['state'][] = ['running', 'cancelling', 'rolling_back'];

/** Shows the progress of a rollout until it has ended or is paused. */
export async function followRollout(
  cli: CliContext,
  client: Client,
  rollout: Rollout,
): Promise<Rollout> {
  const { id: rollout_id } = rollout;
  const advice = `stopped waiting. The rollout goes on: gantry rollout show ${rollout_id}`;
  const progress = startProgress(cli);
  let shown = '';
  const show = (current: Rollout) => {
    const text = `${current.version}: ${stateText(current)}, wave ${waveText(current)}: ${countsText(current.hosts)}`;
    if (text !== shown) progress.show(text);
    shown = text;
  };
  return await whileInterruptible(advice, async (signal) => {
    try {
      let current = rollout;
      show(current);
      while (ACTIVE.includes(current.state)) {
        await pause(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
        current = await client.adminRollouts.get({ rollout_id }, { signal });
        show(current);
      }
      return current;
    } finally {
      progress.end();
    }
  });
}
