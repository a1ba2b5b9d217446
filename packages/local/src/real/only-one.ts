import { createServer } from 'node:net';
import { errorCode, StartError } from '../base/start-error.ts';

/** An abstract socket: it exists once per network namespace and disappears with this process. */
const NAME = '\0gantry-npm-start-real';

/** Two agents on one machine would remove each other's rules from the kernel. */
export function requireOnlyOne(): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => {
      const taken = errorCode(error) === 'EADDRINUSE';
      const message = 'Another npm start -- --real runs on this machine. Stop it first.';
      reject(taken ? new StartError(message, { cause: error }) : error);
    });
    server.listen(NAME, () => {
      server.unref();
      resolve();
    });
  });
}
