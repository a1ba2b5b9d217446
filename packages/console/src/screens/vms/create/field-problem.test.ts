import { ApiError } from '@gantry/sdk';
import { expect, it } from 'vitest';
import { fieldProblem, isGeneral } from './field-problem.ts';

const refusal = (code: string, details?: unknown) => {
  const text = JSON.stringify({ code, message: 'It is refused.', details });
  const request = { method: 'POST', path: '/vms:validate' };
  return new ApiError({ status: 400, headers: new Headers(), text }, request);
};

it('a refused member is shown at the field that it belongs to, and at no other', () => {
  const error = refusal('bad_request', [{ field: 'disks.1.size', reason: 'must be larger' }]);
  expect(fieldProblem(error, ['disks.1'])).toBe('must be larger');
  expect(fieldProblem(error, ['disks.10', 'disk', 'name'])).toBeUndefined();
});

it('a taken name is shown at the name, and a full quota at no field', () => {
  const fields = ['name', 'type'];
  expect(fieldProblem(refusal('name_taken'), fields)).toBe('It is refused.');
  expect(isGeneral(refusal('name_taken'), fields)).toBe(false);
  expect(isGeneral(refusal('quota_exceeded'), fields)).toBe(true);
  expect(isGeneral(null, fields)).toBe(false);
});
