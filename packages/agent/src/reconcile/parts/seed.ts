import type { Part } from './part.ts';

/** cloud-init's data, which the guest reads when it boots. */
export const seed: Part = {
  name: 'seed',
  ensure: (host, vm) => host.driver.seeds.ensure(vm),
  remove: (host, vm) => host.driver.seeds.remove(vm.id),
};
