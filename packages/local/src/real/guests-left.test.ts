import { expect, test } from 'vitest';
import { describeGuestsLeft } from './guests-left.ts';

const guests = ['gantry-1', 'gantry-2'];

test('every VM that runs on is named with the command that ends it', () => {
  const socketPath = '/run/libvirt/libvirt-sock';
  const said = describeGuestsLeft({ guests, socketPath, daemonsLeft: false });
  expect(said).toContain('2 VMs run on');
  for (const name of guests) expect(said).toContain(`\n  virsh destroy ${name}\n`);
  expect(said).not.toContain('libvirtd');
});

test('daemons that were started for them are said to run on as well', () => {
  const [one = ''] = guests;
  const socketPath = '/run/libvirt/libvirt-sock';
  expect(describeGuestsLeft({ guests: [one], socketPath, daemonsLeft: true })).toContain(
    'So do virtlogd and libvirtd',
  );
});

test('the command reaches the libvirt that was used', () => {
  const said = describeGuestsLeft({ guests, socketPath: '/else/where', daemonsLeft: false });
  expect(said).toContain(`virsh -c 'qemu:///system?socket=/else/where' destroy gantry-1`);
});
