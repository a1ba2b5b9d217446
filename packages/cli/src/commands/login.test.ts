import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  refusal,
  type ScriptedServer,
  type SeenRequest,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../testing/run-cli.ts';

const KEY = 'gantry_ak_test';
const PASSWORD = 'a long password';
let cli: TestCli;
let server: ScriptedServer;
let refuseLogout: ReturnType<typeof refusal> | undefined;
let projects: { id: string; name: string; organization_id: string }[];

/** The replies that a login needs. The user has a second factor, and its code is 123456. */
function reply({ line, bearer, body }: SeenRequest) {
  if (line === 'POST /v0.1/auth/token') return grant(JSON.parse(body));
  if (bearer !== KEY && bearer !== 'token') return refusal(401, 'bad_credential');
  if (line === 'POST /v0.1/auth/logout') return refuseLogout ?? { status: 200, body: {} };
  if (line === 'GET /v0.1/projects') return { status: 200, body: projects };
  return { status: 200, body: { project_id: bearer === KEY ? 'p-of-key' : '' } };
}

function grant({ password, totp }: Record<string, string>) {
  if (password !== PASSWORD) return refusal(401, 'bad_credential');
  if (totp !== '123456') return refusal(401, 'totp_required');
  const tokens = { access_token: 'token', refresh_token: 'r1', token_type: 'bearer' };
  return { status: 200, body: { ...tokens, expires_in: 3600 } };
}

beforeEach(async () => {
  refuseLogout = undefined;
  projects = [{ id: 'p1', name: 'first', organization_id: 'o' }];
  cli = await makeTestCli();
  server = await startScriptedServer(reply);
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const stored = async () =>
  JSON.parse(await readFile(path.join(cli.home, 'gantry/config.json'), 'utf8'));
const byPassword = () => ['login', '--server', server.url, '--email', 'me@example.com'];

describe('login', () => {
  it('with an access key from the standard input stores it with its project', async () => {
    const args = ['login', '--server', `${server.url}/`, '--access-key', '--context', 'here'];
    const { code, stdout } = await cli.run(args, { input: `${KEY}\n` });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Logged in to ${server.url}. The context is here.\n`,
    });
    expect(await stored()).toEqual({
      current: 'here',
      contexts: {
        here: { server: server.url, project_id: 'p-of-key', credential: { access_key: KEY } },
      },
    });
  });

  it('with a refused key stores nothing and has its own exit code', async () => {
    const args = ['login', '--server', server.url, '--access-key'];
    const { code, stderr } = await cli.run(args, { input: 'gantry_ak_wrong' });
    expect(code).toBe(3);
    expect(stderr).toContain('gantry: the message of bad_credential\n  code: bad_credential');
    expect(stderr).toContain('  request: e1');
    await expect(stored()).rejects.toThrow('ENOENT');
  });

  it('with a password reads the code of the second factor from the next line', async () => {
    const { code } = await cli.run(byPassword(), { input: `${PASSWORD}\r\n123456\n` });
    expect(code).toBe(0);
    const { current, contexts } = await stored();
    expect(current).toBe(new URL(server.url).host);
    expect(contexts[current]).toMatchObject({
      project_id: 'p1',
      credential: { email: 'me@example.com', tokens: { access_token: 'token' } },
    });
  });

  it('on a terminal asks, corrects what is erased, and never shows a secret', async () => {
    const typed = ['me@example.co', 'mm\u007f\r', `x\u0015${PASSWORD}\r`, '12\u001b[A3456\r'];
    const { code, stderr } = await cli.run(['login', '--server', server.url], { typed });
    expect(code).toBe(0);
    // Otherwise the terminal itself would echo the first keys.
    expect(stderr).toContain('<raw>Password: </raw>\n');
    expect(stderr).not.toContain(PASSWORD);
    expect(stderr).not.toContain('123456');
    const { current, contexts } = await stored();
    expect(contexts[current].credential.email).toBe('me@example.com');
  });

  it('ends without a trace when Ctrl-C is pressed at a question', async () => {
    const typed = ['me@example.com\r', 'half\u0003'];
    const { code } = await cli.run(['login', '--server', server.url], { typed });
    expect(code).toBe(130);
    await expect(stored()).rejects.toThrow('ENOENT');
  });

  it('of a user with several projects needs the name or id of one', async () => {
    projects = [...projects, { id: 'p2', name: 'second', organization_id: 'o' }];
    const input = `${PASSWORD}\n123456\n`;
    const refused = await cli.run(byPassword(), { input });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--project with one of: first, second');
    const chosen = await cli.run([...byPassword(), '--project', 'second'], { input });
    expect(chosen.code).toBe(0);
    expect(Object.values((await stored()).contexts)).toMatchObject([{ project_id: 'p2' }]);
  });

  it('again needs neither server nor e-mail address', async () => {
    const input = `${PASSWORD}\n123456\n`;
    await cli.run([...byPassword(), '--context', 'here'], { input });
    const { code } = await cli.run(['login'], { input });
    expect(code).toBe(0);
    expect(Object.keys((await stored()).contexts)).toEqual(['here']);
  });

  it('names the flag that is wrong or missing', async () => {
    expect(await cli.run(['login'])).toMatchObject({
      code: 2,
      stderr: 'gantry: which server? Give its address with --server\n',
    });
    const wrong = await cli.run(['login', '--server', 'localhost:80']);
    expect(wrong.stderr).toContain('gantry: --server: localhost:80 is not an address');
    const unnamed = await cli.run(['login', '--server', server.url], { input: KEY });
    expect(unnamed.stderr).toContain('Give --email ADDRESS or --access-key');
    expect(server.seen).toEqual([]);
  });
});

describe('logout', () => {
  const input = `${PASSWORD}\n123456\n`;

  it('ends the login at the server, and the next command needs a new one', async () => {
    await cli.run([...byPassword(), '--context', 'here'], { input });
    const { code, stdout } = await cli.run(['logout']);
    expect({ code, stdout }).toEqual({
      ...{ code: 0, stdout: `Logged out me@example.com at ${server.url}.\n` },
    });
    expect(server.seen.at(-1)).toMatchObject({ line: 'POST /v0.1/auth/logout', bearer: 'token' });
    expect(JSON.stringify(await stored())).not.toContain('token');
    expect((await cli.run(['project', 'list'])).code).toBe(3);
    expect((await cli.run(['login'], { input })).code).toBe(0);
  });

  it('keeps the login if the server cannot be reached, so that it can be ended later', async () => {
    await cli.run([...byPassword(), '--context', 'here'], { input });
    const before = await stored();
    refuseLogout = refusal(500, 'internal_error');
    expect((await cli.run(['logout'])).code).toBe(7);
    expect(await stored()).toEqual(before);
    refuseLogout = refusal(401, 'bad_credential');
    expect((await cli.run(['logout'])).code).toBe(0);
  });

  it('removes an access key from this computer only', async () => {
    const args = ['login', '--server', server.url, '--access-key'];
    await cli.run(args, { input: KEY });
    const asked = server.seen.length;
    const { stdout } = await cli.run(['logout']);
    expect(stdout).toContain('Its access key works until it is deleted.\n');
    expect(await stored()).toEqual({ current: '', contexts: {} });
    expect(server.seen).toHaveLength(asked);
  });
});

it('a project of the server is made that of the context', async () => {
  projects = [...projects, { id: 'p2', name: 'second', organization_id: 'o' }];
  const input = `${PASSWORD}\n123456\n`;
  await cli.run([...byPassword(), '--project', 'first'], { input });
  const { stdout } = await cli.run(['project', 'list']);
  expect(stdout).toMatch(/^NAME .*\nfirst +yes +p1.*\nsecond +p2.*\n$/);
  expect((await cli.run(['project', 'use', 'second'])).code).toBe(0);
  expect(Object.values((await stored()).contexts)).toMatchObject([{ project_id: 'p2' }]);
  expect((await cli.run(['project', 'use', 'third'])).code).toBe(4);
});

describe('contexts', () => {
  beforeEach(async () => {
    for (const name of ['one', 'two']) {
      const args = ['login', '--server', server.url, '--access-key', '--context', name];
      await cli.run(args, { input: KEY });
    }
  });

  it('are listed without their secrets, for people and for programs', async () => {
    const table = await cli.run(['context', 'list']);
    expect(table.stdout).toContain('NAME  CURRENT  SERVER');
    const { stdout } = await cli.run(['context', 'list', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'one', current: false, login: 'access key', project_id: 'p-of-key' },
      { name: 'two', current: true },
    ]);
    const shown = await cli.run(['context', 'show', 'one', '--output', 'yaml']);
    expect(shown.stdout).toContain('name: one\ncurrent: false\n');
    expect(table.stdout + stdout + shown.stdout).not.toContain(KEY);
  });

  it('are chosen and removed by name', async () => {
    expect((await cli.run(['context', 'use', 'one'])).code).toBe(0);
    expect((await stored()).current).toBe('one');
    await cli.run(['context', 'remove', 'one']);
    expect(await stored()).toMatchObject({ current: '', contexts: { two: {} } });
    expect(Object.keys((await stored()).contexts)).toEqual(['two']);
    const missing = await cli.run(['context', 'use', 'one']);
    expect(missing).toMatchObject({
      code: 2,
      stderr: 'gantry: there is no context one. There are: two\n',
    });
  });
});

it('an unknown command or flag is a usage error', async () => {
  expect((await cli.run(['contexts'])).code).toBe(2);
  expect((await cli.run(['context', 'list', '--outptu', 'json'])).code).toBe(2);
  expect((await cli.run(['context', 'list', '--output', 'xml'])).code).toBe(2);
});
