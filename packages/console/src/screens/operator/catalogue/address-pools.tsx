import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { adminAddresses, adminLocations } from '../../../api/admin-catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { everyProject } from '../../../api/tenant-queries.ts';
import { Badge } from '../../../components/badge.tsx';
import { DeleteButton } from '../../../components/delete-button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input, Select } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { Loading } from '../../../components/loading.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { countAddresses } from './count-addresses.ts';

type Address = Schemas['PublicAddress'];

/** The public addresses of each location, and who has them. */
export function AddressPools() {
  const { data: addresses, error, refetch } = useQuery(adminAddresses());
  const { data: projects } = useQuery(everyProject());
  const queryClient = useQueryClient();
  const [search, setSearch] = useState('');
  const columns = useMemo(() => {
    const names = new Map(projects?.map(({ id, name }) => [id, name]));
    return columnsFor(names, () => queryClient.invalidateQueries(adminAddresses()));
  }, [projects, queryClient]);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!addresses) return <Loading what="the addresses" />;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <Input
          aria-label="Search addresses"
          placeholder="Search addresses"
          className="max-w-48"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <p className="grow text-muted">
          {countAddresses(addresses).map(({ location, free, total }) => (
            <span key={location} className="mr-5 inline-block">
              {location}: {free} of {total} free
            </span>
          ))}
        </p>
        <AddBlock />
      </div>
      <Table
        label="Public addresses"
        columns={columns}
        rows={addresses.filter(({ address }) => address.includes(search.trim()))}
        rowId={({ id }) => id}
        empty={
          search === ''
            ? 'There is no public address, so VMs have private ones only.'
            : 'No address matches.'
        }
      />
    </>
  );
}

function AddBlock() {
  const { data: locations = [] } = useQuery(adminLocations());
  const queryClient = useQueryClient();
  const add = async (form: FormData) => {
    const body = { location: textOf(form, 'location'), cidr: textOf(form, 'cidr') };
    await gantry.adminPublicAddresses.create({ body });
    await queryClient.invalidateQueries(adminAddresses());
  };
  return (
    <FormDialog open="Add addresses" title="Add public addresses" action="Add" onSubmit={add}>
      <Field label="Location">
        {(control) => (
          <Select {...control} name="location">
            {locations.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label="Block of addresses"
        hint="From /22 to /32, such as 198.51.100.0/24. Every address of it is used."
      >
        {(control) => <Input {...control} name="cidr" required />}
      </Field>
    </FormDialog>
  );
}

const columnsFor = (
  projectNames: ReadonlyMap<string, string>,
  refresh: () => Promise<unknown>,
): Column<Address>[] => [
  {
    id: 'address',
    header: 'Address',
    cell: ({ address }) => <span className="font-mono">{address}</span>,
  },
  {
    id: 'location',
    header: 'Location',
    sortBy: ({ location }) => location,
    cell: ({ location }) => location,
  },
  {
    id: 'state',
    header: 'State',
    sortBy: ({ vm_id, project_id }) => Number(vm_id !== '') + 2 * Number(project_id !== ''),
    cell: ({ vm_id, project_id }) => (
      <Badge tone={vm_id === '' ? (project_id === '' ? 'good' : 'idle') : 'busy'}>
        {vm_id === '' ? (project_id === '' ? 'Free' : 'Reserved') : 'In use by a VM'}
      </Badge>
    ),
  },
  {
    id: 'project',
    header: 'Reserved by',
    wide: true,
    cell: ({ project_id }) => projectNames.get(project_id) ?? project_id,
  },
  {
    id: 'actions',
    header: 'Actions',
    quiet: true,
    align: 'right',
    cell: ({ id, address, vm_id, project_id }) =>
      vm_id === '' && project_id === '' ? (
        <DeleteButton
          name={address}
          action="Remove"
          onConfirm={async () => {
            await gantry.adminPublicAddresses.delete({ public_address_id: id });
            await refresh();
          }}
        >
          No VM gets the address any more.
        </DeleteButton>
      ) : null,
  },
];
