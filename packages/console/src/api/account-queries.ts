import { queryOptions } from '@tanstack/react-query';
import { gantry } from './client.ts';
import { everyItem } from './every-item.ts';

/** Who is logged in. */
export const me = () =>
  queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => gantry.root.get({}, { signal }) });

export const allProjects = () =>
  queryOptions({
    queryKey: ['project-list'],
    queryFn: ({ signal }) => everyItem(gantry.projects.list({}, { signal })),
  });

export const allOrganizations = () =>
  queryOptions({
    queryKey: ['organization-list'],
    queryFn: ({ signal }) => everyItem(gantry.organizations.list({}, { signal })),
  });

export const locations = () =>
  queryOptions({
    queryKey: ['locations'],
    queryFn: ({ signal }) => everyItem(gantry.locations.list({}, { signal })),
  });
