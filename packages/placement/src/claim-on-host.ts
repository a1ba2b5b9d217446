import { giveShares, takeShares } from './amounts.ts';
import { ChosenPlacement } from './chosen-placement.ts';
import type { Placement } from './host.ts';
import type { HostState } from './host-state.ts';

/** Takes what the placement names from the host. Throws, and changes nothing, if it is not all free. */
export function claimOnHost(state: HostState, placement: Placement): void {
  const { gpus, drives } = ChosenPlacement.masksOn(state, placement);
  if ((state.freeMask & gpus) !== gpus || (state.freeDrives & drives) !== drives)
    throw new Error(`BUG: claim on host ${placement.hostId} names a device that is not free`);
  state.freeMask ^= gpus;
  moveDrives(state, drives);
  state.amounts = takeShares(state.amounts, placement.numaNodes);
}

/** Gives it back. Throws, and changes nothing, if any of it is free already. */
export function releaseOnHost(state: HostState, placement: Placement): void {
  const { gpus, drives } = ChosenPlacement.masksOn(state, placement);
  if (state.freeMask & gpus || state.freeDrives & drives)
    throw new Error(`BUG: release on host ${placement.hostId} names a device that is free`);
  state.freeMask ^= gpus;
  moveDrives(state, drives);
  state.amounts = giveShares(state.amounts, placement.numaNodes);
}

function moveDrives(state: HostState, drives: number): void {
  if (drives === 0) return;
  state.freeDrives ^= drives;
  state.drives = state.driveViews.at(state.freeDrives);
}
