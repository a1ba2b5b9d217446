import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import path from 'node:path';

export type NewLogs = () => { name: string; text: string }[];

/** Longer than a line, so that a line that was not complete in one call is complete in the next. */
const OVERLAP_BYTES = 64 * 1024;

/** Returns a function that reads what was added to the logs of the directory since its last call. */
export function readNewLogs(directory: string): NewLogs {
  const read = new Map<string, number>();
  return () => {
    const names = readdirSync(directory).filter((name) => name.endsWith('.log'));
    return names.flatMap((name) => {
      const file = path.join(directory, name);
      const { size } = statSync(file);
      const known = read.get(name) ?? 0;
      if (size === known) return [];
      read.set(name, size);
      return [{ name, text: readPart(file, Math.max(0, known - OVERLAP_BYTES), size) }];
    });
  };
}

function readPart(file: string, from: number, to: number): string {
  const bytes = Buffer.alloc(to - from);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, bytes, 0, bytes.length, from);
  } finally {
    closeSync(descriptor);
  }
  return bytes.toString('utf8');
}
