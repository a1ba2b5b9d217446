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
