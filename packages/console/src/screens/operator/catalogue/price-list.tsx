import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { adminPrices, adminVmTypes } from '../../../api/admin-catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { DeleteButton } from '../../../components/delete-button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input } from '../../../components/field.tsx';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { Loading } from '../../../components/loading.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { formatPrice } from '../../../format/money.ts';
import { type PriceRow, priceRows } from './price-rows.ts';

/** What each VM type and each kind of disk costs. */
export function PriceList() {
  const types = useQuery(adminVmTypes());
  const prices = useQuery(adminPrices());
  const queryClient = useQueryClient();
  const columns = useMemo(
    () => columnsFor(() => queryClient.invalidateQueries(adminPrices())),
    [queryClient],
  );
  const rows = useMemo(
    () => types.data && prices.data && priceRows(types.data, prices.data),
    [types.data, prices.data],
  );
  const error = types.error ?? prices.error;
  if (error) return <ErrorNote error={error} />;
  if (!rows) return <Loading what="the prices" />;
  return (
    <>
      <p className="mb-3 text-muted">
        A new price counts from now on. What has no price costs nothing.
      </p>
      <Table label="Prices" columns={columns} rows={rows} rowId={({ name }) => name} />
    </>
  );
}

const columnsFor = (refresh: () => Promise<unknown>): Column<PriceRow>[] => [
  {
    id: 'name',
    header: 'Of',
    sortBy: ({ name }) => name,
    cell: ({ name, retired }) => (
      <>
        <span className="font-medium">{name}</span>
        {retired && <span className="text-muted"> (retired)</span>}
      </>
    ),
  },
  {
    id: 'unit',
    header: 'For each',
    wide: true,
    cell: ({ isDisk }) => (isDisk ? 'GB and hour' : 'hour that a VM runs'),
  },
  {
    id: 'price',
    header: 'Price',
    align: 'right',
    sortBy: ({ usd }) => usd ?? -1,
    cell: ({ usd }) =>
      usd === undefined ? <span className="text-muted">none</span> : formatPrice(usd),
  },
  {
    id: 'actions',
    header: 'Actions',
    quiet: true,
    align: 'right',
    cell: (row) => <PriceActions row={row} onChange={refresh} />,
  },
];

type PriceActionsProps = { row: PriceRow; onChange(): Promise<unknown> };

function PriceActions({ row: { name, usd, isDisk }, onChange }: PriceActionsProps) {
  const save = async (form: FormData) => {
    const body = { usd_per_hour: Number(form.get('usd_per_hour')) };
    await gantry.adminPrices.set({ resource_type: name, body });
    await onChange();
  };
  return (
    <span className="inline-flex gap-1">
      {usd !== undefined && (
        <DeleteButton
          name={`the price of ${name}`}
          action="Remove"
          onConfirm={async () => {
            await gantry.adminPrices.delete({ resource_type: name });
            await onChange();
          }}
        >
          It then costs nothing.
        </DeleteButton>
      )}
      <FormDialog
        open="Set price"
        label={`Set price of ${name}`}
        title={`Price of ${name}`}
        action="Save"
        onSubmit={save}
      >
        <Field label={isDisk ? 'US dollars for each GB and hour' : 'US dollars for each hour'}>
          {(control) => (
            <Input
              {...control}
              name="usd_per_hour"
              type="number"
              min={0}
              max={1_000_000}
              step="any"
              required
              defaultValue={usd}
            />
          )}
        </Field>
      </FormDialog>
    </span>
  );
}
