import { Duplex } from 'node:stream';
import { createLog } from '@gantry/daemon/log';
import type { ConsoleBytes } from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { HostFailure } from '../base/failure.ts';
import type { Hypervisor } from '../host-driver.ts';
import type { ConsoleStream } from '../link/link.ts';
import { HostConsoles } from './host-consoles.ts';

const log = createLog({ process: 'test', level: 'silent' });

/** A serial line of a guest: `printed` goes to the viewers, `typed` came from them. */
class Line extends Duplex {
  typed = '';
  override _read(): void {}
  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.typed += bytes;
    done();
  }
}

/** The scheduler's end of a stream. It accepts one message at a time, when the test reads it. */
class Viewer extends Duplex {
  shown = '';
  ending = '';
  reads = true;
  cancelled = false;
  #waiting: (() => void)[] = [];
  constructor() {
    super({ objectMode: true });
  }
  override _read(): void {}
  override _write(message: ConsoleBytes, _encoding: BufferEncoding, done: () => void): void {
    this.shown += message.data ?? '';
    this.ending = message.end ?? '';
    if (this.reads) done();
    else this.#waiting.push(done);
  }
  readOn(): void {
    this.reads = true;
    for (const done of this.#waiting.splice(0)) done();
  }
  cancel(): void {
    this.cancelled = true;
    this.destroy();
  }
}

let lines: Line[];
let viewers: Map<string, Viewer>;
let consoles: HostConsoles;
let failing: Error | null;

beforeEach(() => {
  lines = [];
  failing = null;
  viewers = new Map();
  const hypervisor = {
    readSerialLog: async () => 'before\n',
    openConsole: async () => {
      if (failing) throw failing;
      const line = new Line();
      lines.push(line);
      return line;
    },
  } as unknown as Hypervisor;
  consoles = new HostConsoles({
    ...{ hypervisor, log },
    openStream: (id) => {
      const viewer = new Viewer();
      viewers.set(id, viewer);
      return viewer as unknown as ConsoleStream;
    },
  });
});

const want = (...ids: string[]) => consoles.want(ids.map((id) => ({ id, vmId: 'vm' })));
const viewer = async (id: string): Promise<Viewer> => {
  await vi.waitFor(() => expect(viewers.get(id)?.shown).toContain('before'), 30_000);
  return viewers.get(id) as Viewer;
};

describe('consoles of one VM', () => {
  it('share its serial line: all see everything, each may type, and the last one closes it', async () => {
    want('a', 'b');
    const [a, b] = [await viewer('a'), await viewer('b')];
    lines[0]?.push('hello');
    await vi.waitFor(
      () => expect([a.shown, b.shown]).toEqual(['before\nhello', 'before\nhello']),
      30_000,
    );
    a.push({ data: Buffer.from('1') });
    b.push({ data: Buffer.from('2') });
    await vi.waitFor(() => expect(lines[0]?.typed).toBe('12'), 30_000);
    want('b');
    expect([a.cancelled, b.cancelled]).toEqual([true, false]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines[0]?.destroyed).toBe(false);
    want();
    await vi.waitFor(() => expect(lines[0]?.destroyed).toBe(true), 30_000);
    expect(lines).toHaveLength(1);
  });

  it('pause the line while one of them does not read', async () => {
    want('a', 'b');
    const [slow, quick] = [await viewer('a'), await viewer('b')];
    slow.reads = false;
    for (let piece = 0; piece < 100; piece += 1) lines[0]?.push(Buffer.alloc(10_000, 'x'));
    await vi.waitFor(() => expect(lines[0]?.isPaused()).toBe(true), 30_000);
    const seen = quick.shown.length;
    expect(seen).toBeLessThan(500_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(quick.shown.length).toBe(seen);
    slow.readOn();
    await vi.waitFor(() => expect(quick.shown.length).toBe('before\n'.length + 1_000_000), 30_000);
    await vi.waitFor(() => expect(slow.shown.length).toBe(quick.shown.length), 30_000);
  });

  it('continue when the slow one leaves', async () => {
    want('a', 'b');
    const [stuck, quick] = [await viewer('a'), await viewer('b')];
    stuck.reads = false;
    for (let piece = 0; piece < 100; piece += 1) lines[0]?.push(Buffer.alloc(10_000, 'x'));
    await vi.waitFor(() => expect(lines[0]?.isPaused()).toBe(true), 30_000);
    stuck.emit('error', new Error('gone'));
    await vi.waitFor(() => expect(quick.shown.length).toBe('before\n'.length + 1_000_000), 30_000);
  });
});

describe('a console', () => {
  it('ends with a reason when its VM ends, and is not opened again while the same spec asks for it', async () => {
    want('a');
    const a = await viewer('a');
    lines[0]?.push(null);
    await vi.waitFor(() => expect(a.ending).toBe('vm_stopped'), 30_000);
    want('a');
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines).toHaveLength(1);
    want('b');
    await viewer('b');
    expect(lines).toHaveLength(2);
  });

  it('reports the host’s own error if its line breaks or cannot be opened', async () => {
    want('a');
    const a = await viewer('a');
    lines[0]?.destroy(new Error('libvirtd is gone'));
    await vi.waitFor(() => expect(a.ending).toBe('host_failed'), 30_000);
    failing = new HostFailure('vm_not_running', 'the VM does not run');
    want('b');
    await vi.waitFor(() => expect(viewers.get('b')?.ending).toBe('vm_not_running'), 30_000);
    failing = null;
    want('c');
    await viewer('c');
  });

  it('that is withdrawn before its line is open leaves nothing open', async () => {
    want('a');
    want();
    await vi.waitFor(() => expect(lines[0]?.destroyed).toBe(true), 30_000);
  });
});
