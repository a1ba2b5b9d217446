import type { Duplex } from 'node:stream';
import { type Client, createClient } from 'node-libvirt/client';
import { connect } from 'node-libvirt/connect';
import type { Connection } from 'node-libvirt/connection';
import { openConsole } from 'node-libvirt/console';
import { connectGetLibVersion } from 'node-libvirt/generated/procedures';
import type { Domain as DomainHandle } from 'node-libvirt/generated/types';
import { HostFailure } from '../../base/failure.ts';

/** A daemon that is restarted is back within this time; otherwise the call fails. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 200;
/** Applies to calls that have no limit of their own. */
const CALL_LIMIT_MS = 30_000;
/** libvirt replies from memory, without looking at a domain. */
const REPLY_LIMIT_MS = 5_000;

/** Without a keepalive, a daemon that hangs would keep a dead connection open. */
const KEEPALIVE = { intervalMs: 5_000, count: 3 };

/** The connections of the agent to its host's libvirt daemon. */
export function libvirtConnections(socketPath: string) {
  const client = createClient({ socketPath, callTimeoutMs: CALL_LIMIT_MS });
  const connection = () => patiently(client);

  /** Opens a connection beside the main one. Its calls have no limit but their own. */
  const open = async (): Promise<Connection> => {
    await connection();
    const limit = new AbortController();
    const late = new Error(`libvirt did not open a connection within ${PATIENCE_MS} ms`);
    const timer = setTimeout(() => limit.abort(late), PATIENCE_MS);
    try {
      return await connect({ socketPath, keepalive: KEEPALIVE, signal: limit.signal });
    } catch (error) {
      throw noReply(error);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    client,
    /** Returns the main connection. Waits for a restart of the daemon. */
    connection,
    open,
    /** Throws if the daemon does not reply to a call that needs no domain. */
    async requireReply(): Promise<void> {
      const main = await connection();
      const limit = { timeoutMs: REPLY_LIMIT_MS };
      await main.call(connectGetLibVersion, undefined, limit).catch((error: unknown) => {
        throw noReply(error);
      });
    },
    /** Uses its own connection, so that a slow reader does not delay other calls. */
    async openConsole(domain: DomainHandle): Promise<Duplex> {
      const own = await open();
      try {
        const stream = await openConsole(own, domain, { force: true, timeoutMs: CALL_LIMIT_MS });
        stream.once('close', () => void own.close());
        return stream;
      } catch (error) {
        await own.close();
        throw error;
      }
    },
  };
}

/**
 * Waits for a restart of the daemon: its domains keep running, and a step need not fail because of
 * it.
 */
async function patiently(client: Client): Promise<Connection> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await client.connection();
    } catch (error) {
      if (performance.now() > untilMs) throw noReply(error);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function noReply(error: unknown): HostFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return new HostFailure('libvirt_unresponsive', `libvirt does not reply: ${reason}`, {
    cause: error,
  });
}
