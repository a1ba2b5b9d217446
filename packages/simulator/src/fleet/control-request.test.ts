import { describe, expect, it } from 'vitest';
import { parseControlOrder } from './control-request.ts';

describe('a control request', () => {
  it.each([
    ['crash', { vm_id: 'a' }, { verb: 'crash', vmId: 'a' }],
    ['wedge', { vm_id: 'a' }, { verb: 'wedge', vmId: 'a' }],
    ['unwedge', { vm_id: 'a' }, { verb: 'unwedge', vmId: 'a' }],
    ['hang', { step: 'start' }, { verb: 'hang', step: 'start' }],
    ['reboot', {}, { verb: 'reboot' }],
    [
      'fail',
      { step: 'start', times: 2, code: 'c', message: 'm' },
      { verb: 'fail', step: 'start', times: 2, code: 'c', message: 'm' },
    ],
    [
      'fail',
      { step: 'start' },
      { verb: 'fail', step: 'start', times: 1, code: 'host_failed', message: 'as ordered' },
    ],
  ])('%s %j is accepted', (verb, body, order) => {
    expect(parseControlOrder(verb, body)).toEqual(order);
  });

  it.each([
    ['explode', {}, 'there is no "explode"'],
    ['crash', {}, 'vm_id'],
    ['crash', { vm_id: 7 }, 'vm_id'],
    ['wedge', {}, 'vm_id'],
    ['hang', { step: 'dance' }, 'step must be one of list_domains'],
    ['fail', { step: 'start', times: 0 }, 'times'],
    ['fail', { step: 'start', times: '2' }, 'times'],
  ])('%s %j is refused with a message that names the problem', (verb, body, word) => {
    expect(() => parseControlOrder(verb, body)).toThrow(word);
  });
});
