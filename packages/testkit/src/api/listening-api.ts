import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildApp } from '@gantry/api/app';
import { acceptUpgrades } from '@gantry/api/consoles/accept-upgrades';
import { API_PREFIX } from '@gantry/api/http/openapi';
import { serve } from '@hono/node-server';
import { WebSocket } from 'ws';
import type { TestApi } from './test-api.ts';

/** A test api that listens on a port, which a WebSocket needs. */
export type ListeningApi = {
  port: number;
  /** Opens the console at a path below the version's prefix. */
  open(path: string, options?: { bearer?: string }): TestConsole;
  stop(): Promise<void>;
};

/** The client's side of a console. */
export type TestConsole = {
  socket: WebSocket;
  /** Everything that the console printed so far. */
  shown(): string;
  type(text: string): void;
  /** Resolves with status and body if the request is refused. */
  refused: Promise<{ status: number; body: { code: string; message: string } }>;
  closed: Promise<{ code: number; reason: string }>;
};

export async function listenTestApi(api: TestApi): Promise<ListeningApi> {
  const app = buildApp(api.deps);
  const server = await new Promise<Server>((resolve) => {
    const listening = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () =>
      resolve(listening as Server),
    );
  });
  const upgrades = acceptUpgrades(server, app);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    open: (path, { bearer } = {}) =>
      watch(
        new WebSocket(`ws://127.0.0.1:${port}${API_PREFIX}${path}`, {
          headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
        }),
      ),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      upgrades.stop();
      server.closeAllConnections();
      await closed;
    },
  };
}

function watch(socket: WebSocket): TestConsole {
  let shown = '';
  socket.on('message', (bytes: Buffer) => {
    shown += bytes;
  });
  socket.on('error', () => {});
  return {
    socket,
    shown: () => shown,
    type: (text) => socket.send(text),
    refused: new Promise((resolve) => {
      socket.once('unexpected-response', (_request, response) => {
        let text = '';
        response.on('data', (bytes) => {
          text += bytes;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }),
        );
      });
    }),
    closed: new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
    }),
  };
}
