import type { CliContext } from '../cli-context.ts';
import { readConfig } from '../config/config-file.ts';
import {
  type Connection,
  connect,
  connectToProject,
  type ProjectConnection,
} from '../config/connect.ts';

/** Returns what a shell may complete an argument with. */
export type Propose = (this: CliContext, partial: string) => Promise<readonly string[]>;

/** A shell waits for its completions, so a slow server has none. */
const PATIENCE_MS = 2_000;

type Named = { name: string };
type Read<Used, Item> = (
  connection: Used,
  options: { signal: AbortSignal },
) => PromiseLike<{ items: readonly Item[] }>;

function namesFromApi<Item>(
  read: Read<ProjectConnection, Item>,
  nameOf: (item: Item) => string,
): Propose {
  return async function () {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const connection = await connectToProject(this, { context: undefined, signal });
    return [...new Set((await read(connection, { signal })).items.map(nameOf))];
  };
}

const name = (item: Named) => item.name;

/** Names that belong to no project. */
function namesFromServer(read: Read<Connection, Named>): Propose {
  return async function () {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const connection = await connect(this, { context: undefined });
    return (await read(connection, { signal })).items.map(name);
  };
}

export const vmNames = namesFromApi(
  ({ client, project_id }, options) => client.vms.list({ project_id, limit: 1000 }, options),
  name,
);
export const diskNames = namesFromApi(
  ({ client, project_id }, options) => client.disks.list({ project_id }, options),
  name,
);
export const snapshotNames = namesFromApi(
  ({ client, project_id }, options) => client.snapshots.list({ project_id }, options),
  name,
);
export const backupNames = namesFromApi(
  ({ client, project_id }, options) => client.backups.list({ project_id }, options),
  name,
);
export const networkNames = namesFromApi(
  ({ client, project_id }, options) => client.networks.list({ project_id }, options),
  name,
);
export const subnetNames = namesFromApi(
  ({ client, project_id }, options) => client.subnets.list({ project_id }, options),
  name,
);
export const addressNames = namesFromApi(
  ({ client, project_id }, options) => client.publicAddresses.list({ project_id }, options),
  name,
);
/** The keys of the project and those of the user, which an access key does not have. */
export const sshKeyNames = namesFromApi(async ({ client, project_id }, options) => {
  const own = client.userSshKeys.list({}, options).then(
    ({ items }) => items,
    () => [],
  );
  const { items } = await client.sshKeys.list({ project_id }, options);
  return { items: [...items, ...(await own)] };
}, name);
export const accessKeyNames = namesFromApi(
  ({ client, project_id }, options) => client.accessKeys.list({ project_id }, options),
  name,
);
export const firewallRuleNames = namesFromApi(
  ({ client, project_id }, options) => client.firewallRules.list({ project_id }, options),
  name,
);
export const webhookNames = namesFromApi(
  ({ client, project_id }, options) => client.webhooks.list({ project_id }, options),
  name,
);
export const projectNames = namesFromServer(async ({ client }, options) => ({
  items: await client.projects.list({}, options),
}));
export const hostNames = namesFromServer(({ client }, options) =>
  client.adminHosts.list({ limit: 1000 }, options),
);
export const organizationNames = namesFromServer(({ client }, options) =>
  client.adminOrganizations.list({ limit: 1000 }, options),
);
export const storageClusterNames = namesFromServer(({ client }, options) =>
  client.adminStorageClusters.list({ limit: 1000 }, options),
);
export const storagePoolNames = namesFromServer(({ client }, options) =>
  client.adminStoragePools.list({ limit: 1000 }, options),
);
export const imageNames = namesFromApi(
  ({ client, project_id }, options) => client.images.list({ project_id }, options),
  name,
);
export const locationNames = namesFromApi(
  ({ client }, options) => client.locations.list({}, options),
  name,
);
export const typeNames = namesFromApi(
  ({ client, project_id }, options) => client.specs.list({ project_id }, options),
  ({ product_name }) => product_name,
);

export const contextNames: Propose = async function () {
  return Object.keys((await readConfig(this.process.env)).contexts);
};
