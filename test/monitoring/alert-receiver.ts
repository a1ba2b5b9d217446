import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { vi } from 'vitest';

type Delivered = { alerts: { status: 'firing' | 'resolved'; labels: Record<string, string> }[] };

/** What a pager would be: it gets what Alertmanager sends, and knows which alerts fire. */
export type AlertReceiver = {
  url: string;
  firing(): string[];
  /** Waits until the alert fires, or does not fire any more. */
  until(name: string, status: 'firing' | 'resolved'): Promise<void>;
  stop(): Promise<void>;
};

/** Much longer than it takes: only a fault lets it pass. */
const PATIENCE_MS = 120_000;

export async function startAlertReceiver(): Promise<AlertReceiver> {
  /** By the labels of the alert: one rule may fire for several things. */
  const alerts = new Map<string, { name: string; isFiring: boolean }>();
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      for (const { status, labels } of (body as Delivered).alerts) {
        const name = labels['alertname'] ?? '';
        alerts.set(JSON.stringify(labels), { name, isFiring: status === 'firing' });
      }
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const firing = () => [
    ...new Set([...alerts.values()].filter(({ isFiring }) => isFiring).map(({ name }) => name)),
  ];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    firing,
    async until(name, status) {
      await vi.waitFor(
        () => {
          if (firing().includes(name) !== (status === 'firing'))
            throw new Error(`${name} is not ${status}; what fires: ${firing().join(', ')}`);
        },
        { timeout: PATIENCE_MS, interval: 50 },
      );
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
