import type { SshKeyRow } from '@gantry/db/queries/tenants/ssh-keys';
import { sshFingerprint } from '@gantry/model/ssh-key';

export function sshKeyView({ id, name, public_key, tags, created_at }: SshKeyRow) {
  const fingerprint = sshFingerprint(public_key);
  return { id, name, public_key, fingerprint, tags, created_at: created_at.toISOString() };
}
