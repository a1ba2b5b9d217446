import { existsSync } from 'node:fs';

/**
 * The environment of a process whose clock is wrong by this much. libfaketime shifts the clock of
 * the whole process, also for TLS; where it is not installed, a module shifts the clock of
 * JavaScript. Neither changes how fast time passes.
 */
const LIBRARIES = ['x86_64', 'aarch64'].flatMap((machine) =>
  ['faketime/libfaketime.so.1', 'libfaketime.so.1'].map(
    (name) => `/usr/lib/${machine}-linux-gnu/${name}`,
  ),
);

export function skewedBy(seconds: number): Record<string, string> {
  const library = LIBRARIES.find((file) => existsSync(file));
  const offset = `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`;
  if (library) return { LD_PRELOAD: library, FAKETIME: offset, DONT_FAKE_MONOTONIC: '1' };
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift(seconds))}` };
}

function shift(seconds: number): string {
  return `const True = Date; const offset = ${1_000 * seconds};
    globalThis.Date = class Date extends True {
      constructor(...args) { if (args.length) super(...args); else super(True.now() + offset); }
      static now() { return True.now() + offset; }
    };`;
}
