import { expect, test } from 'vitest';
import { DEFAULT_SLOTS, rootComplexArguments, slotAddresses, slotArguments } from './slots.ts';

test('every slot has a root port of its own, and its cards sit behind it', () => {
  const { fixed, cards } = slotArguments(DEFAULT_SLOTS, (id) => `/lab/${id}.raw`);
  const devices = [...fixed.filter((_, index) => fixed[index - 1] === '-device'), ...cards];
  const ports = devices.filter((device) => device.startsWith('pcie-root-port'));
  expect(ports).toHaveLength(DEFAULT_SLOTS.length);
  expect(new Set(ports.map((port) => /addr=\w+/.exec(port)?.[0])).size).toBe(ports.length);
  expect(devices).toContain('nvme,id=drive0,bus=drive0-port,drive=drive0-file,serial=LAB-NVME-0');
  expect(devices).toContain('ati-vga,romfile=,id=ati,bus=ati-port,addr=0.0,multifunction=on');
  expect(devices).toContain('intel-hda,id=ati.1,bus=ati-port,addr=0.1');
  expect(devices).toContain('edu,id=shared.1,bus=shared-bridge,addr=2');
});

test('cards behind a switch share an IOMMU group, because their root port has no ACS', () => {
  const slots = [
    { id: 'alone', functions: ['edu'] },
    { id: 'shared', behindSwitch: ['edu', 'edu'] },
  ];
  const { fixed } = slotArguments(slots, (id) => id);
  const ports = fixed.filter((text) => text.includes('pcie-root-port'));
  expect(ports.map((port) => port.includes('disable-acs=on'))).toEqual([false, true]);
});

test('a drive keeps its content in a file that gives back what is discarded', () => {
  const { fixed } = slotArguments(DEFAULT_SLOTS, (id) => `/lab/${id}.raw`);
  const drives = fixed.filter((_, index) => fixed[index - 1] === '-drive');
  expect(drives[0]).toContain('file=/lab/drive0.raw');
  expect(drives[0]).toContain('discard=unmap');
});

test('addresses are those Linux gives: a bus for each port, and one for the bridge behind it', () => {
  const addresses = slotAddresses([...DEFAULT_SLOTS, { id: 'last', functions: ['edu'] }]);
  expect(addresses.get('drive0')).toEqual(['0000:01:00.0']);
  expect(addresses.get('ati')).toEqual(['0000:06:00.0', '0000:06:00.1']);
  expect(addresses.get('shared')).toEqual(['0000:08:01.0', '0000:08:02.0']);
  expect(addresses.get('last')).toEqual(['0000:09:00.0']);
});

test('the slots of a NUMA node are below a root complex that belongs to the node', () => {
  const slots = [
    { id: 'first', node: 0, functions: ['edu'] },
    { id: 'other', functions: ['edu'] },
    { id: 'switch', node: 1, behindSwitch: ['edu', 'edu'] },
    { id: 'last', node: 1, functions: ['edu'] },
  ];
  const { fixed } = slotArguments(slots, (id) => id);
  const ports = fixed.filter((text) => text.includes('pcie-root-port'));
  expect(ports.map((port) => /bus=([^,]+)/.exec(port)?.[1])).toEqual([
    'node0',
    'pcie.0',
    'node1',
    'node1',
  ]);
  expect(rootComplexArguments(2)).toContain('pxb-pcie,id=node1,bus=pcie.0,bus_nr=128,numa_node=1');
  const addresses = slotAddresses(slots);
  expect(addresses.get('first')).toEqual(['0000:41:00.0']);
  expect(addresses.get('other')).toEqual(['0000:01:00.0']);
  expect(addresses.get('switch')).toEqual(['0000:83:00.0', '0000:84:00.0']);
  expect(addresses.get('last')).toEqual(['0000:85:00.0']);
});
