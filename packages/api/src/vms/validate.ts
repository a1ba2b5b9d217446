import type { Queryable, Sql } from '@gantry/db/connect';
import { readOffers } from '@gantry/db/queries/catalogue/availabilities';
import { listAvailabilities } from '@gantry/db/queries/catalogue/catalogue';
import { listPrices } from '@gantry/db/queries/catalogue/prices';
import type { WriteRecord } from '@gantry/db/queries/operations/records';
import { readPlacementHosts } from '@gantry/db/queries/placement/placement-hosts';
import { listDiskPlaces } from '@gantry/db/queries/vms/new-vm-disks';
import { transact } from '@gantry/db/transact';
import { OS_DISK_GIB } from '@gantry/model/disk-size';
import { explainHost } from '@gantry/placement/explain-host';
import { hostsFromRows } from '@gantry/placement/hosts-from-rows';
import { requestFor } from '@gantry/placement/request-for';
import type { z } from '@hono/zod-openapi';
import { whyNoneFits } from '../catalogue/why-none-fits.ts';
import { CreateDisk } from '../disks/schema.ts';
import { sizeGib } from '../disks/size.ts';
import { createVm } from './create.ts';
import type { VmEstimate } from './schema.ts';

type Creation = Parameters<typeof createVm>[0];
type Body = Creation['body'];
type Estimate = z.output<typeof VmEstimate>;
type Check = Omit<Creation, 'sql' | 'record'> & {
  sql: Sql;
  /** Returns the records of the request, which are rolled back too. */
  record: (estimate: Estimate) => WriteRecord;
};

/** Ends a transaction that must not be committed. */
class DryRun extends Error {}

/**
 * Throws the error that the creation of the VM would have, or returns what it would cost and whether it fits now. The
 * VM is created in a transaction that is rolled back, so that every check of a creation is made, also those of the
 * database.
 */
export async function validateVm({ sql, record, ...creation }: Check): Promise<Estimate> {
  const estimate = await estimateVm(sql, creation.body);
  try {
    await transact(sql, async (tx) => {
      await createVm({ sql: tx, ...creation, record: () => record(estimate) });
      throw new DryRun();
    });
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
  }
  return estimate;
}

async function estimateVm(sql: Queryable, body: Body): Promise<Estimate> {
  const charges = await chargesOf(sql, body);
  return {
    ...(await fitOf(sql, body)),
    usd_per_hour: dollars(charges.reduce((sum, charge) => sum + charge.usd_per_hour, 0)),
    priced: charges.every(({ priced }) => priced),
    charges,
  };
}

/** The disks that the request creates. */
function newDisks({ disks = [], location }: Body) {
  return disks.flatMap(({ disk_id, mode: _, ...disk }) =>
    disk_id === undefined ? [CreateDisk.parse({ ...disk, location })] : [],
  );
}

/** What the request adds to what the organization pays: existing disks are charged already. */
async function chargesOf(sql: Queryable, body: Body) {
  const prices = new Map(
    (await listPrices(sql)).map(({ resource_type, usd_per_hour }) => [resource_type, usd_per_hour]),
  );
  const disks = newDisks(body).map(({ type, size }) => [type, sizeGib(size)] as const);
  return [[body.type, 1] as const, ...disks].map(([resource_type, quantity]) => {
    const price = prices.get(resource_type);
    const usd_per_hour = dollars((price ?? 0) * quantity);
    return { resource_type, quantity, usd_per_hour, priced: price !== undefined };
  });
}

/** Prices have eight decimals. */
const dollars = (amount: number) => Number(amount.toFixed(8));

type Fit = { fits: boolean; reason: string };

/**
 * Reads what the scheduler has recorded for the type, which costs the same for any number of hosts. Only a VM whose
 * disks are stored on one host is compared with that host.
 */
async function fitOf(sql: Queryable, body: Body): Promise<Fit> {
  const { type, location, disks = [] } = body;
  const diskIds = disks.flatMap(({ disk_id }) => disk_id ?? []);
  const places = diskIds.length > 0 ? await listDiskPlaces(sql, diskIds) : [];
  const home = places.find((place) => place.host_id !== null && !place.shared_storage)?.host_id;
  if (home) return await fitOn(sql, home, body);
  const [recorded] = await listAvailabilities(sql, { type, location });
  if (recorded?.available) return { fits: true, reason: '' };
  return { fits: false, reason: whyNoneFits(recorded?.lacking ?? '') };
}

async function fitOn(sql: Queryable, hostId: string, body: Body): Promise<Fit> {
  const { type, location } = body;
  const [offer] = await readOffers(sql, [location]);
  const amounts = offer?.types.find(({ name }) => name === type);
  const [host] = hostsFromRows(await readPlacementHosts(sql, { location, hostIds: [hostId] }));
  const stored = newDisks(body).filter((disk) => disk.type !== 'shared-volume');
  const newGib = stored.reduce((sum, { size }) => sum + sizeGib(size), OS_DISK_GIB);
  const explained =
    host && amounts && explainHost(host, requestFor(location, amounts, { newDisksGib: newGib }));
  if (explained && 'placement' in explained) return { fits: true, reason: '' };
  const reason = 'the host that stores the disks has no room for the VM: try again later';
  return { fits: false, reason };
}
