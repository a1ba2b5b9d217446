import type { HostSpecRow } from '@gantry/db/queries/hosts/host-specs';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { toOutgoingSpec } from '@gantry/scheduler/deliver/host-spec';
import { toWholeSpec } from '@gantry/scheduler/fleet/outgoing-spec';

/** Returns the spec as an agent sees it that has all its pieces. */
export function toHostSpec(row: HostSpecRow): HostSpec {
  return toWholeSpec(toOutgoingSpec(row, { consoles: [], authoritySha256s: [] }));
}
