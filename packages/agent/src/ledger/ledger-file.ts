import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import type { LedgerContent, LedgerStore } from './ledger.ts';

/**
 * Stores the ledger as one JSON file. The file is replaced atomically: after a crash at any moment
 * it has the old or the new content. The agent does not start with a file that it cannot parse:
 * with an empty ledger it would not know which devices are in use.
 */
export class LedgerError extends Error {
  override name = 'LedgerError';
}

export function ledgerFile(stateDirectory: string): LedgerStore & { path: string } {
  const path = join(stateDirectory, 'ledger.json');
  return {
    path,
    read: () => readLedger(path),
    write: (content) => replace(stateDirectory, path, content),
  };
}

async function replace(directory: string, path: string, content: LedgerContent): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replaceFile(path, JSON.stringify(content), 0o600);
}

async function readLedger(path: string): Promise<LedgerContent | null> {
  let text: string | undefined;
  try {
    text = await unlessMissing(readFile(path, 'utf8'));
  } catch (error) {
    throw new LedgerError(`the ledger ${path} cannot be read`, { cause: error });
  }
  if (text === undefined) return null;
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new LedgerError(`the ledger ${path} is damaged: it is not JSON`, { cause: error });
  }
  if (!isLedger(content)) {
    throw new LedgerError(`the ledger ${path} is damaged, or from another version of the agent`);
  }
  return withDefaults(content);
}

/** A spec that an earlier version of the agent stored lacks the fields that were added since. */
function withDefaults(content: LedgerContent): LedgerContent {
  const { spec } = content;
  if (spec === null) return content;
  const vms = spec.vms.map((vm) => ({
    ...vm,
    sshKeys: vm.sshKeys ?? [],
    userData: vm.userData ?? '',
    image: vm.image ? { ...vm.image, id: vm.image.id ?? '' } : null,
    disks: vm.disks.map(({ rbd, cephfs, ...disk }) => ({
      ...disk,
      cephfs: cephfs ?? null,
      rbd: rbd ? { ...rbd, passphrase: rbd.passphrase ?? '' } : null,
    })),
  }));
  const { era = '0', hash = '', diskLimits = [], freezes = [] } = spec;
  const { snapshots = [], deletedSnapshots = [], diskCopies = [], diskRestores = [] } = spec;
  const { imageExports = [] } = spec;
  const orders = { snapshots, deletedSnapshots, diskCopies, diskRestores, imageExports };
  return { ...content, spec: { ...spec, vms, era, hash, diskLimits, freezes, ...orders } };
}

function isLedger(value: unknown): value is LedgerContent {
  if (!isObject(value) || value['version'] !== 1 || !isObject(value['vms'])) return false;
  const spec = value['spec'];
  if (spec === null) return true;
  return isObject(spec) && typeof spec['number'] === 'string' && Array.isArray(spec['vms']);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
