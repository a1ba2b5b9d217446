import { queryOptions } from '@tanstack/react-query';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';

export const oneHost = (hostId: string) =>
  queryOptions({
    queryKey: adminKey('hosts', hostId),
    queryFn: ({ signal }) => gantry.adminHosts.get({ host_id: hostId }, { signal }),
  });
