import type { Log } from '@gantry/daemon/log';
import type { ConsoleSpec__Output } from '@gantry/proto/generated/gantry/v1/ConsoleSpec';
import { HostFailure } from '../base/failure.ts';
import type { Hypervisor } from '../host-driver.ts';
import type { ConsoleStream } from '../link/link.ts';
import { GuestConsole } from './guest-console.ts';

type Options = {
  hypervisor: Hypervisor;
  log: Log;
  openStream: (consoleId: string) => ConsoleStream | null;
};

/**
 * The consoles that a spec asks for. Each has its own stream. All consoles of one VM share the
 * guest's serial line, which is opened for the first and closed after the last of them. A console
 * is opened once: if it ends, it is not opened again while the spec asks for the same console.
 */
export class HostConsoles {
  readonly #options: Options;
  readonly #streams = new Map<string, ConsoleStream>();
  readonly #guests = new Map<string, Promise<GuestConsole>>();

  constructor(options: Options) {
    this.#options = options;
  }

  want(consoles: readonly ConsoleSpec__Output[]): void {
    const wanted = new Set(consoles.map(({ id }) => id));
    for (const [id, stream] of this.#streams) {
      if (wanted.has(id)) continue;
      this.#streams.delete(id);
      stream.cancel();
    }
    for (const { id, vmId } of consoles) {
      if (this.#streams.has(id)) continue;
      const stream = this.#options.openStream(id);
      if (!stream) return;
      this.#streams.set(id, stream);
      // A `close` event follows every error.
      stream.on('error', () => {});
      void this.#join(stream, vmId);
    }
  }

  async #join(stream: ConsoleStream, vmId: string): Promise<void> {
    try {
      const guest = await this.#guest(vmId);
      guest.add(stream, await this.#options.hypervisor.readSerialLog(vmId));
    } catch (error) {
      this.#options.log.warn({ error, vm_id: vmId }, 'console could not be opened');
      stream.end({ end: error instanceof HostFailure ? error.code : 'host_failed' });
      stream.resume();
    }
  }

  #guest(vmId: string): Promise<GuestConsole> {
    const known = this.#guests.get(vmId);
    if (known) return known;
    const forget = () => {
      if (this.#guests.get(vmId) === opening) this.#guests.delete(vmId);
    };
    const opening = this.#options.hypervisor
      .openConsole(vmId)
      .then((line) => new GuestConsole(line, forget));
    this.#guests.set(vmId, opening);
    opening.catch(forget);
    return opening;
  }
}
