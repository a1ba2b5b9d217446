import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { fail, pathOf, type Stored } from './simulated-parts.ts';
import type { BackupPart, ExportedFile } from './storage-cluster.ts';

type SimulatedContent = { content: string; sizeBytes: number; passphrase: string | null };
type Written = SimulatedContent & { since: string | null; snapshot: string };

/** Writes a file as the simulated cluster exports snapshots. Unchanged content is left out, so that such a file is smaller. */
export async function writeBackupFile(
  file: string,
  { volume, since, snapshot }: { volume: Stored; since: string | null; snapshot: string },
): Promise<ExportedFile> {
  const find = (name: string) =>
    volume.snapshots.get(name) ??
    fail('not_found', `The volume ${pathOf(volume)} has no snapshot ${name}.`);
  const now = find(snapshot);
  const before = since === null ? undefined : find(since);
  const content = before?.content === now.content ? '' : now.content;
  const { passphrase } = volume;
  const written: Written = { since, snapshot, sizeBytes: now.sizeBytes, content, passphrase };
  const text = encode(written);
  try {
    const handle = await open(file, 'w', 0o600);
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
  } catch (error) {
    fail('failed', `The backup file ${file} cannot be used: ${error}.`);
  }
  return { bytes: text.length, sha256: sha256Of(text) };
}

/** Returns the content of a volume that is made of the files. Throws if one is damaged or belongs elsewhere. */
export async function readBackupFiles(parts: readonly BackupPart[]): Promise<SimulatedContent> {
  const texts: string[] = [];
  for (const { file, sha256 } of parts) {
    const text = await readFile(file, 'utf8').catch((error: unknown) =>
      fail('failed', `The backup file ${file} cannot be used: ${error}.`),
    );
    if (sha256Of(text) !== sha256)
      fail('failed', `The backup file ${file} is damaged: its SHA-256 differs from ${sha256}.`);
    texts.push(text);
  }
  let found: SimulatedContent = { content: '', sizeBytes: 0, passphrase: null };
  let has: string | null = null;
  for (const [index, text] of texts.entries()) {
    const { since, snapshot, content, ...rest } = decode(text);
    if (since !== has || snapshot !== parts[index]?.snapshot)
      fail('failed', `The backup file ${parts[index]?.file} belongs to another backup.`);
    found = { ...rest, content: since === null || content !== '' ? content : found.content };
    has = snapshot;
  }
  return found;
}

/** The content is not readable in the file, because volumes may be encrypted. */
function encode(written: Written): string {
  return Buffer.from(JSON.stringify(written)).toString('base64');
}

function decode(text: string): Written {
  return JSON.parse(Buffer.from(text, 'base64').toString());
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
