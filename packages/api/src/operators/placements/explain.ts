import type { Queryable } from '@gantry/db/connect';
import {
  type OfferedType,
  osDiskOf,
  readOffers,
} from '@gantry/db/queries/catalogue/availabilities';
import { isTypeOffered } from '@gantry/db/queries/catalogue/catalogue';
import {
  type PlacementHostRows,
  readPlacementHosts,
} from '@gantry/db/queries/placement/placement-hosts';
import { CloudError, notFound } from '@gantry/model/errors';
import { chooseHost, countFilters, type FilterCount } from '@gantry/placement/choose-host';
import { explainHosts, type HostExplanation } from '@gantry/placement/explain-host';
import type { Placement } from '@gantry/placement/host';
import { newHostIndex } from '@gantry/placement/host-index';
import { hostsFromRows } from '@gantry/placement/hosts-from-rows';
import { requestFor } from '@gantry/placement/request-for';
import { requireLocations } from '../../catalogue/change-locations.ts';

export type Explanation = {
  placement: Placement | null;
  filters: FilterCount[];
  explanations: { hostId: string; explanation: HostExplanation }[];
  /** The rows with the names and addresses of the hosts and devices. */
  rows: PlacementHostRows;
};

/** More hosts than an operator reads. The counts of the filters include all hosts. */
const MOST_HOSTS = 1_000;

type Question = { type: string; location: string; hostId: string | null };

/** Returns what the scheduler would do with a new VM now, and why. Changes nothing. */
export async function explainPlacement(sql: Queryable, question: Question): Promise<Explanation> {
  const { location, hostId } = question;
  const type = await requireOfferedType(sql, question);
  const rows = await readPlacementHosts(sql, { location, hostIds: null });
  const request = requestFor(location, type, osDiskOf(type));
  const hosts = hostsFromRows(rows);
  const index = newHostIndex();
  for (const host of hosts) index.put(host);
  const choice = chooseHost(index, request);
  const asked =
    hostId === null
      ? hosts.slice(0, MOST_HOSTS)
      : hostsFromRows(await requireHost(sql, hostId, rows));
  return {
    placement: 'reasons' in choice ? null : choice,
    filters: countFilters(index, request),
    explanations: explainHosts(asked, request),
    rows,
  };
}

/**
 * Returns the rows of one host, which may be in another location, and adds it to `rows` for its
 * name.
 */
async function requireHost(
  sql: Queryable,
  hostId: string,
  rows: PlacementHostRows,
): Promise<PlacementHostRows> {
  const own = await readPlacementHosts(sql, { location: null, hostIds: [hostId] });
  if (own.hosts.length === 0) throw notFound('host');
  if (!rows.hosts.some(({ id }) => id === hostId)) rows.hosts.push(...own.hosts);
  return own;
}

async function requireOfferedType(
  sql: Queryable,
  { type, location }: Question,
): Promise<OfferedType> {
  const { known } = await isTypeOffered(sql, { type, location });
  if (!known)
    throw new CloudError(
      'unknown_type',
      `there is no VM type "${type}": see GET /v0.1/admin/vm-types`,
    );
  await requireLocations(sql, [location]);
  const [offer] = await readOffers(sql, [location]);
  const found = offer?.types.find(({ name }) => name === type);
  if (!found)
    throw new CloudError(
      'type_not_in_location',
      `the VM type "${type}" is not offered in "${location}": see GET /v0.1/admin/vm-types`,
    );
  return found;
}
