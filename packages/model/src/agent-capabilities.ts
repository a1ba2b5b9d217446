/**
 * What an agent of this version can do beyond the first version, in words that are part of the wire
 * format. A word is added together with the field that needs it and never gets another meaning. The
 * agent reports its words, and refuses a spec or a VM that needs a word it does not know: an agent that
 * ignored an unknown field would report as done what it did not do.
 */
export const AGENT_CAPABILITIES = [
  'spec_hashes',
  'vm_refusals',
  'needs',
  'ssh_keys',
  'user_data',
  'agent_upgrades',
  'rbd',
  'guest_freezes',
  'luks',
  'cephfs',
  'local_snapshots',
  'image_transfers',
] as const;

/** Returns the words of the list that are not capabilities of this version. */
export function missingCapabilities(needs: readonly string[]): string[] {
  const known: readonly string[] = AGENT_CAPABILITIES;
  return needs.filter((need) => !known.includes(need));
}
