import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Puts a copy of a file into a package's folder. */
export function place(folder, name, source, mode = 0o644) {
  const target = path.join(folder, name);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(source, target);
  chmodSync(target, mode);
}

/** Writes a file into a package's folder. */
export function placeText(folder, name, text, mode = 0o644) {
  const target = path.join(folder, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
  chmodSync(target, mode);
}
