import { connect } from 'node:net';
import { createInterface } from 'node:readline';

type Reply = { return?: unknown; error?: { desc?: string } };

/**
 * Sends commands one after the other to a socket that speaks lines of JSON, such as QEMU's monitor or
 * the guest agent. Returns the result of the last command, or undefined if the command ended the peer.
 */
export async function sendJson(place: string, commands: readonly object[]): Promise<unknown> {
  const socket = connect(place);
  const left = [...commands];
  const sendNext = () => socket.write(`${JSON.stringify(left.shift())}\n`);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    sendNext();
    for await (const line of createInterface({ input: socket })) {
      const reply = JSON.parse(line) as Reply;
      if (reply.error) throw new Error(reply.error.desc ?? line);
      if (!('return' in reply)) continue;
      if (left.length === 0) return reply.return;
      sendNext();
    }
    return undefined;
  } finally {
    socket.destroy();
  }
}
