import type { CliContext } from '../cli-context.ts';
import { InterruptedError, UsageError } from '../cli-errors.ts';

/**
 * Asks the user for values. On a terminal each question is printed, and secrets are typed without an
 * echo. Otherwise each value is the next line of the standard input. So a secret is never an argument,
 * which every user of the machine could read in the list of processes.
 */
export type Prompt = {
  isInteractive: boolean;
  ask(question: string): Promise<string>;
  askSecret(question: string): Promise<string>;
  close(): void;
};

export function openPrompt({ process: { stdin, stderr } }: CliContext): Prompt {
  const isInteractive = stdin.isTTY === true && stdin.setRawMode !== undefined;
  const source = stdin.setEncoding('utf8')[Symbol.asyncIterator]();
  let buffered = '';

  /** Reads up to the next line end, key by key on a terminal in raw mode. */
  async function readLine(echo: (text: string) => void): Promise<string> {
    let line = '';
    for (;;) {
      for (const key of takeBuffered()) {
        if (key === '\r' || key === '\n' || (isInteractive && key === CTRL_D)) {
          keepRest(key);
          return line;
        }
        if (isInteractive && key === CTRL_C) throw new InterruptedError('interrupted');
        const next = isInteractive ? edited(line, key) : line + key;
        if (next.length < line.length) echo('\b \b'.repeat([...line].length - [...next].length));
        else echo(next.slice(line.length));
        line = next;
        buffered = buffered.slice(key.length);
      }
      const { value, done } = await source.next();
      if (done && line === '') throw new UsageError(`the input ended before the ${expected}`);
      if (done) return line;
      buffered += isInteractive ? String(value).replaceAll(ARROWS, '') : String(value);
    }
  }

  let expected = 'value';
  const takeBuffered = () => [...buffered];
  const keepRest = (end: string) => {
    // The line end of a Windows file has two characters.
    const isPair = end === '\r' && buffered[1] === '\n';
    buffered = buffered.slice(isPair ? 2 : 1);
  };

  async function read(question: string, echo: (text: string) => void): Promise<string> {
    expected = question.toLowerCase();
    if (!isInteractive) return await readLine(() => {});
    // The echo ends before the question, because a fast typist replies at once.
    stdin.setRawMode?.(true);
    try {
      stderr.write(`${question}: `);
      return await readLine(echo);
    } finally {
      stdin.setRawMode?.(false);
      stderr.write('\n');
    }
  }
  return {
    isInteractive,
    ask: (question) => read(question, (text) => stderr.write(text)),
    askSecret: (question) => read(question, () => {}),
    // A stream that is still read would keep the process alive.
    close: () => void source.return?.(),
  };
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const ERASE = ['\u007f', '\b'];

// biome-ignore lint/suspicious/noControlCharactersInRegex: these keys send it
const ARROWS = /\u001b(?:\[|O)[0-9;]*[A-Za-z~]/g;

/** Returns the line after a key. Other control keys do nothing. */
function edited(line: string, key: string): string {
  if (ERASE.includes(key)) return [...line].slice(0, -1).join('');
  if (key === CTRL_U) return '';
  return key < ' ' ? line : line + key;
}
