import { expect, it } from 'vitest';
import { Metrics } from './metrics.ts';

const linesOf = (text: string) => text.split('\n').filter((line) => line && !line.startsWith('#'));

it('a series that is not returned any more disappears', async () => {
  const metrics = new Metrics();
  let states = ['ready', 'lost'];
  const read = () => states.map((state) => ({ labels: { state }, value: 1 }));
  metrics.gaugeOf({ name: 'hosts', help: 'Hosts.', labels: ['state'], read });
  expect(linesOf(await metrics.render())).toEqual([
    'hosts{state="ready"} 1',
    'hosts{state="lost"} 1',
  ]);
  states = ['ready'];
  expect(linesOf(await metrics.render())).toEqual(['hosts{state="ready"} 1']);
});

it('a value that is not known has no series', async () => {
  const metrics = new Metrics();
  let age: number | null = null;
  metrics.gaugeOf({ name: 'age_seconds', help: 'Age.', read: () => age ?? [] });
  expect(linesOf(await metrics.render())).toEqual([]);
  age = 3;
  expect(linesOf(await metrics.render())).toEqual(['age_seconds 3']);
});

it('a total that something else counts is shown as it is, at every scrape', async () => {
  const metrics = new Metrics();
  metrics.counterOf({ name: 'bytes_total', help: 'Bytes.', read: () => 7 });
  await metrics.render();
  expect(linesOf(await metrics.render())).toEqual(['bytes_total 7']);
});

it('scrapes at the same time prepare once', async () => {
  const metrics = new Metrics();
  let prepared = 0;
  metrics.beforeScrape(async () => {
    prepared += 1;
  });
  await Promise.all([metrics.render(), metrics.render()]);
  expect(prepared).toBe(1);
  await metrics.render();
  expect(prepared).toBe(2);
});
