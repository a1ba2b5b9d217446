import { both32 } from './iso9660-fields.ts';

/**
 * Rock Ridge (IEEE P1282) in the system use fields of directory records: exact names and modes, for
 * guests whose kernel does not read Joliet. Linux prefers it to Joliet.
 */
const DIRECTORY_MODE = 0o040500;
/** For root only, because scripts contain secrets. */
const FILE_MODE = 0o100400;

/**
 * In the root directory's own record: declares that these fields are in use, and by which standard.
 */
export function rockRidgeSelf(): Buffer {
  const sharing = entry('SP', Buffer.from([0xbe, 0xef, 0]));
  const standard = 'RRIP_1991A';
  const extension = entry('ER', Buffer.from([standard.length, 0, 0, 1]), Buffer.from(standard));
  return Buffer.concat([sharing, rockRidgeParent(), extension]);
}

export function rockRidgeParent(): Buffer {
  return attributes(DIRECTORY_MODE, 2);
}

export function rockRidgeFile(name: string): Buffer {
  return Buffer.concat([attributes(FILE_MODE, 1), entry('NM', Buffer.of(0), Buffer.from(name))]);
}

function attributes(mode: number, links: number): Buffer {
  const root = both32(0);
  return entry('PX', both32(mode), both32(links), root, root);
}

function entry(signature: string, ...fields: Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  return Buffer.concat([Buffer.from(signature), Buffer.of(4 + body.length, 1), body]);
}
