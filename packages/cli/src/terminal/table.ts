import { printable } from './printable.ts';
import { type Style, styled } from './style.ts';

export type Column<Row> = {
  title: string;
  value(row: Row): string;
  style?(row: Row): Style | undefined;
  /** Left out of a table that would be too wide. The last such column goes first. */
  isExtra?: boolean;
};

export type TableOptions = {
  /** The width of the terminal; undefined if the table goes elsewhere, where nothing is left out. */
  width?: number | undefined;
  color?: boolean;
};

const GAP = '  ';
/** No column is made narrower than this. */
const NARROWEST = 6;

/**
 * Renders rows as aligned columns. A table that is wider than the terminal loses its extra columns,
 * and then the widest cells are shortened: a wrapped line could not be read as a row.
 */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, color = false }: TableOptions = {},
): string {
  const shown = fittingColumns(columns, rows, width);
  const widths = fittingWidths(
    shown.map((column) => naturalWidth(column, rows)),
    width,
  );
  const line = (cells: readonly { text: string; style: Style | undefined }[]) =>
    cells
      .map(({ text, style }, index) => {
        const cell = shorten(text, widths[index] ?? 0);
        // The last column is not padded: the spaces would wrap in a terminal that was made narrower.
        const isLast = index === cells.length - 1;
        const padding = isLast
          ? ''
          : ' '.repeat(Math.max(0, (widths[index] ?? 0) - lengthOf(cell)));
        return `${color ? styled(cell, style) : cell}${padding}`;
      })
      .join(GAP)
      .trimEnd();
  const head = line(shown.map(({ title }) => ({ text: title, style: 'bold' })));
  const body = rows.map((row) =>
    line(shown.map((column) => ({ text: cellText(column, row), style: column.style?.(row) }))),
  );
  return `${[head, ...body].join('\n')}\n`;
}

/** Renders one thing as a line per member. */
export function renderFields(
  fields: readonly (readonly [title: string, value: string])[],
  { color = false }: TableOptions = {},
): string {
  const shown = fields.filter(([, value]) => value !== '');
  const widest = Math.max(0, ...shown.map(([title]) => lengthOf(title)));
  return shown
    .map(([title, value]) => {
      const label = title.padEnd(widest);
      return `${color ? styled(label, 'bold') : label}${GAP}${printable(value)}\n`;
    })
    .join('');
}

function fittingColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number | undefined,
): readonly Column<Row>[] {
  const needed = sumOf(columns.map((column) => naturalWidth(column, rows)));
  if (width === undefined || needed <= width) return columns;
  const extra = columns.findLastIndex(({ isExtra }) => isExtra);
  if (extra < 0) return columns;
  return fittingColumns(columns.toSpliced(extra, 1), rows, width);
}

function fittingWidths(widths: readonly number[], width: number | undefined): readonly number[] {
  if (width === undefined || sumOf(widths) <= width) return widths;
  const widest = Math.max(...widths);
  if (widest <= NARROWEST) return widths;
  const index = widths.indexOf(widest);
  return fittingWidths(widths.with(index, widest - 1), width);
}

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1));
}

function naturalWidth<Row>(column: Column<Row>, rows: readonly Row[]): number {
  return Math.max(lengthOf(column.title), ...rows.map((row) => lengthOf(cellText(column, row))));
}

function cellText<Row>(column: Column<Row>, row: Row): string {
  return printable(column.value(row));
}

function lengthOf(text: string): number {
  return [...text].length;
}

function shorten(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`;
}
