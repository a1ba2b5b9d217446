import { createServer } from 'node:net';
import { errorCode, StartError } from '../base/start-error.ts';

/** Of the abstract kind: it is one per network namespace, like what it guards, and goes with us. */
const NAME = '\0gantry-npm-start-real';

/** Two agents on one machine would each take the other's rules out of the kernel. */
export function requireOnlyOne(): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => {
      const taken = errorCode(error) === 'EADDRINUSE';
      const message = 'Another npm start -- --real runs on this machine; there can be one.';
      reject(taken ? new StartError(message, { cause: error }) : error);
    });
    server.listen(NAME, () => {
      server.unref();
      resolve();
    });
  });
}
