import { expect, it } from 'vitest';
import { bridgesAbove, controllerAbove } from './pci-bridges.ts';

const UP = '../../../devices';

it.each([
  [
    'a device behind a switch',
    `${UP}/pci0000:40/0000:40:01.1/0000:41:00.0/0000:42:04.0/0000:43:00.0`,
    ['0000:40:01.1', '0000:41:00.0', '0000:42:04.0'],
  ],
  ['a device below a root port', `${UP}/pci0000:80/0000:80:03.1/0000:81:00.0`, ['0000:80:03.1']],
  ['a device on the root bus', `${UP}/pci0000:00/0000:00:1f.2`, []],
  [
    'a drive behind a storage controller with a root bus of its own',
    `${UP}/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0`,
    ['10000:e0:06.0'],
  ],
  [
    'a device below a bus that is not PCI',
    `${UP}/platform/soc/40000000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0`,
    ['0000:00:00.0'],
  ],
  ['a device that is no link', '', []],
])('%s has the bridges between it and its root bus, root port first', (_, path, bridges) => {
  expect(bridgesAbove(path)).toEqual(bridges);
});

it.each([
  [`${UP}/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0`, '0000:00:0e.0'],
  [`${UP}/pci0000:00/0000:00:0e.0`, undefined],
  [`${UP}/platform/soc/40000000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0`, undefined],
  ['', undefined],
])('the controller that has the root bus of %s is %s', (path, controller) => {
  expect(controllerAbove(path)).toBe(controller);
});
