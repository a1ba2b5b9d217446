/** Failures that say only that a part of the host did not reply in time. */
const SILENCES = new Set(['libvirt_unresponsive', 'network_command_timeout', 'vm_unresponsive']);

/** Returns whether a VM that ran before may still do its work, or will once its host replies again. */
export function isSilence({ code }: { code: string }): boolean {
  return SILENCES.has(code);
}
