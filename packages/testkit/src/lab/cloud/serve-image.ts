import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves one file over HTTP on loopback, like an image server. */
export async function serveImage(file: string): Promise<{ port: number; stop(): Promise<void> }> {
  const { size } = await stat(file);
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': size });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
