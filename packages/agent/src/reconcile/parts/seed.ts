import type { Part } from './part.ts';

/** What the guest reads at its boot. */
export const seed: Part = {
  name: 'seed',
  ensure: (host, vm) => host.driver.seeds.ensure(vm),
  remove: (host, vm) => host.driver.seeds.remove(vm.id),
};
