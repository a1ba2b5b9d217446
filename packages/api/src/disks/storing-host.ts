import type { StoringHost } from '@gantry/db/queries/snapshots/snapshots';
import { CloudError } from '@gantry/model/errors';

/** Throws if the host cannot make or use snapshots of the disks that it stores. */
export function requireSnapshotsOnHost(host: StoringHost | null | undefined): StoringHost {
  if (!host) {
    throw refusal('no host stores the disk yet: attach it to a VM that runs, or delete it');
  }
  const { fenced, shared_storage, knows_snapshots, lacks_snapshots } = host;
  if (fenced) throw refusal('the host that stores the disk was declared dead');
  if (shared_storage) {
    throw refusal(
      'the disk is stored in a directory that hosts share, which can have no snapshots',
    );
  }
  if (!knows_snapshots) {
    throw refusal(
      'the agent of the host that stores the disk is too old: an operator has to update it',
    );
  }
  if (lacks_snapshots !== '') throw refusal(`the disk can have no snapshots: ${lacks_snapshots}`);
  return host;
}

/** Throws if the host cannot send the content of a snapshot for an image. */
export function requireExportsOfHost(host: StoringHost | null | undefined): StoringHost {
  const able = requireSnapshotsOnHost(host);
  if (able.sends_images) return able;
  throw refusal(
    'the agent of the host that stores the snapshot is too old: an operator has to update it',
  );
}

function refusal(message: string): CloudError {
  return new CloudError('conflict', message);
}
