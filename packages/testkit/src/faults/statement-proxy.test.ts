import { expect, it } from 'vitest';
import { stepOf } from './statement-proxy.ts';

it.each([
  ['select 1 from vms for update', ''],
  ['UPDATE vms SET observed_state = $1\n where id = $2', 'update vms (observed_state)'],
  ['update meter_intervals m set ended_at = now()', 'update meter_intervals (ended_at)'],
  [
    'with a as (insert into placements values ($1)) delete from x',
    'insert into placements, delete from x',
  ],
  ['select place_vms($1, $2, $3, $4::text::jsonb) as placed', 'place_vms'],
  ['insert into a select 1 on conflict (id) do update set b = 1', 'insert into a'],
])('names the step of %s', (statement, step) => {
  expect(stepOf(statement)).toBe(step);
});
