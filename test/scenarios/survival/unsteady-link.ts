import type { Connect, Link, LinkPeer } from '@gantry/agent/link/link';
import type { HostSpec } from '@gantry/agent/spec';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';

/**
 * Simulates what a network does to the messages of a host. It is between an agent and its link,
 * outlives both and remembers the messages: a spec can be repeated and a report can be late. A
 * report is lost together with its stream, because a connection delivers in order or not at all.
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
        receivedMembers: (networkId, members) => peer.receivedMembers(networkId, members),
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

  /** Ends the stream; the link opens another. */
  cut(): void {
    this.#link?.reattach();
  }

  /** Loses this many reports and then the stream. */
  loseNext(count: number): void {
    this.#losing = count;
  }

  repeatNext(count: number): void {
    this.#repeating = count;
  }

  /** Delivers an earlier spec again. */
  replaySpec(which: number): void {
    const spec = this.#specs[which % Math.max(1, this.#specs.length)];
    if (spec) this.#peer?.received(spec);
  }

  /** Delivers a report of a stream that has ended. */
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
