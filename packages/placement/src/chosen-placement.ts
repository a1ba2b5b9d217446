import type { NodeShare, Placement } from './host.ts';
import type { HostState } from './host-state.ts';
import { idsIn, maskOfIds } from './layout/device-mask.ts';

type DeviceMasks = { gpus: number; companions: number };

/**
 * A placement that keeps the device positions on its host as bit masks, so that a claim or a release
 * does not search for device ids. For a copy, or for a placement from another source, the masks are
 * computed from the ids.
 */
export class ChosenPlacement implements Placement {
  readonly hostId: string;
  readonly gpuIds: readonly string[];
  readonly companionIds: readonly string[];
  readonly numaNodes: readonly NodeShare[];
  readonly newDisksGib: number;
  readonly #state: HostState;
  readonly #gpus: number;
  readonly #companions: number;

  constructor(
    state: HostState,
    masks: DeviceMasks,
    { shares, newDisksGib }: { shares: readonly NodeShare[]; newDisksGib: number },
  ) {
    this.hostId = state.host.id;
    this.gpuIds = idsIn(state.gpuIds, masks.gpus);
    this.companionIds = idsIn(state.companionIds, masks.companions);
    this.numaNodes = shares;
    this.newDisksGib = newDisksGib;
    this.#state = state;
    this.#gpus = masks.gpus;
    this.#companions = masks.companions;
  }

  /** The kept masks are valid only for the state that they were computed from. */
  static masksOn(state: HostState, placement: Placement): DeviceMasks {
    if (#state in placement && placement.#state === state)
      return { gpus: placement.#gpus, companions: placement.#companions };
    return {
      gpus: maskOfIds(state.gpuIds, placement.gpuIds),
      companions: maskOfIds(state.companionIds, placement.companionIds),
    };
  }
}
