import { expect, it } from 'vitest';
import type { HostNetwork } from '../host-driver.ts';
import { Ledger } from '../ledger/ledger.ts';
import { makeSpec, makeVm } from '../testing/make-spec.ts';
import { HostFirewall } from './host-firewall.ts';

it('guests get replies once their rules are in force, also from an agent that finds them in force', async () => {
  const vm = makeVm('vm-1');
  const ledger = new Ledger(
    { read: async () => null, write: async () => undefined },
    { version: 1, spec: makeSpec(7, { vms: [vm] }), vms: {} },
  );
  const seen: string[] = [];
  const network = (isInForce: boolean): HostNetwork => ({
    ensureInterfaces: async () => undefined,
    removeInterfaces: async () => undefined,
    isInForce: async () => isInForce,
    applyFirewall: async () => void seen.push('rules'),
    serveGuests: async (vms) => void seen.push(...vms.map(({ id }) => id)),
  });
  const changed = () => undefined;
  await new HostFirewall({ network: network(false), ledger, changed }).ensure();
  await new HostFirewall({ network: network(true), ledger, changed }).ensure();
  expect(seen).toEqual(['rules', 'vm-1', 'vm-1']);
});

it('rules that were removed outside the agent are applied again, and only those', async () => {
  const ledger = new Ledger(
    { read: async () => null, write: async () => undefined },
    { version: 1, spec: makeSpec(7), vms: {} },
  );
  let isThere = false;
  const applied: string[] = [];
  const network: HostNetwork = {
    ensureInterfaces: async () => undefined,
    removeInterfaces: async () => undefined,
    isInForce: async () => isThere,
    applyFirewall: async () => {
      applied.push('rules');
      isThere = true;
    },
    serveGuests: async () => undefined,
  };
  const firewall = new HostFirewall({ network, ledger, changed: () => undefined });
  expect(await firewall.restore({ quickly: true })).toBe(false);
  await firewall.ensure();
  expect(await firewall.restore({ quickly: true })).toBe(false);
  isThere = false;
  expect(await firewall.restore({ quickly: true })).toBe(true);
  expect(applied).toEqual(['rules', 'rules']);
  expect(firewall.inForce.number).toBe('7');
});

it('rules that a later spec replaces during the check do not count as removed', async () => {
  const ledger = new Ledger(
    { read: async () => null, write: async () => undefined },
    { version: 1, spec: makeSpec(7), vms: {} },
  );
  let look: () => Promise<boolean> = async () => true;
  const network: HostNetwork = {
    ensureInterfaces: async () => undefined,
    removeInterfaces: async () => undefined,
    isInForce: () => look(),
    applyFirewall: async () => undefined,
    serveGuests: async () => undefined,
  };
  const firewall = new HostFirewall({ network, ledger, changed: () => undefined });
  await firewall.ensure();
  look = async () => {
    await ledger.update((content) => ({ ...content, spec: makeSpec(8) }));
    return false;
  };
  expect(await firewall.restore({ quickly: true })).toBe(false);
});

it('only the first spec of a process asks whether its rules are in force, and one without a change of the network does nothing', async () => {
  const ledger = new Ledger(
    { read: async () => null, write: async () => undefined },
    { version: 1, spec: makeSpec(7, { vms: [makeVm('vm-1')] }), vms: {} },
  );
  let isThere = true;
  const seen: string[] = [];
  const network: HostNetwork = {
    ensureInterfaces: async () => undefined,
    removeInterfaces: async () => undefined,
    isInForce: async () => {
      seen.push('look');
      return isThere;
    },
    applyFirewall: async () => void seen.push('rules'),
    serveGuests: async (vms) => void seen.push(...vms.map(({ id }) => id)),
  };
  const firewall = new HostFirewall({ network, ledger, changed: () => undefined });
  const receive = async (number: number, vms: string[]) => {
    const spec = makeSpec(number, { vms: vms.map((id) => makeVm(id)) });
    await ledger.update((content) => ({ ...content, spec }));
    await firewall.ensure();
    expect(firewall.inForce.number).toBe(String(number));
    return seen.splice(0);
  };
  expect(await receive(7, ['vm-1'])).toEqual(['look', 'vm-1']);
  expect(await receive(8, ['vm-1'])).toEqual(['vm-1']);
  expect(await receive(9, ['vm-1', 'vm-2'])).toEqual(['rules', 'vm-1', 'vm-2']);
  isThere = false;
  expect(await firewall.restore({ quickly: true })).toBe(true);
  expect(seen.splice(0)).toEqual(['look', 'rules', 'vm-1', 'vm-2']);
  expect(await receive(10, ['vm-1', 'vm-2'])).toEqual(['vm-1', 'vm-2']);
});
