import { createHash } from 'node:crypto';
import type { FirewallRule } from './generated/gantry/v1/FirewallRule.ts';
import type { NetworkSpec } from './generated/gantry/v1/NetworkSpec.ts';
import type { VmSpec } from './generated/gantry/v1/VmSpec.ts';

/**
 * Schedulers and agents identify the content of a spec by these, so that both find out after a restore
 * whether they have the same. Counters are left out, and so are disks, which hosts report one by one.
 */
export function hashVm(vm: VmSpec): string {
  return hash([
    ...[vm.name, vm.cpuCores, vm.memoryMib, vm.projectId, vm.type, vm.imageId],
    ...[vm.sshPublicKey, vm.startupScript, vm.shutdownScript],
    // Agents of earlier versions do not know these, and must compute the same hash without them.
    ...(vm.sshKeys?.length ? [vm.sshKeys] : []),
    ...(vm.userData ? [{ userData: vm.userData }] : []),
    (vm.devices ?? []).map(({ kind, address }) => [kind, address]),
    (vm.interfaces ?? []).map((one) => [
      ...[one.id, one.networkId, one.mac, one.privateIpv4, one.gatewayIpv4, one.publicIpv4],
    ]),
  ]);
}

/** `rules` are those of the network, in any order. */
export function hashNetwork(network: NetworkSpec, rules: readonly FirewallRule[]): string {
  return hash([
    network.vni,
    (network.subnets ?? []).map(({ cidr, gatewayIpv4 }) => [cidr, gatewayIpv4]).sort(),
    rules.map((rule) => hashRule(rule)).sort(),
  ]);
}

/** A network may have hundreds of large rules, of which one changes. Rules are replaced and never changed. */
const ruleHashes = new WeakMap<FirewallRule, string>();

function hashRule(rule: FirewallRule): string {
  const known = ruleHashes.get(rule);
  if (known !== undefined) return known;
  const made = hash([
    ...[rule.id, rule.direction, rule.action, rule.protocols, rule.sources, rule.sourcePorts],
    ...[rule.destinations, rule.destinationPorts],
  ]);
  ruleHashes.set(rule, made);
  return made;
}

function hash(content: unknown): string {
  // The wire carries an absent text as an empty one.
  const text = JSON.stringify(content, (_key, value) => value ?? '');
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
