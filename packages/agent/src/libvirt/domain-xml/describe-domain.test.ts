import { createLog } from '@gantry/daemon/log';
import { describe, expect, it } from 'vitest';
import { NO_PLACES } from '../../devices/card-places.ts';
import { gpu, makeDisk } from '../../testing/make-spec.ts';
import { describeDisks, slotsOf } from './describe-disks.ts';
import { describeDomain, domainDescriber } from './describe-domain.ts';
import { readDomain } from './read-domain.ts';
import { renderDomain } from './render-domain.ts';
import { ARM_KVM, emulated, gpuServer, vmOfType, X86_KVM } from './testing/gpu-server.ts';

const host = gpuServer(X86_KVM);
const vm = vmOfType({ cpuCores: 8, memoryGb: 64, gpuCount: 2, diskCount: 2 });
const share = (node: number, cpuCores: number, memoryMib: number) => ({
  node,
  cpuCores,
  memoryMib,
});

describe('the cells of a guest', () => {
  it('are one cell without a node if the spec names no nodes', () => {
    const { cells, emulatorCpus } = describeDomain({ ...vm, numaShares: [] }, host);
    expect(cells).toEqual([
      { hostNode: null, memoryMib: vm.memoryMib, vcpuPins: Array(8).fill('') },
    ]);
    expect(emulatorCpus).toBe('');
  });

  it('take cores and memory from the nodes of the spec', () => {
    const shares = [share(0, 6, 40_960), share(1, 2, 24_576)];
    const { cells, emulatorCpus } = describeDomain({ ...vm, numaShares: shares }, host);
    expect(cells.map((cell) => [cell.hostNode, cell.memoryMib, cell.vcpuPins.length])).toEqual([
      [0, 40_960, 6],
      [1, 24_576, 2],
    ]);
    expect(cells[1]?.vcpuPins).toEqual(['33', '97']);
    expect(emulatorCpus).toBe('0,64,32,96');
  });

  it('count the cores of a node without memory in the first cell, and leave them on their node', () => {
    const shares = [share(0, 6, 65_536), share(1, 2, 0)];
    const { cells } = describeDomain({ ...vm, numaShares: shares }, host);
    expect(cells).toHaveLength(1);
    expect(cells[0]?.vcpuPins.slice(5)).toEqual(['67', '33', '97']);
  });

  it('share all cores for VMs of a node on which too few are reserved', () => {
    const numaNodes = host.numaNodes.map((node) => ({ ...node, vcpuPins: ['5', '69'] }));
    const { cells } = describeDomain(vm, { ...host, numaNodes });
    expect(cells[0]?.vcpuPins).toEqual(Array(8).fill('1-31,65-95'));
  });

  it('keep the CPUs of a running domain, also if others are reserved', () => {
    const runningPins = Array.from({ length: 8 }, (_, vcpu) => `${20 + vcpu}`);
    const shares = [share(0, 6, 40_960), share(1, 2, 24_576)];
    const { cells } = describeDomain({ ...vm, numaShares: shares }, { ...host, runningPins });
    expect(cells.map(({ vcpuPins }) => vcpuPins)).toEqual([
      ['20', '21', '22', '23', '24', '25'],
      ['26', '27'],
    ]);
  });

  it('are not pinned under emulation', () => {
    const { cells, emulatorCpus } = describeDomain(vm, gpuServer(emulated(X86_KVM)));
    expect(cells[0]?.vcpuPins).toEqual(Array(8).fill(''));
    expect(emulatorCpus).toBe('');
  });

  it('are one cell without a node if the host lacks one of the nodes', () => {
    const shares = [share(0, 4, 32_768), share(7, 4, 32_768)];
    const { cells } = describeDomain({ ...vm, numaShares: shares }, host);
    expect(cells.map(({ hostNode }) => hostNode)).toEqual([null]);
  });
});

describe('the threads of a guest core', () => {
  const threadsWith = (change: Partial<typeof host>, cpuCores = 8) => {
    const shares = [share(0, cpuCores, vm.memoryMib)];
    const changed = { ...host, ...change };
    return describeDomain({ ...vm, cpuCores, numaShares: shares }, changed).threadsPerCore;
  };
  const pinned = (vcpuPins: string[]) => ({
    numaNodes: host.numaNodes.map((node) => ({ ...node, vcpuPins })),
  });

  it('are those of the host core that its vCPUs have', () => {
    expect(threadsWith({})).toBe(2);
  });

  it.each([
    ['the number of vCPUs is odd', {}, 7],
    [
      'siblings are not next to each other',
      pinned(['1', '2', '65', '66', '3', '67', '4', '68']),
      8,
    ],
    ['vCPUs have threads of different cores', pinned(['1', '65', '2', '67', '3', '66']), 6],
    ['vCPUs are not pinned to one CPU', pinned([]), 8],
    ['vCPUs have a physical core each', pinned(['1,65', '2,66', '3,67', '4,68']), 4],
    ['VMs are emulated', { platform: emulated(X86_KVM) }, 8],
  ])('are one if %s', (_, change, cpuCores) => {
    expect(threadsWith(change, cpuCores)).toBe(1);
  });
});

describe('the pages of a guest', () => {
  const pagesOf = (hugepages: { pageKib: number; total: number }[], memoryMib: number) => {
    const numaNodes = [{ id: 0, cores: [[0]], hostCpus: '0', hugepages }];
    const numaShares = [share(0, 8, memoryMib)];
    const wanted = { ...vm, memoryMib, numaShares };
    return describeDomain(wanted, { ...host, numaNodes }).memory.hugepageKib;
  };
  const large = { pageKib: 1_048_576, total: 64 };
  const small = { pageKib: 2_048, total: 32_768 };

  it('have the largest size that divides its memory', () => {
    expect(pagesOf([small, large], 65_536)).toBe(1_048_576);
    expect(pagesOf([small, large], 65_534)).toBe(2_048);
    expect(pagesOf([small, large], 65_533)).toBeNull();
  });

  it('are ordinary pages if the node has too few', () => {
    expect(pagesOf([{ ...large, total: 63 }], 65_536)).toBeNull();
    expect(pagesOf([], 65_536)).toBeNull();
  });
});

describe('the cards of a guest', () => {
  it('are in the cell of their node', () => {
    const shares = [share(1, 4, 32_768), share(0, 4, 32_768)];
    const gpus = ['0000:21:00.0', '0000:26:00.0'];
    const { cards } = describeDomain({ ...vm, devices: gpus.map(gpu), numaShares: shares }, host);
    expect(cards).toEqual([
      { functions: ['0000:21:00.0', '0000:21:00.1'], cell: 1, clique: null, guestSwitch: null },
      { functions: ['0000:26:00.0', '0000:26:00.1'], cell: 0, clique: null, guestSwitch: null },
    ]);
  });

  it('are in no cell if the guest has nothing of their node or the node is unknown', () => {
    const { cards } = describeDomain(
      { ...vm, devices: vm.devices.filter(({ kind }) => kind === 'gpu') },
      { ...host, nodeOf: () => null },
    );
    expect(cards.map(({ cell }) => cell)).toEqual([null, null]);
  });
});

describe('the disks of a guest', () => {
  const disks = (...ids: string[]) => ids.map((id) => makeDisk(id));

  it('keep their slots when others are added or removed', () => {
    const before = describeDomain({ ...vm, disks: disks('os', 'a', 'b') }, host);
    const slots = slotsOf(readDomain(renderDomain(before)));
    slots.delete('a');
    const wanted = { ...vm, disks: disks('os', 'c', 'b', 'd') };
    const after = describeDomain(wanted, { ...host, slots });
    expect(after.disks.map(({ id, slot }) => [id, slot])).toEqual([
      ['os', 0],
      ['c', 1],
      ['b', 2],
      ['d', 3],
    ]);
  });

  it('get a free slot when they are attached to a running guest', () => {
    const present = describeDomain(vm, host);
    const facts = readDomain(renderDomain(present));
    const slots = slotsOf(facts);
    expect([...slots.values()]).toEqual([0, 1, 2]);
    const more = describeDisks(disks('data'), { ...host, slots, iothreads: facts.iothreads });
    expect(more.disks).toMatchObject([{ id: 'data', slot: 3 }]);
  });

  it('are at most sixteen', () => {
    const ids = Array.from({ length: 17 }, (_, index) => `disk-${index}`);
    const describeAll = () => describeDomain({ ...vm, disks: disks(...ids) }, host);
    expect(describeAll).toThrow(expect.objectContaining({ code: 'too_many_disks' }));
  });
});

describe("the virtualization of a guest's CPU", () => {
  it('is hidden on x64 unless the type of the VM has it', () => {
    const hidden = (nestedVirtualization: boolean, platform = X86_KVM) =>
      describeDomain({ ...vm, nestedVirtualization }, gpuServer(platform)).hiddenCpuFeatures;
    expect(hidden(false)).toEqual(['vmx', 'svm']);
    expect(hidden(true)).toEqual([]);
    expect(hidden(false, ARM_KVM)).toEqual([]);
  });

  it('is hidden with 57-bit addresses on an emulated CPU, which is broken with these alone', () => {
    const hidden = (nestedVirtualization: boolean) =>
      describeDomain({ ...vm, nestedVirtualization }, gpuServer(emulated(X86_KVM)))
        .hiddenCpuFeatures;
    expect(hidden(false)).toEqual(['vmx', 'svm', 'la57']);
    expect(hidden(true)).toEqual([]);
  });

  it('that the host does not offer fails the definition with what to do', async () => {
    const { describe: describeVm } = domainDescriber({
      ...{ platform: X86_KVM, vhostNet: false, mtu: 1_450, directIo: false, lockMemory: false },
      volumes: { locate: () => Promise.reject(new Error('not reached')) },
      ...{ seedPath: String, nvramPath: String, serialLogPath: String },
      placesOf: async () => NO_PLACES,
      numaNodes: async () => [],
      offersNesting: async () => false,
      ...{ core: 'thread', log: createLog({ process: 'agent', level: 'silent' }) },
      hasCliques: async () => false,
    });
    const alone = { present: null, kept: null, readOtherPins: async () => [] };
    await expect(describeVm({ ...vm, nestedVirtualization: true }, alone)).rejects.toMatchObject({
      code: 'nesting_unavailable',
      message: expect.stringContaining('kvm_intel'),
    });
  });
});
