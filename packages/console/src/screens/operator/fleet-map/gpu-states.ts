import type { GpuState } from './layout.ts';

/** The words for the states of GPUs, in the order in which they are shown. */
export const GPU_STATES: { state: GpuState; label: string; meaning: string }[] = [
  { state: 'free', label: 'Free', meaning: 'A new VM can get it now.' },
  { state: 'sold', label: 'In use', meaning: 'A VM has it.' },
  {
    state: 'cleaning',
    label: 'Being cleaned',
    meaning: 'Its VM has stopped, and it is erased before the next one gets it.',
  },
  {
    state: 'blocked',
    label: 'Blocked',
    meaning: 'No VM can get it: the GPU has a problem, or its host takes no new VMs.',
  },
];

export const labelOf = (state: GpuState): string =>
  GPU_STATES.find((each) => each.state === state)?.label ?? state;
