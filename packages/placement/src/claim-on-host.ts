import { giveShares, takeShares } from './amounts.ts';
import { ChosenPlacement } from './chosen-placement.ts';
import type { Placement } from './host.ts';
import type { HostState } from './host-state.ts';

/** Claims the devices and amounts of the placement. Throws without a change unless all are free. */
export function claimOnHost(state: HostState, placement: Placement): void {
  const { gpus, companions } = ChosenPlacement.masksOn(state, placement);
  const areFree =
    (state.freeMask & gpus) === gpus && (state.freeCompanions & companions) === companions;
  if (!areFree)
    throw new Error(`BUG: a claim on host ${placement.hostId} names a device that is not free`);
  state.freeMask ^= gpus;
  moveCompanions(state, companions);
  state.amounts = takeShares(state.amounts, placement.numaNodes);
  state.freeStorageGib -= placement.newDisksGib ?? 0;
}

/** Reverses `claimOnHost`. Throws without a change if one of the devices is free already. */
export function releaseOnHost(state: HostState, placement: Placement): void {
  const { gpus, companions } = ChosenPlacement.masksOn(state, placement);
  if (state.freeMask & gpus || state.freeCompanions & companions)
    throw new Error(`BUG: a release on host ${placement.hostId} names a device that is free`);
  state.freeMask ^= gpus;
  moveCompanions(state, companions);
  state.amounts = giveShares(state.amounts, placement.numaNodes);
  state.freeStorageGib += placement.newDisksGib ?? 0;
}

function moveCompanions(state: HostState, companions: number): void {
  if (companions === 0) return;
  state.freeCompanions ^= companions;
  state.companions = state.companionViews.at(state.freeCompanions);
}
