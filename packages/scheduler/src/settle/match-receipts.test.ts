import { describe, expect, it } from 'vitest';
import type { DeviceReceipt } from '../attached/host-report.ts';
import { matchReceipts } from './match-receipts.ts';
import { makePlacedVm } from './testing/rows.ts';

const vm = makePlacedVm({
  revision: '7',
  devices: [
    { id: 'gpu-1', kind: 'gpu', pci_address: '0000:10:00.0', serial: '' },
    { id: 'drive-1', kind: 'drive', pci_address: '0000:80:00.0', serial: 'S1' },
  ],
});
const gpu: DeviceReceipt = {
  vmId: 'vm-1',
  revision: '7',
  kind: 'gpu',
  pciAddress: '0000:10:00.0',
  serial: '',
  method: 'flr',
  finishedMs: '1000',
  failure: null,
  properties: [
    { name: 'reset', state: 'verified', detail: 'flr\0' },
    { name: 'memory', state: 'sparkling', detail: '' },
  ],
};
const drive: DeviceReceipt = {
  ...gpu,
  kind: 'drive',
  pciAddress: '0000:80:00.0',
  serial: 'S1',
  method: 'sanitize',
  properties: [],
};

describe('matchReceipts', () => {
  it('returns the receipt for each device in any order', () => {
    expect(matchReceipts(vm, [drive, gpu])).toEqual([
      {
        device: vm.devices[0],
        serial: '',
        method: 'flr',
        finishedAt: new Date(1000),
        failure: null,
        properties: [
          { name: 'reset', state: 'verified', detail: 'flr' },
          { name: 'memory', state: 'not_verified', detail: '' },
        ],
      },
      {
        device: vm.devices[1],
        serial: 'S1',
        method: 'sanitize',
        finishedAt: new Date(1000),
        failure: null,
        properties: [],
      },
    ]);
  });

  it('accepts the receipts of an agent that knows no properties', () => {
    const { properties: _, ...old } = gpu;
    const [first] = matchReceipts(vm, [old as DeviceReceipt, drive]);
    expect(first?.properties).toEqual([]);
  });

  it('accepts a receipt with a failure', () => {
    const failure = { code: 'reset_failed', message: 'it hangs', sinceMs: '1' };
    const [first] = matchReceipts(vm, [{ ...gpu, failure }, drive]);
    expect(first?.failure).toEqual({ code: 'reset_failed', message: 'it hangs' });
  });

  it('needs no receipt if the VM has no device', () => {
    expect(matchReceipts(makePlacedVm(), [])).toEqual([]);
  });

  it.each([
    ['missing', [gpu]],
    ['of another VM', [gpu, { ...drive, vmId: 'vm-2' }]],
    ['of an earlier take-down', [gpu, { ...drive, revision: '6' }]],
    ['of another device', [gpu, { ...drive, pciAddress: '0000:81:00.0' }]],
    ['of another kind', [gpu, { ...drive, kind: 'gpu' as const }]],
  ])('returns nothing for a device whose receipt is %s', (_, receipts) => {
    expect(matchReceipts(vm, receipts).map(({ device }) => device.id)).toEqual(['gpu-1']);
  });
});
