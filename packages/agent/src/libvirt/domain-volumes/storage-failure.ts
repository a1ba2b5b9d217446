import { connect } from 'node:net';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { HostFailure } from '../../base/failure.ts';
import { monitorAddress } from '../../volumes/storage-network.ts';

/** Whether a monitor of the cluster accepts connections. */
export type ProbeMonitor = (monitor: string) => Promise<boolean>;

/**
 * What QEMU says when it cannot open or change a volume. libvirt passes it on as the text of an internal error, also
 * in the output of a QEMU that ended; QEMU takes the second half from the C library.
 */
const TEXTS: readonly [pattern: RegExp, code: string, advice: string][] = [
  [
    /error (?:reading header|opening pool)[^\n]*: No such file or directory/,
    'disk_missing',
    'the volume does not exist in the storage cluster, or is in its trash: look for it with `rbd ls` and `rbd trash ls`',
  ],
  [
    /(?:error connecting|error reading header)[^\n]*: Cannot send after transport endpoint shutdown/,
    'storage_fenced',
    'the storage cluster refuses this host, because it is fenced: the fence is lifted after its agent has reported ' +
      'that no VM of before the fence runs; `ceph osd blocklist ls` shows it',
  ],
  [
    /(?:error connecting|error reading header|error opening)[^\n]*: (?:Operation not permitted|Permission denied)/,
    'storage_denied',
    'the storage cluster refused the key of the volume: it was revoked, or does not open this volume',
  ],
  [
    /cannot unlock any keyslot|Volume is not in LUKS format/,
    'storage_denied',
    'the passphrase does not open the encrypted volume: its header was overwritten, or the volume is not the one that ' +
      'the control plane has made',
  ],
  [
    /: (?:No space left on device|Disk quota exceeded)/,
    'pool_full',
    'the pool of the storage cluster has no space left: add OSDs, delete disks, or raise the quota of the pool',
  ],
  [
    /error reading conf file/,
    'storage_unsupported',
    'QEMU cannot read the file with the settings for Ceph: its AppArmor profile must allow /etc/ceph/*.conf',
  ],
  [
    /(?:Unknown driver|Unknown protocol|is not available)[^\n]*rbd|rbd[^\n]*(?:is not available|is not supported)/,
    'storage_unsupported',
    'this QEMU cannot open volumes of Ceph: apt-get install qemu-block-extra',
  ],
];

/** A wrong key and a cluster that does not reply look the same to QEMU: it waits until its time limit. */
const TIMED_OUT = /error connecting[^\n]*: (?:Connection timed out|Operation timed out)/;

/**
 * Returns the cause of a failed change of a domain as a failure of its storage, if QEMU's message shows that it was one;
 * otherwise the error itself.
 */
export async function asStorageFailure(
  error: unknown,
  { monitors, probe = acceptsConnections }: { monitors: readonly string[]; probe?: ProbeMonitor },
): Promise<unknown> {
  if (!isLibvirtError(error, LIBVIRT_ERROR.internal, LIBVIRT_ERROR.operationFailed)) return error;
  const said = error.message.trim().split('\n').at(-1) ?? '';
  for (const [pattern, code, advice] of TEXTS) {
    if (pattern.test(error.message))
      return new HostFailure(code, `${advice} (${said})`, { cause: error });
  }
  if (!TIMED_OUT.test(error.message)) return error;
  const reached = await Promise.all([...new Set(monitors)].map(probe));
  const options = { cause: error, isFinal: true };
  if (reached.includes(true)) {
    const message =
      'monitors of the storage cluster accept connections, but none accepted the key of the volume: it was revoked ' +
      `or is wrong, or the monitors have no quorum (${said})`;
    return new HostFailure('storage_denied', message, options);
  }
  const message = `no monitor of the storage cluster replies (${monitors.join(', ')}): check the storage network`;
  return new HostFailure('storage_unreachable', message, options);
}

const PROBE_LIMIT_MS = 1_000;

/** Ceph's monitors send a banner before they ask for a key. */
async function acceptsConnections(monitor: string): Promise<boolean> {
  const { host, port } = monitorAddress(monitor);
  return await new Promise<boolean>((resolve) => {
    const socket = connect({ host, port, timeout: PROBE_LIMIT_MS });
    const end = (accepts: boolean) => {
      socket.destroy();
      resolve(accepts);
    };
    socket.once('data', () => end(true));
    for (const event of ['timeout', 'error', 'end'] as const) socket.once(event, () => end(false));
  });
}
