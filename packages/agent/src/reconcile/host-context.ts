import type { Log } from '@gantry/daemon/log';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import type { Clock } from '../base/clock.ts';
import type { Timings } from '../base/timings.ts';
import type { HostDriver } from '../host-driver.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ImageTransfers } from '../link/image-transfers.ts';
import type { HostFirewall } from './host-firewall.ts';

/** What all workers of a host share. */
export type HostContext = {
  readonly driver: HostDriver;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly timings: Timings;
  readonly log: Log;
  readonly hostBootId: string;
  readonly firewall: HostFirewall;
  /** Returns the id of the unfinished operation of a VM, for logs and traces. */
  readonly operationOf: (vmId: string) => string | undefined;
  /** Null: no traces. */
  readonly tracer: Tracer | null;
  /** Null: the agent cannot send images. */
  readonly transfers: ImageTransfers | null;
  /** Called when a report may have changed. */
  readonly changed: () => void;
};
