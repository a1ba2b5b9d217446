import type { Schemas } from '@gantry/sdk';
import { UsageError } from '../../cli-errors.ts';
import type { ProjectConnection } from '../../config/connect.ts';
import { findByName, isId } from '../find-by-name.ts';
import { findVm } from '../vm/vm.ts';

type Endpoint = Schemas['FirewallRuleEndpoint'];

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
const CIDR = /^\d+\.\d+\.\d+\.\d+(?:\/\d+)?$/;

/** An end of a rule as it is typed: an address or a block, `vm:NAME`, `subnet:NAME`, `network:NAME`, or an id. */
export async function parseEndpoint(
  connection: ProjectConnection,
  flag: string,
  typed: string,
): Promise<Endpoint> {
  if (CIDR.test(typed)) return { cidr: typed };
  if (isId(typed)) return { resource_id: typed };
  const { client, project_id } = connection;
  const [kind, name] = [typed.split(':', 1)[0], typed.slice(typed.indexOf(':') + 1)];
  if (kind === 'vm') return { resource_id: (await findVm(connection, name)).id };
  if (kind === 'subnet') {
    const subnets = client.subnets.list({ project_id });
    return { resource_id: (await findByName('subnet', name, subnets)).id };
  }
  if (kind === 'network') {
    const networks = client.networks.list({ project_id });
    return { resource_id: (await findByName('network', name, networks)).id };
  }
  throw new UsageError(
    `${flag}: ${typed} is no address, block or id, and no vm:NAME, subnet:NAME or network:NAME`,
  );
}

/** An end of a connection: an address, or a VM by name or id. */
export async function parseEnd(connection: ProjectConnection, typed: string): Promise<string> {
  return IPV4.test(typed) ? typed : (await findVm(connection, typed)).id;
}
