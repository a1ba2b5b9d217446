import { queryOptions } from '@tanstack/react-query';
import { adminKey } from './admin-queries.ts';
import { gantry } from './client.ts';
import { everyItem } from './every-item.ts';

/** What operators offer to tenants, retired types and images included. Other operators may change it meanwhile. */
const staleTime = 0;

export const adminLocations = () =>
  queryOptions({
    queryKey: adminKey('locations'),
    queryFn: ({ signal }) => everyItem(gantry.adminLocations.list({}, { signal })),
    staleTime,
  });

export const adminVmTypes = () =>
  queryOptions({
    queryKey: adminKey('vm-types'),
    queryFn: ({ signal }) => everyItem(gantry.adminVmTypes.list({}, { signal })),
    staleTime,
  });

export const adminPrices = () =>
  queryOptions({
    queryKey: adminKey('prices'),
    queryFn: ({ signal }) => everyItem(gantry.adminPrices.list({}, { signal })),
    staleTime,
  });

export const adminImages = () =>
  queryOptions({
    queryKey: adminKey('images'),
    queryFn: ({ signal }) => everyItem(gantry.adminImages.list({}, { signal })),
    staleTime,
  });

export const adminAddresses = () =>
  queryOptions({
    queryKey: adminKey('public-addresses'),
    queryFn: ({ signal }) => everyItem(gantry.adminPublicAddresses.list({}, { signal })),
    staleTime,
  });
