import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { HOST_ADDRESS } from '../kernel/names.ts';
import { SERVICE_PORT } from '../kernel/service-addresses.ts';

/** Bound, but not listening yet. */
export type ServiceSockets = { udp: Socket; tcp: Server };

const PATIENCE_MS = 10_000;
const THERE = fileURLToPath(new URL('open-sockets-there.mjs', import.meta.url));

/**
 * Throws EADDRNOTAVAIL while the host has no bridge, because the address belongs to the bridges.
 */
export async function openSockets(netns: string | undefined): Promise<ServiceSockets> {
  return netns === undefined ? openHere() : openThere(netns);
}

async function openHere(): Promise<ServiceSockets> {
  const udp = createSocket('udp4');
  const tcp = createServer();
  try {
    udp.bind(SERVICE_PORT, HOST_ADDRESS);
    await once(udp, 'listening');
    tcp.listen(SERVICE_PORT, HOST_ADDRESS);
    await once(tcp, 'listening');
    return { udp, tcp };
  } catch (error) {
    udp.close();
    tcp.close();
    throw error;
  }
}

/**
 * A socket stays in the namespace in which it was created, so a program that runs there passes its
 * sockets on.
 */
async function openThere(netns: string): Promise<ServiceSockets> {
  const command = ['netns', 'exec', netns, process.execPath, THERE];
  const child = spawn('ip', [...command, `${SERVICE_PORT}`, HOST_ADDRESS], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  const handed: { udp?: Socket; tcp?: Server } = {};
  let failure = 'it ended without a message';
  child.on('message', (message: { udp?: true; tcp?: true; failure?: string }, handle) => {
    if (message.udp) handed.udp = handle as Socket;
    if (message.tcp) handed.tcp = handle as Server;
    failure = message.failure ?? failure;
  });
  await once(child, 'close');
  const { udp, tcp } = handed;
  if (udp && tcp) return { udp, tcp };
  udp?.close();
  tcp?.close();
  throw Object.assign(new Error(`no sockets from namespace ${netns}: ${failure}`), {
    code: failure,
  });
}
