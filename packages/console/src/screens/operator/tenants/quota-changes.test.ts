import { expect, it } from 'vitest';
import { quotaChanges } from './quota-changes.ts';

it('only maxima that were changed are sent, so that those of other operators stay', () => {
  const form = new FormData();
  form.set('vms', '10');
  form.set('gpus', '0');
  const quotas = [
    { type: 'vms', max: 10 },
    { type: 'gpus', max: 8 },
    { type: 'disks', max: 5 },
  ];
  expect(quotaChanges(quotas, form)).toEqual({ gpus: 0 });
});
