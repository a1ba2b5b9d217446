import type { Schemas } from '@gantry/sdk';
import type { Tone } from '../components/badge.tsx';

export type VmState = Schemas['Vm']['state'];

/** How each state is shown. `STATE_SHUTOFF` is called stopped, because the button is called Stop. */
const STATES: Record<VmState, [label: string, tone: Tone]> = {
  STATE_CREATING: ['Creating', 'busy'],
  STATE_RUNNING: ['Running', 'good'],
  STATE_STOPPING: ['Stopping', 'busy'],
  STATE_SHUTOFF: ['Stopped', 'idle'],
  STATE_STARTING: ['Starting', 'busy'],
  STATE_RESETTING: ['Resetting', 'busy'],
  STATE_CRASHED: ['Crashed', 'bad'],
  STATE_UNREACHABLE: ['Unreachable', 'warn'],
  STATE_ERROR: ['Error', 'bad'],
  STATE_DELETING: ['Deleting', 'busy'],
};

export const VM_STATES = Object.keys(STATES) as VmState[];

/** A newer API may have a state that this page does not know. */
export function describeVmState(state: VmState): { label: string; tone: Tone } {
  const [label, tone] = STATES[state] ?? [state, 'idle' as const];
  return { label, tone };
}
