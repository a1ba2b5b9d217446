import type { DiskSpec } from '../../spec.ts';

/** A shared volume of a storage cluster, with the key that opens it. */
export type Share = NonNullable<DiskSpec['cephfs']>;
