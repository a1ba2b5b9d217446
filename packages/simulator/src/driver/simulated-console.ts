import { Duplex } from 'node:stream';

/** The commands of the simulated guest's shell. Other commands print an error. */
const COMMANDS: Record<string, (words: string[]) => string> = {
  whoami: () => 'root\r\n',
  echo: (words) => `${words.join(' ')}\r\n`,
  // One screen of text, or much more.
  yes: ([lines = '24']) => 'y\r\n'.repeat(Math.min(Number(lines) || 0, 10_000_000)),
};
const PROMPT = '# ';
/** A serial line delivers small pieces. */
const PIECE = 4_096;

/**
 * The guest's end of a serial line: a shell that echoes its input and replies line by line. Its
 * output also goes to the log, as on every host.
 */
export class SimulatedConsole extends Duplex {
  readonly #print: (text: string) => void;
  #typed = '';

  constructor(print: (text: string) => void) {
    super();
    this.#print = print;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (const key of bytes.toString()) {
      if (key === '\r' || key === '\n') this.#run();
      else {
        this.#typed += key;
        this.#say(key);
      }
    }
    done();
  }

  #run(): void {
    const [command = '', ...words] = this.#typed.trim().split(/ +/);
    this.#typed = '';
    const unknown = command === '' ? '' : `${command}: not found\r\n`;
    this.#say(`\r\n${COMMANDS[command]?.(words) ?? unknown}${PROMPT}`);
  }

  #say(text: string): void {
    this.#print(text);
    for (let at = 0; at < text.length; at += PIECE) this.push(text.slice(at, at + PIECE));
  }
}
