import { describe, expect, it } from 'vitest';
import { judgeVm } from './settle-vm.ts';
import { makePlacedVm, makeVmReport } from './testing/rows.ts';

const running = makePlacedVm({ revision: '5', generation: '2' });
const goingDown = makePlacedVm({ revision: '5', generation: '2', should_run: false });
const failure = { code: 'no_space', message: 'the pool is full', sinceMs: '1' };
const stuck = { code: 'device_stuck', message: 'open in persistenced (1)', sinceMs: '1' };
const silent = { code: 'vm_unresponsive', message: 'libvirt did not reply', sinceMs: '1' };
const libvirtSilent = { ...silent, code: 'libvirt_unresponsive' };
const networkSilent = { ...silent, code: 'network_command_timeout' };
const resetting = makePlacedVm({ revision: '5', generation: '2', operation: 'RESET' });
const starting = makePlacedVm({ revision: '5', generation: '2', operation: 'START' });
const said = { code: 'no_space', message: 'the pool is full' };

describe('judgeVm', () => {
  it.each([
    ['RUNNING', running, {}, { is: 'running', failure: null }],
    ['RUNNING', running, { failure }, { is: 'running', failure: said }],
    ['RUNNING', running, { generation: '1' }, { is: 'nothing' }],
    ['RUNNING', running, { revision: '4' }, { is: 'nothing' }],
    ['RUNNING', running, { revision: '6' }, { is: 'nothing' }],
    ['RUNNING', goingDown, {}, { is: 'nothing' }],
    ['CRASHED', running, {}, { is: 'crashed' }],
    ['CRASHED', running, { generation: '1' }, { is: 'nothing' }],
    ['CRASHED', running, { revision: '4' }, { is: 'nothing' }],
    ['CRASHED', goingDown, {}, { is: 'nothing' }],
    ['FAILED', running, { failure, generation: '0' }, { is: 'failed', failure: said }],
    ['FAILED', running, { generation: '0' }, { is: 'failed', failure: { code: 'host_failed' } }],
    ['FAILED', running, { failure, revision: '4' }, { is: 'nothing' }],
    ['FAILED', running, { failure: silent }, { is: 'unresponsive' }],
    ['FAILED', resetting, { failure: silent }, { is: 'unresponsive' }],
    ['FAILED', resetting, { failure }, { is: 'failed' }],
    ['FAILED', running, { failure: libvirtSilent, generation: '1' }, { is: 'unresponsive' }],
    ['FAILED', running, { failure: networkSilent, generation: '1' }, { is: 'unresponsive' }],
    ['FAILED', starting, { failure: silent }, { is: 'failed' }],
    ['FAILED', starting, { failure: libvirtSilent }, { is: 'failed' }],
    ['FAILED', goingDown, { failure: silent }, { is: 'nothing' }],
    ['FAILED', goingDown, { failure }, { is: 'nothing' }],
    ['FAILED', goingDown, { failure: stuck }, { is: 'held_up', failure: { code: 'device_stuck' } }],
    ['FAILED', goingDown, { failure: stuck, revision: '4' }, { is: 'nothing' }],
    ['TAKEN_DOWN', goingDown, { generation: '0' }, { is: 'gone' }],
    ['TAKEN_DOWN', goingDown, { revision: '4' }, { is: 'nothing' }],
    ['TAKEN_DOWN', running, {}, { is: 'nothing' }],
    ['WORKING', running, {}, { is: 'nothing' }],
    ['WORKING', goingDown, {}, { is: 'nothing' }],
    ['UNKNOWN', running, {}, { is: 'nothing' }],
    ['UNSPECIFIED', running, {}, { is: 'nothing' }],
  ] as const)('judges the reported state %s (case %#)', (state, vm, given, verdict) => {
    const report = makeVmReport({
      revision: '5',
      generation: '2',
      ...given,
      state: `VM_OBSERVED_STATE_${state}`,
    });
    expect(judgeVm(vm, report)).toMatchObject(verdict);
  });

  it('returns nothing for a VM that the report does not mention', () => {
    expect(judgeVm(running, undefined)).toEqual({ is: 'nothing' });
  });
});
