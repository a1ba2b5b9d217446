import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { adminKey } from './admin-queries.ts';
import { gantry } from './client.ts';
import { everyItem } from './every-item.ts';

/** The event stream of operators does not report tenants, so each screen reads them again when it is opened. */
const staleTime = 0;

export const allOrganizations = () =>
  queryOptions({
    queryKey: adminKey('organizations'),
    queryFn: ({ signal }) => everyItem(gantry.adminOrganizations.list({}, { signal })),
    staleTime,
  });

export const everyProject = () =>
  queryOptions({
    queryKey: adminKey('projects'),
    queryFn: ({ signal }) => everyItem(gantry.adminProjects.list({}, { signal })),
    staleTime,
  });

export const standingOf = (organizationId: string) =>
  queryOptions({
    queryKey: adminKey('standing', organizationId),
    queryFn: ({ signal }) => gantry.standing.get({ organization_id: organizationId }, { signal }),
    staleTime,
  });

export const organizationQuotas = (organizationId: string) =>
  queryOptions({
    queryKey: adminKey('quotas', organizationId),
    queryFn: async ({ signal }) => {
      const input = { organization_id: organizationId };
      return (await gantry.adminOrganizationQuotas.list(input, { signal })).quotas;
    },
    staleTime,
  });

export const projectQuotas = (projectId: string) =>
  queryOptions({
    queryKey: adminKey('quotas', projectId),
    queryFn: async ({ signal }) =>
      (await gantry.adminQuotas.list({ project_id: projectId }, { signal })).quotas,
    staleTime,
  });

export const allUsers = () =>
  queryOptions({
    queryKey: adminKey('users'),
    queryFn: ({ signal }) => everyItem(gantry.adminUsers.list({}, { signal })),
    staleTime,
  });

/** The audit log, newest first, page by page. */
export const auditLog = (action: string) =>
  infiniteQueryOptions({
    queryKey: adminKey('audit', action),
    queryFn: ({ signal, pageParam }) =>
      gantry.adminAuditLogs.list(
        {
          limit: 100,
          ...(action === '' ? {} : { action }),
          ...(pageParam === '' ? {} : { page_token: pageParam }),
        },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_page_token }) => next_page_token || undefined,
    staleTime,
  });
