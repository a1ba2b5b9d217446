import type { Schemas } from './operation.ts';

type UsageItem = Schemas['Usage'];

const COLUMNS = [
  ...['date', 'project', 'project_id', 'resource_type', 'region', 'billable_metric', 'quantity'],
  ...['cost_usd', 'priced', 'adjustment_reason', 'adjusted_at'],
];

/** The usage as a table for spreadsheets, after RFC 4180. */
export function usageCsv(
  items: readonly UsageItem[],
  projectNames: ReadonlyMap<string, string>,
): string {
  const rows = items.map((item) =>
    COLUMNS.map((column) =>
      column === 'project'
        ? (projectNames.get(item.project_id) ?? '')
        : item[column as keyof UsageItem],
    ),
  );
  return [COLUMNS, ...rows].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** Spreadsheets run a text that begins like a formula; an apostrophe before it makes it a text. */
function cellOf(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
