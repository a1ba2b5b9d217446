import type { Part } from './part.ts';

/** The interfaces. The rules are in force before the interfaces exist and until they are gone. */
export const network: Part = {
  name: 'network',

  async ensure(host, vm) {
    // Recorded before they exist, so that a crash leaves no interface without rules.
    await host.ledger.updateFacts(vm.id, { nics: vm.nics });
    await host.firewall.ensure();
    await host.driver.network.ensureInterfaces(vm.id, vm.nics);
  },

  async remove(host, vm) {
    await host.driver.network.removeInterfaces(vm.id);
    await host.ledger.updateFacts(vm.id, { nics: [] });
  },
};
