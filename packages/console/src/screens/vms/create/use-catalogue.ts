import { useQuery } from '@tanstack/react-query';
import {
  availabilities,
  images,
  locations,
  prices,
  specs,
} from '../../../api/catalogue-queries.ts';
import { networks, sshKeys } from '../../../api/project-queries.ts';

/** Everything that a new VM can be made of; undefined until all of it is here. */
export function useCatalogue(projectId: string) {
  const queries = {
    locations: useQuery(locations()),
    specs: useQuery(specs(projectId)),
    availabilities: useQuery(availabilities(projectId)),
    images: useQuery(images(projectId)),
    prices: useQuery(prices(projectId)),
    keys: useQuery(sshKeys(projectId)),
    networks: useQuery(networks(projectId)),
  };
  const error = Object.values(queries).find((query) => query.error)?.error;
  const { locations: places, specs: types, availabilities: free, images: systems } = queries;
  const { prices: costs, keys, networks: nets } = queries;
  if (
    !places.data ||
    !types.data ||
    !free.data ||
    !systems.data ||
    !costs.data ||
    !keys.data ||
    !nets.data
  ) {
    return { error };
  }
  const catalogue = {
    locations: places.data,
    specs: types.data,
    availabilities: free.data,
    images: systems.data,
    prices: new Map(costs.data.map((price) => [price.resource_type, price.usd_per_hour])),
    keys: keys.data,
    networks: nets.data,
  };
  return { error, catalogue };
}

export type Catalogue = NonNullable<ReturnType<typeof useCatalogue>['catalogue']>;
