import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { type Column, Table } from './table.tsx';

type Row = { name: string };
const columns: Column<Row>[] = [{ id: 'name', header: 'Name', cell: ({ name }) => name }];
const render = (count: number) => {
  const rows = Array.from({ length: count }, (_, index) => ({ name: `row-${index}` }));
  const rowId = ({ name }: Row) => name;
  return renderToStaticMarkup(
    createElement(Table<Row>, { label: 'Rows', columns, rows, rowId, empty: 'Nothing' }),
  );
};

it('a long list shows its first rows and how many there are', () => {
  const html = render(5000);
  expect(html.match(/<td/g)).toHaveLength(200);
  expect(html).toContain('200 of 5000 are shown.');
});

it('a short list shows every row, and an empty one its message', () => {
  expect(render(3).match(/<td/g)).toHaveLength(3);
  expect(render(3)).not.toContain('Show more');
  expect(render(0)).toContain('Nothing');
});
