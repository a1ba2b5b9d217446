import { describe, expect, it } from 'vitest';
import { disksToRecord } from './settle-attachments.ts';
import type { VmVerdict } from './settle-vm.ts';
import { makePlacedVm, makeVmReport } from './testing/rows.ts';

const GIB = 2 ** 30;
const reported = (sizeGib: number) => ({ id: 'disk-1', sizeBytes: String(sizeGib * GIB) });
const attachment = {
  disk_id: 'disk-1',
  desired_state: 'attached',
  attached: true,
  size_gib: 100,
  observed_size_gib: 100,
  kept_here: true,
  kept_elsewhere: false,
  in_pool: false,
} as const;
const created = { attached: false, observed_size_gib: null, kept_here: false };
const running = { is: 'running', failure: null } as const;

type Case = { disk?: object; verdict?: VmVerdict; sizeGib?: number; attachedGib?: number };

function recordedGib({ disk = {}, verdict = { is: 'nothing' }, ...sizes }: Case): number[] {
  const { sizeGib = 100, attachedGib = sizeGib } = sizes;
  const vm = makePlacedVm({ attachments: [{ ...attachment, ...disk }] });
  const vmReport = makeVmReport({ disks: attachedGib > 0 ? [reported(attachedGib)] : [] });
  const judged = [{ vm, vmReport, verdict }];
  const disks = disksToRecord({ report: { disks: [reported(sizeGib)] }, vms: [vm], judged });
  return disks.map((one) => one.sizeGib);
}

describe('disksToRecord', () => {
  it.each<[string, Case]>([
    ['whose host and size are known', {}],
    ['that is larger than wanted', { sizeGib: 120 }],
    ['of a VM that runs now, because its verdict records it', { disk: created, verdict: running }],
    ['that another host stores', { disk: { kept_here: false, kept_elsewhere: true } }],
    ['that a storage cluster stores', { disk: { ...created, in_pool: true } }],
  ])('leaves out a disk %s', (_, given) => {
    expect(recordedGib(given)).toEqual([]);
  });

  it.each<[string, Case]>([
    ['that has grown', { disk: { observed_size_gib: 50 } }],
    ['that has grown by a part', { disk: { size_gib: 200 }, sizeGib: 150 }],
    ['of a VM that does not run yet', { disk: created }],
    ['that a running VM has not attached', { disk: created, verdict: running, attachedGib: 0 }],
    ['that a running VM attached smaller', { disk: created, verdict: running, attachedGib: 50 }],
    ['that is detached', { disk: { ...created, desired_state: 'detached' }, verdict: running }],
    ['whose size is not known', { disk: { observed_size_gib: null } }],
  ])('keeps a disk %s', (_, given) => {
    expect(recordedGib(given)).toEqual([given.sizeGib ?? 100]);
  });

  it('keeps a disk that no placed VM has', () => {
    const report = { disks: [reported(100)] };
    expect(disksToRecord({ report, vms: [], judged: [] })).toEqual([
      { id: 'disk-1', sizeGib: 100 },
    ]);
  });
});
