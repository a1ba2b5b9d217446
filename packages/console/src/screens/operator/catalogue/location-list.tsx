import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { adminLocations } from '../../../api/admin-catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { Loading } from '../../../components/loading.tsx';
import { type Column, Table } from '../../../components/table.tsx';

type Location = Schemas['Location'];

export function LocationList() {
  const { data: locations, error, refetch } = useQuery(adminLocations());
  const queryClient = useQueryClient();
  const refresh = useMemo(
    () => async () => {
      await queryClient.invalidateQueries(adminLocations());
      await queryClient.invalidateQueries({ queryKey: ['locations'] });
    },
    [queryClient],
  );
  const columns = useMemo(() => columnsFor(refresh), [refresh]);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!locations) return <Loading what="the locations" />;
  const create = async (form: FormData) => {
    const [name, region, zone] = [
      textOf(form, 'name'),
      textOf(form, 'region'),
      textOf(form, 'zone'),
    ];
    const body = { name, region, zone, description: textOf(form, 'description') };
    await gantry.adminLocations.create({ body });
    await refresh();
  };
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <p className="text-muted">
          Where hosts stand. A VM stays in its location, and so do its disks.
        </p>
        <FormDialog
          open="Add location"
          title="Add a location"
          action="Add"
          size="medium"
          onSubmit={create}
        >
          <Field label="Name" hint="Such as eu-north-a. It cannot be changed later.">
            {(control) => <Input {...control} name="name" required />}
          </Field>
          <Field label="Region" hint="Prices are set for a region.">
            {(control) => <Input {...control} name="region" required />}
          </Field>
          <Field label="Zone">{(control) => <Input {...control} name="zone" required />}</Field>
          <Description />
        </FormDialog>
      </div>
      <Table
        label="Locations"
        columns={columns}
        rows={locations}
        rowId={({ name }) => name}
        empty="There is no location yet. Hosts join a location."
      />
    </>
  );
}

function Description({ value = '' }: { value?: string }) {
  return (
    <Field label="Description" optional>
      {(control) => <Input {...control} name="description" defaultValue={value} />}
    </Field>
  );
}

const columnsFor = (refresh: () => Promise<unknown>): Column<Location>[] => [
  {
    id: 'name',
    header: 'Location',
    sortBy: ({ name }) => name,
    cell: ({ name, description }) => (
      <>
        <span className="font-medium">{name}</span>
        <span className="block text-muted">{description}</span>
      </>
    ),
  },
  {
    id: 'region',
    header: 'Region',
    sortBy: ({ region }) => region,
    cell: ({ region }) => region,
  },
  { id: 'zone', header: 'Zone', sortBy: ({ zone }) => zone, cell: ({ zone }) => zone },
  {
    id: 'actions',
    header: 'Actions',
    quiet: true,
    align: 'right',
    cell: ({ name, description }) => (
      <FormDialog
        open="Edit"
        label={`Edit ${name}`}
        title={`Describe ${name}`}
        action="Save"
        look="ghost"
        onSubmit={async (form) => {
          const body = { description: textOf(form, 'description') };
          await gantry.adminLocations.change({ location: name, body });
          await refresh();
        }}
      >
        <Description value={description} />
      </FormDialog>
    ),
  },
];
