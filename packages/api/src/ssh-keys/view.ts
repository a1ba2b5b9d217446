import type { SshKeyRow } from '@gantry/db/queries/tenants/ssh-keys';
import type { UserSshKeyRow } from '@gantry/db/queries/tenants/user-ssh-keys';
import { sshFingerprint } from '@gantry/model/ssh-key';

export function userSshKeyView({ id, name, public_key, created_at }: UserSshKeyRow) {
  const fingerprint = sshFingerprint(public_key);
  return { id, name, public_key, fingerprint, created_at: created_at.toISOString() };
}

export function sshKeyView({ tags, ...key }: SshKeyRow) {
  return { ...userSshKeyView(key), tags };
}
