import type { Schemas } from '@gantry/sdk';
import { UsageError } from '../../cli-errors.ts';
import type { ProjectConnection } from '../../config/connect.ts';
import { addressNames, networkNames, subnetNames } from '../complete-names.ts';
import { findByName } from '../find-by-name.ts';
import { optionalText } from '../flags.ts';

type NewInterface = Schemas['NewNetworkInterface'];

export type NetworkFlags = {
  network: string | undefined;
  subnet: string | undefined;
  publicAddress: string | undefined;
  noPublicAddress: boolean;
};

export const networkFlags = {
  network: optionalText(
    'The network, by name or id (default: that of the project)',
    'network',
    networkNames,
  ),
  subnet: optionalText('The subnet, by name or id', 'subnet', subnetNames),
  publicAddress: optionalText(
    'A reserved address by name or id, or dynamic (the default), or none',
    'address',
    addressNames,
  ),
  noPublicAddress: {
    ...({ kind: 'boolean', default: false, withNegated: false } as const),
    brief: 'The same as --public-address none',
  },
} as const;

/** Undefined means the default of the project. Throws if the flags contradict each other. */
export function givenAddress({ publicAddress, noPublicAddress }: NetworkFlags): string | undefined {
  if (!noPublicAddress) return publicAddress;
  if (publicAddress !== undefined && publicAddress !== 'none')
    throw new UsageError('give either --public-address or --no-public-address');
  return 'none';
}

type ChosenNetwork = Pick<NetworkFlags, 'network' | 'subnet'> & { address: string | undefined };

/** Undefined means the default of the project. */
export async function chooseNetwork(
  connection: ProjectConnection,
  { network, subnet, address }: ChosenNetwork,
): Promise<NewInterface[] | undefined> {
  const { client, project_id } = connection;
  if (network === undefined && subnet === undefined && address === undefined) return undefined;
  const networks = () => client.networks.list({ project_id });
  const chosen = network && (await findByName('network', network, networks()));
  const subnets = () => client.subnets.list({ project_id });
  const inside = subnet && (await findByName('subnet', subnet, subnets()));
  return [
    {
      ...(chosen && { network_id: chosen.id }),
      ...(inside && { subnet_id: inside.id }),
      public_ipv4: await choosePublicAddress(connection, address ?? 'dynamic'),
    },
  ];
}

async function choosePublicAddress(
  { client, project_id }: ProjectConnection,
  given: string,
): Promise<NonNullable<NewInterface['public_ipv4']>> {
  if (given === 'none' || given === 'dynamic') return { type: given };
  const addresses = client.publicAddresses.list({ project_id });
  return { type: 'reserved', id: (await findByName('address', given, addresses)).id };
}
