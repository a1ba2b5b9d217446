import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Image } from '../../spec.ts';

export type ImageServer = {
  url(path: string): string;
  /** Paths in the order of the requests. */
  asked: string[];
  reply: RequestListener;
  close(): Promise<void>;
};

/** A real server on loopback; the test decides its replies. */
export async function startImageServer(): Promise<ImageServer> {
  const served: ImageServer = {
    url: () => '',
    asked: [],
    reply: (_, response) => response.writeHead(404).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((request, response) => {
    served.asked.push(request.url ?? '');
    served.reply(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  served.url = (path) => `http://127.0.0.1:${port}${path}`;
  return served;
}

/** A raw disk that differs by seed. */
export function makeImageBytes(seed: number, sizeBytes = 1_048_576): Buffer {
  return Buffer.alloc(sizeBytes, createHash('sha256').update(String(seed)).digest());
}

export function imageOf(bytes: Buffer, url: string): Image {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { name: 'debian-12', url, sha256, id: '' };
}
