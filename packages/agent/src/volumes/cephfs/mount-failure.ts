import { ExecError } from '@gantry/daemon/exec';
import { HostFailure } from '../../base/failure.ts';
import type { Share } from './share.ts';

/** What ceph-fuse says when it cannot mount: the number is one of the C library. */
const TEXTS: readonly [pattern: RegExp, code: string, advice: string][] = [
  [
    /mount failed with \((?:1|13)\)|handle_auth_bad_method/,
    'storage_denied',
    'the storage cluster refused the key of the shared volume: it was revoked, or does not open this volume',
  ],
  [
    /mount failed with \(2\)/,
    'disk_missing',
    'the storage cluster has no such shared volume, or no such file system: look for it with `ceph fs ls`',
  ],
  [
    /mount failed with \(108\)/,
    'storage_fenced',
    'the storage cluster refuses this host, because it is fenced: `ceph osd blocklist ls` shows it',
  ],
  [
    /mount failed with \(110\)/,
    'storage_unreachable',
    'no metadata server of the storage cluster replies: `ceph fs status` shows them',
  ],
  [
    /failed to fetch mon config/,
    'storage_unreachable',
    'no monitor of the storage cluster replies: check the storage network',
  ],
];

/** Returns the cause of a mount that failed. */
export function asMountFailure(error: unknown, share: Share): HostFailure {
  const failed = error instanceof HostFailure ? error.cause : error;
  const options = { cause: error };
  const named = `the shared volume ${share.path} of ${share.fileSystem}`;
  if (!(failed instanceof ExecError))
    return new HostFailure('storage_failed', `${named} was not mounted: ${error}`, options);
  if (failed.reason === 'not installed')
    return new HostFailure(
      'storage_unsupported',
      'this host cannot mount shared volumes of Ceph: apt-get install ceph-fuse',
      options,
    );
  const said = `${failed.stdout}\n${failed.stderr}`;
  const found = TEXTS.find(([pattern]) => pattern.test(said));
  const [, code, advice] = found ?? [
    /^/,
    failed.reason === 'timeout' ? 'storage_unreachable' : 'storage_failed',
    failed.reason === 'timeout'
      ? 'ceph-fuse did not mount it in time: check the storage cluster'
      : 'ceph-fuse did not mount it',
  ];
  const last = said.trim().split('\n').at(-1) ?? '';
  // Ceph and the agent have waited until their limits.
  const isFinal = code === 'storage_unreachable';
  return new HostFailure(code, `${advice} (${named}: ${last})`, { ...options, isFinal });
}
