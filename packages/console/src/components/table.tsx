import {
  createSortedRowModel,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { type ReactNode, useMemo, useState } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';

export type Column<Row> = {
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  /** What the column is sorted by; without it, it cannot be sorted. */
  sortBy?(row: Row): string | number;
  align?: 'right';
  /** Narrow screens leave the column out. */
  wide?: boolean;
  /** The header is for screen readers only. */
  quiet?: boolean;
};

type TableProps<Row> = {
  /** Says what the rows are, for screen readers. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowId(row: Row): string;
  /** Shown instead of the rows if there are none. */
  empty?: ReactNode;
};

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic },
});
/** Thousands of rows would make every change of one of them slow. */
const ROWS_AT_ONCE = 200;
const ARROWS = { asc: '↑', desc: '↓' } as const;

/**
 * A list whose columns can be sorted. It scrolls sideways by itself if it is too wide, and shows the first rows
 * until the person asks for more.
 */
export function Table<Row extends object>(props: TableProps<Row>) {
  const { label, columns, rows, rowId, empty } = props;
  const definitions = useMemo(
    () =>
      columns.map(({ id, header, cell, sortBy }) => ({
        id,
        header,
        accessorFn: (row: Row) => sortBy?.(row) ?? '',
        enableSorting: sortBy !== undefined,
        cell: ({ row }: { row: { original: Row } }) => cell(row.original),
      })),
    [columns],
  );
  const table = useTable({ features, columns: definitions, data: rows, getRowId: rowId });
  const [shown, setShown] = useState(ROWS_AT_ONCE);
  const columnOf = (id: string) => columns.find((each) => each.id === id);
  const lookOf = (id: string) => {
    const column = columnOf(id);
    return classNames(
      'px-3 first:pl-4 last:pr-4',
      column?.align === 'right' ? 'text-right' : 'text-left',
      column?.wide && 'hidden md:table-cell',
    );
  };
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table aria-label={label} className="w-full border-collapse text-sm">
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} className="border-b border-line">
              {group.headers.map(({ id, column }) => (
                <HeaderCell
                  key={id}
                  className={lookOf(column.id)}
                  column={columnOf(column.id)}
                  title={String(column.columnDef.header)}
                  sorted={column.getIsSorted()}
                  onSort={column.getCanSort() ? () => column.toggleSorting() : undefined}
                />
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table
            .getRowModel()
            .rows.slice(0, shown)
            .map((row) => (
              <tr key={row.id} className="border-b border-line last:border-0 hover:bg-hover">
                {row.getAllCells().map((cell) => (
                  <td key={cell.id} className={classNames(lookOf(cell.column.id), 'h-10 py-1.5')}>
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      {rows.length === 0 && <div className="px-4 py-8 text-center text-muted">{empty}</div>}
      {rows.length > shown && (
        <div className="flex items-center justify-center gap-3 border-t border-line py-2 text-sm text-muted">
          {shown} of {rows.length} are shown.
          <Button size="small" onClick={() => setShown(shown + ROWS_AT_ONCE)}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

type HeaderCellProps = {
  className: string;
  title: string;
  column: { align?: 'right'; quiet?: boolean } | undefined;
  sorted: false | 'asc' | 'desc';
  onSort: (() => void) | undefined;
};

function HeaderCell({ className, title, column, sorted, onSort }: HeaderCellProps) {
  const order = sorted === 'asc' ? 'ascending' : 'descending';
  return (
    <th
      scope="col"
      aria-sort={sorted ? order : undefined}
      className={classNames(className, 'h-9 text-xs font-medium text-muted')}
    >
      {onSort ? (
        <button
          type="button"
          onClick={onSort}
          className={classNames(
            'inline-flex rounded align-middle hover:text-text',
            column?.align === 'right' && 'flex-row-reverse',
          )}
        >
          {title}
          <span aria-hidden="true" className="inline-block w-3 text-center">
            {sorted ? ARROWS[sorted] : ''}
          </span>
        </button>
      ) : (
        <span className={column?.quiet ? 'sr-only' : ''}>{title}</span>
      )}
    </th>
  );
}
