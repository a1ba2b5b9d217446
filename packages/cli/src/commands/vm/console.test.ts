import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { makeTestCli, type TestCli } from '../../testing/run-cli.ts';

/** The console of one VM. The test decides what the guest does with a connection. */
let guest: (socket: WebSocket) => void;
let refuse: { status: number; body: unknown } | undefined;
let opened: string[];
let server: Server;
let cli: TestCli;

beforeEach(async () => {
  cli = await makeTestCli();
  opened = [];
  refuse = undefined;
  const sockets = new WebSocketServer({ noServer: true });
  server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`;
    const isTicket = line === 'POST /v0.1/projects/p/vms/v1/console';
    const items = [{ id: 'v1', name: 'trainer' }];
    const body = isTicket ? { ticket: 't1', url: 'ws://elsewhere.invalid/' } : { items };
    response.end(JSON.stringify(line === 'GET /v0.1' ? { project_id: 'p' } : body));
  });
  server.on('upgrade', (request, socket, head) => {
    opened.push(request.url ?? '');
    if (refuse === undefined)
      return sockets.handleUpgrade(request, socket, head, (each) => guest(each));
    const text = JSON.stringify(refuse.body);
    socket.end(`HTTP/1.1 ${refuse.status} No\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await cli.remove();
});

function openConsole(options: { typed?: string[]; input?: string }) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { GANTRY_URL: url, GANTRY_ACCESS_KEY: 'gantry_ak_test' };
  return cli.run(['vm', 'console', 'trainer'], { ...options, env });
}

describe('vm console', () => {
  it('shows what the guest prints, types to it, and is left with Enter ~ .', async () => {
    const typed: string[] = [];
    guest = (socket) => {
      socket.on('message', (data) => {
        typed.push(data.toString());
        socket.send(Buffer.from(`\u001b[1m${data}\u001b[0m`));
      });
    };
    const { code, stderr } = await openConsole({ typed: ['ls\u0003\r', '~.'] });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'Connected to the serial console of trainer. Press Enter, ~ and . to leave.\n' +
        '<raw></raw>\nThe console is closed.\n',
    });
    // The address of the server is that of the context, and not the one that the server has for itself.
    expect(opened).toEqual(['/v0.1/projects/p/vms/v1/console?ticket=t1']);
    await expect.poll(() => typed).toEqual(['ls\u0003\r']);
  });

  it('restores the terminal when the server closes it, and prints the reason', async () => {
    guest = (socket) => {
      socket.send(Buffer.from('login: '));
      socket.close(4503, 'host_unreachable: try again shortly');
    };
    const { code, stdout, stderr } = await openConsole({ typed: [] });
    expect({ code, stdout }).toEqual({ code: 7, stdout: 'login: ' });
    expect(stderr).toContain('<raw></raw>gantry: host_unreachable: try again shortly\n');
  });

  it.each([
    [4401, 3],
    [4409, 5],
    [4410, 0],
    [1001, 7],
  ])('that is closed with the code %i has the exit code %i', async (closeCode, exit) => {
    guest = (socket) => socket.close(closeCode, 'why');
    expect((await openConsole({ typed: [] })).code).toBe(exit);
  });

  it('reports a lost connection', async () => {
    guest = (socket) => socket.terminate();
    const { code, stderr } = await openConsole({ typed: [] });
    expect(code).toBe(7);
    expect(stderr).toContain('<raw></raw>gantry: the connection to the console was lost\n');
  });

  it('reads a pipe to its end, and stays open after it', async () => {
    const typed: string[] = [];
    guest = (socket) => {
      socket.on('message', (data) => {
        typed.push(data.toString());
        socket.send(Buffer.from('bye'), () => socket.close(4410, 'vm_stopped'));
      });
    };
    const { code, stdout, stderr } = await openConsole({ input: '~.poweroff\n' });
    expect({ code, stdout, typed }).toEqual({ code: 0, stdout: 'bye', typed: ['~.poweroff\n'] });
    expect(stderr).not.toContain('<raw>');
  });

  it('that the server refuses is reported with its message and request', async () => {
    const body = { code: 'conflict', message: 'it is not running', error_id: 'e7' };
    refuse = { status: 409, body };
    const { code, stderr } = await openConsole({ typed: [] });
    expect({ code, stderr }).toEqual({
      ...{ code: 5 },
      stderr: 'gantry: it is not running\n  code: conflict\n  request: e7\n',
    });
  });
});
