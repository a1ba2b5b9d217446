import { expect, test } from 'vitest';
import { describeGuestsLeft } from './guests-left.ts';

const guests = ['gantry-1', 'gantry-2'];

test('the message names every VM that still runs and the command that stops it', () => {
  const socketPath = '/run/libvirt/libvirt-sock';
  const said = describeGuestsLeft({ guests, socketPath, daemonsLeft: false });
  expect(said).toContain('2 VMs run on');
  for (const name of guests) expect(said).toContain(`\n  virsh destroy ${name}\n`);
  expect(said).not.toContain('libvirtd');
});

test('the message names the daemons that were started and still run', () => {
  const [one = ''] = guests;
  const socketPath = '/run/libvirt/libvirt-sock';
  expect(describeGuestsLeft({ guests: [one], socketPath, daemonsLeft: true })).toContain(
    'virtlogd and libvirtd, which were started for it, run too',
  );
});

test('the command connects to the libvirt that was used', () => {
  const said = describeGuestsLeft({ guests, socketPath: '/else/where', daemonsLeft: false });
  expect(said).toContain(`virsh -c 'qemu:///system?socket=/else/where' destroy gantry-1`);
});
