import type { CliContext } from '../cli-context.ts';
import { usesColor } from './style.ts';
import { type Column, renderFields, renderTable } from './table.ts';
import { renderYaml } from './yaml.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

type Shown<Row> = { format: OutputFormat; columns: readonly Column<Row>[]; nothing: string };
type Fields = readonly (readonly [title: string, value: string])[];

/** Prints a list: the objects of the API for programs, a table for people. */
export function printList<Row>(
  { process }: CliContext,
  rows: readonly Row[],
  { format, columns, nothing }: Shown<Row>,
): void {
  if (format !== 'table') process.stdout.write(renderData(rows, format));
  // A script that counts lines must not count this one.
  else if (rows.length === 0) process.stderr.write(`${nothing}\n`);
  else process.stdout.write(renderTable(columns, rows, tableOptions(process)));
}

/** Prints one thing: the object of the API for programs, a line per field for people. */
export function printOne(
  { process }: CliContext,
  data: unknown,
  { format, fields }: { format: OutputFormat; fields: Fields },
): void {
  const text =
    format === 'table' ? renderFields(fields, tableOptions(process)) : renderData(data, format);
  process.stdout.write(text);
}

function renderData(data: unknown, format: 'json' | 'yaml'): string {
  return format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : renderYaml(data);
}

function tableOptions({ stdout, env }: CliContext['process']) {
  const width = stdout.isTTY ? stdout.columns : undefined;
  return { width, color: usesColor(stdout, env) };
}
