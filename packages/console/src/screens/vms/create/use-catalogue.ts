import { useQuery } from '@tanstack/react-query';
import { ownSshKeys } from '../../../api/account-queries.ts';
import { availabilities, images, locations, specs } from '../../../api/catalogue-queries.ts';
import { allDisks, networks, reservedAddresses, sshKeys } from '../../../api/project-queries.ts';

/** Everything that a new VM can be made of; undefined until all of it is here. */
export function useCatalogue(projectId: string) {
  const queries = {
    locations: useQuery(locations()),
    specs: useQuery(specs(projectId)),
    availabilities: useQuery(availabilities(projectId)),
    images: useQuery(images(projectId)),
    keys: useQuery(sshKeys(projectId)),
    ownKeys: useQuery(ownSshKeys()),
    networks: useQuery(networks(projectId)),
    disks: useQuery(allDisks(projectId)),
    addresses: useQuery(reservedAddresses(projectId)),
  };
  const error = Object.values(queries).find((query) => query.error)?.error;
  const ready = Object.values(queries).every((query) => query.data !== undefined);
  return { error, catalogue: ready ? read(queries) : undefined };
}

type Queries<Data> = { [Name in keyof Data]: { data: Data[Name] | undefined } };

/** The data of queries that all have some. */
function read<Data extends Record<string, unknown>>(queries: Queries<Data>): Data {
  const entries = Object.entries(queries).map(([name, { data }]) => [name, data]);
  return Object.fromEntries(entries) as Data;
}

export type Catalogue = NonNullable<ReturnType<typeof useCatalogue>['catalogue']>;
