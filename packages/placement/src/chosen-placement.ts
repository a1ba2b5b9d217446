import { idsIn, maskOfIds } from './device-mask.ts';
import type { NodeShare, Placement } from './host.ts';
import type { HostState } from './host-state.ts';

type DeviceMasks = { gpus: number; drives: number };

/**
 * A placement that remembers where on its host the devices are, so that claiming and releasing it
 * need not look for their ids. A copy, or the same placement read from elsewhere, is looked up.
 */
export class ChosenPlacement implements Placement {
  readonly hostId: string;
  readonly gpuIds: readonly string[];
  readonly driveIds: readonly string[];
  readonly numaNodes: readonly NodeShare[];
  readonly #state: HostState;
  readonly #gpus: number;
  readonly #drives: number;

  constructor(state: HostState, masks: DeviceMasks, shares: readonly NodeShare[]) {
    this.hostId = state.host.id;
    this.gpuIds = idsIn(state.gpuIds, masks.gpus);
    this.driveIds = idsIn(state.driveIds, masks.drives);
    this.numaNodes = shares;
    this.#state = state;
    this.#gpus = masks.gpus;
    this.#drives = masks.drives;
  }

  /** Positions hold for the state they were taken from, not for one that replaced it. */
  static masksOn(state: HostState, placement: Placement): DeviceMasks {
    if (#state in placement && placement.#state === state)
      return { gpus: placement.#gpus, drives: placement.#drives };
    return {
      gpus: maskOfIds(state.gpuIds, placement.gpuIds),
      drives: maskOfIds(state.driveIds, placement.driveIds),
    };
  }
}
