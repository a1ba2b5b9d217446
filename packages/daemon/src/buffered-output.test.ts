import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BufferedOutput } from './buffered-output.ts';

let folder: string;
let reader: number;
let writer: number;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gantry-pipe-'));
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  writer = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
});
afterEach(() => {
  closeSync(writer);
  rmSync(folder, { recursive: true });
});

function readAll(): string {
  const buffer = Buffer.alloc(100_000);
  try {
    return buffer.toString('utf8', 0, readSync(reader, buffer));
  } catch {
    return '';
  }
}

it('lines are written in order within a second, or when the process exits', async () => {
  const output = new BufferedOutput(writer);
  output.write('one\n');
  output.write('two\n');
  expect(readAll()).toBe('');
  await vi.waitFor(() => expect(readAll()).toBe('one\ntwo\n'), { timeout: 60_000 });
  output.write('three\n');
  output.flushSync();
  expect(readAll()).toBe('three\n');
  closeSync(reader);
});

it('a process whose reader is gone can exit', () => {
  const output = new BufferedOutput(writer);
  output.write('one\n');
  closeSync(reader);
  output.flushSync();
  output.write('two\n');
  output.flushSync();
});

it('a slow reader gets everything', async () => {
  const output = new BufferedOutput(writer);
  output.write('x'.repeat(1_000_000));
  output.write('end');
  let read = '';
  await vi.waitFor(
    () => {
      read += readAll();
      expect(read).toHaveLength(1_000_003);
    },
    { timeout: 30_000, interval: 5 },
  );
  expect(read.endsWith('xend')).toBe(true);
  closeSync(reader);
});

it('lines are written again after a disk was full', () => {
  const full = openSync('/dev/full', 'w');
  const output = new BufferedOutput(full);
  output.write('dropped\n');
  output.flushSync();
  closeSync(full);
  // The lowest free number is used again: the descriptor now takes what is written.
  const log = path.join(folder, 'log');
  expect(openSync(log, 'w')).toBe(full);
  output.write('written\n');
  output.flushSync();
  expect(readFileSync(log, 'utf8')).toBe('written\n');
  closeSync(full);
  closeSync(reader);
});

// The last one, because it writes on while the process lives.
it('a process whose reader does not read can exit', () => {
  const output = new BufferedOutput(writer);
  output.write('x'.repeat(1_000_000));
  output.flushSync();
  closeSync(reader);
});
