import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { BACKUP_BEGIN, JOB_STATS, JOB_TYPE } from 'node-libvirt/flags';
import {
  domainAbortJob,
  domainBackupBegin,
  domainBackupGetXmlDesc,
  domainGetJobStats,
} from 'node-libvirt/generated/procedures';
import type { Clock } from '../base/clock.ts';
import { HostFailure } from '../base/failure.ts';
import { parseXml } from '../base/parse-xml.ts';
import { element, renderXml, type XmlElement } from '../base/xml.ts';
import { type DiskCopying, NotWanted } from '../host-snapshots.ts';
import { CHANGE_LIMIT } from './call-limits.ts';
import { type FoundDomain, findDomain, requireRunning } from './domains/libvirt-domains.ts';
import { targetOf } from './running-disk.ts';

/**
 * Copies a disk of a running guest with libvirt's backup job: QEMU itself copies what the disk has at the moment at which
 * the job begins, and copies each block aside before the guest overwrites it. No other program opens the disk.
 *
 * The job belongs to the domain and not to the agent, so that an agent that is started after a crash continues to wait for
 * it. It is recognised by the path of its file.
 */
type Hypervisor = {
  vmId: string;
  clock: Clock;
  /** Runs one step. Other changes of the domain may come between two steps. */
  run<T>(step: (connection: Connection) => Promise<T>): Promise<T>;
};

const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 2_000;

export async function copyDisk(hypervisor: Hypervisor, copying: DiskCopying): Promise<void> {
  const { run, clock, vmId } = hypervisor;
  const { signal, target } = copying;
  await run((connection) => begin(connection, vmId, copying));
  copying.begun();
  const state = { isOver: false };
  try {
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_POLL_MS)) {
      state.isOver = await run((connection) => isOver(connection, vmId, target.path));
      if (state.isOver) return;
      await rest(clock, pauseMs, signal);
      signal.throwIfAborted();
    }
  } finally {
    if (!state.isOver && signal.reason instanceof NotWanted) {
      await run((connection) => abort(connection, vmId, target.path));
    }
  }
}

async function begin(connection: Connection, vmId: string, copying: DiskCopying): Promise<void> {
  const domain = await requireRunning(connection, vmId);
  const { diskId, target } = copying;
  if (await isCopyingTo(connection, domain, target.path)) return;
  const name = targetOf(domain, { id: diskId });
  if (name === null)
    throw new HostFailure('disk_in_use', `VM ${vmId} does not have disk ${diskId}`);
  await copying.prepare();
  const backupXml = describeBackup(name, target);
  const job = { dom: domain.handle, backupXml, checkpointXml: null };
  await connection.call(
    domainBackupBegin,
    { ...job, flags: BACKUP_BEGIN.reuseExternal },
    CHANGE_LIMIT,
  );
}

/** Only the disks that are named are copied. */
function describeBackup(disk: string, { path, format }: DiskCopying['target']): string {
  const target = [element('driver', { type: format }), element('target', { file: path })];
  const copied = element('disk', { name: disk, backup: 'yes', type: 'file' }, target);
  return renderXml(element('domainbackup', { mode: 'push' }, [element('disks', {}, [copied])]));
}

/** Returns whether the copy is complete. Throws if it ended otherwise. */
async function isOver(connection: Connection, vmId: string, path: string): Promise<boolean> {
  const domain = await findDomain(connection, vmId);
  if (domain?.state !== 'running') throw copyFailed(`VM ${vmId} has ended`);
  if (await isCopyingTo(connection, domain, path)) return false;
  const flags = JOB_STATS.completed | JOB_STATS.keepCompleted;
  const stats = { dom: domain.handle, flags };
  const { type, params } = await connection.call(domainGetJobStats, stats, CHANGE_LIMIT);
  if (type === JOB_TYPE.completed) return true;
  const reason = params.find(({ field }) => field === 'errmsg')?.value.value;
  throw copyFailed(typeof reason === 'string' ? reason : 'the job was aborted');
}

async function isCopyingTo(
  connection: Connection,
  { handle: dom }: FoundDomain,
  path: string,
): Promise<boolean> {
  try {
    const { xml } = await connection.call(domainBackupGetXmlDesc, { dom, flags: 0 }, CHANGE_LIMIT);
    const isTarget = ({ name, attributes, children }: XmlElement): boolean =>
      (name === 'target' && attributes['file'] === path) || children.some(isTarget);
    return isTarget(parseXml(xml));
  } catch (error) {
    if (isLibvirtError(error, LIBVIRT_ERROR.noDomainBackup)) return false;
    throw error;
  }
}

async function abort(connection: Connection, vmId: string, path: string): Promise<void> {
  const domain = await findDomain(connection, vmId);
  if (domain?.state !== 'running' || !(await isCopyingTo(connection, domain, path))) return;
  await connection.call(domainAbortJob, { dom: domain.handle }, CHANGE_LIMIT);
}

function copyFailed(reason: string): HostFailure {
  return new HostFailure('copy_failed', `the disk was not copied: ${reason}`);
}

async function rest(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = () => {
      cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(pauseMs, wake);
    signal.addEventListener('abort', wake);
  });
}
