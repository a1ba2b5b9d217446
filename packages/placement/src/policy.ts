import type { PlacementHost, PlacementRequest } from './host.ts';

/**
 * What a request may ask for beyond fitting: spread, anti-affinity, a tenant's own hosts. A policy
 * sees each host that fits, as it was put in the index; how the host is packed is not its business.
 */
export type Policy = {
  /** Stands among the reasons when no host is left. */
  name: string;
  /** False: not there. */
  allows?: (host: PlacementHost, request: PlacementRequest) => boolean;
  /** Comes before the packing score; less is better. Makes the decision look at every fitting host. */
  penalty?: (host: PlacementHost, request: PlacementRequest) => number;
};
