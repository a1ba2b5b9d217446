import type { Connect, Link, LinkPeer } from '@gantry/agent/link/link';
import type { HostSpec } from '@gantry/agent/spec';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';

/**
 * What a network does to a host's messages. It stands between an agent and its link, outlives both,
 * and remembers what went through: a spec can come again, a report late. A report is lost together
 * with its stream, as on every connection that delivers in order or not at all.
 */
export class UnsteadyLink {
  readonly #specs: HostSpec[] = [];
  readonly #reports: { stream: number; report: HostReport }[] = [];
  #link: Link | null = null;
  #peer: LinkPeer | null = null;
  #stream = 0;
  #losing = 0;
  #repeating = 0;

  wrap(connect: Connect): Connect {
    return (peer) => {
      this.#peer = peer;
      const link = connect({
        attached: () => {
          this.#stream += 1;
          peer.attached();
        },
        received: (spec) => {
          this.#specs.push(spec);
          peer.received(spec);
        },
      });
      this.#link = link;
      return {
        send: (report) => this.#send(link, report),
        openConsole: (consoleId) => link.openConsole(consoleId),
        reattach: () => link.reattach(),
        end: () => link.end(),
      };
    };
  }

  /** The stream ends; the link opens another. */
  cut(): void {
    this.#link?.reattach();
  }

  /** So many reports, and then the stream, are lost. */
  loseNext(count: number): void {
    this.#losing = count;
  }

  repeatNext(count: number): void {
    this.#repeating = count;
  }

  /** Some spec of the past comes once more. */
  replaySpec(which: number): void {
    const spec = this.#specs[which % Math.max(1, this.#specs.length)];
    if (spec) this.#peer?.received(spec);
  }

  /** Some report of a stream that is over. */
  lateReport(which: number): HostReport | undefined {
    const late = this.#reports.filter(({ stream }) => stream < this.#stream);
    return late[which % Math.max(1, late.length)]?.report;
  }

  heal(): void {
    this.#losing = 0;
    this.#repeating = 0;
    this.cut();
  }

  #send(link: Link, report: HostReport): boolean {
    if (this.#losing > 0) {
      this.#losing -= 1;
      if (this.#losing === 0) setImmediate(() => link.reattach());
      return true;
    }
    this.#reports.push({ stream: this.#stream, report });
    if (this.#repeating > 0) {
      this.#repeating -= 1;
      link.send(report);
    }
    return link.send(report);
  }
}
