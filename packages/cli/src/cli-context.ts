import type { CommandContext } from '@stricli/core';

/** The part of a stream that commands write to. */
export type Output = {
  write(data: string | Uint8Array): unknown;
  once?(event: 'drain', resume: () => void): unknown;
  isTTY?: boolean;
  columns?: number;
  getColorDepth?(env?: object): number;
};

/** The part of the standard input that commands read. A terminal has `setRawMode`. */
export type Input = NodeJS.ReadableStream & {
  isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
};

/** What a command knows of the process that it runs in. Tests pass their own. */
export type CliContext = CommandContext & {
  readonly process: {
    readonly stdin: Input;
    readonly stdout: Output;
    readonly stderr: Output;
    readonly env: Readonly<Record<string, string | undefined>>;
    exitCode?: number | string | null;
  };
};
