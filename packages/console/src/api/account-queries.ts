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

/** Whether the person has a second factor. */
export const secondFactor = () =>
  queryOptions({
    queryKey: ['second-factor'],
    queryFn: ({ signal }) => gantry.account.getTotp({}, { signal }),
  });

/** The SSH keys of the person, which new VMs of every project can have. */
export const ownSshKeys = () =>
  queryOptions({
    queryKey: ['own-ssh-keys'],
    queryFn: ({ signal }) => everyItem(gantry.userSshKeys.list({}, { signal })),
    staleTime: 0,
  });

/** The logins of the person that have not ended. */
export const ownLogins = () =>
  queryOptions({
    queryKey: ['own-logins'],
    queryFn: ({ signal }) => everyItem(gantry.logins.list({}, { signal })),
    staleTime: 0,
  });
