import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@gantry/sdk';
import { type ScriptedServer, startScriptedServer } from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeConfig, configFile, readConfig } from './config-file.ts';
import { fileTokenStore } from './token-store.ts';

let home: string;
let env: Record<string, string>;
let server: ScriptedServer | undefined;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'gantry-config-'));
  env = { XDG_CONFIG_HOME: home };
});
afterEach(async () => {
  await server?.stop();
  await rm(home, { recursive: true, force: true });
});

const context = (project_id: string) => ({
  ...{ server: 'http://127.0.0.1:1', project_id },
  credential: { access_key: 'gantry_ak_secret' },
});

describe('the configuration file', () => {
  it('is below XDG_CONFIG_HOME, or else below the home directory', () => {
    expect(configFile(env)).toBe(path.join(home, 'gantry/config.json'));
    expect(configFile({ HOME: '/home/me' })).toBe('/home/me/.config/gantry/config.json');
    const relative = { HOME: '/home/me', XDG_CONFIG_HOME: 'config' };
    expect(configFile(relative)).toBe('/home/me/.config/gantry/config.json');
  });

  it('can be read by its owner only, and so can its directory', async () => {
    await changeConfig(env, (config, write) => write({ ...config, current: 'a' }));
    expect((await stat(configFile(env))).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(configFile(env)))).mode & 0o777).toBe(0o700);
  });

  it('loses no change of several that are made at the same time', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
    const add = (name: string) =>
      changeConfig(env, (config, write) =>
        write({ ...config, contexts: { ...config.contexts, [name]: context(name) } }),
      );
    await Promise.all(names.map(add));
    expect(Object.keys((await readConfig(env)).contexts).toSorted()).toEqual(names.toSorted());
    expect(await readdir(path.dirname(configFile(env)))).toEqual(['config.json']);
  });

  it('can be changed after a process was killed while it changed it', async () => {
    await changeConfig(env, (config, write) => write({ ...config, current: 'a' }));
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    await writeFile(`${configFile(env)}.lock`, String(pid));
    await changeConfig(env, (config, write) => write({ ...config, current: 'b' }));
    expect((await readConfig(env)).current).toBe('b');
  });

  it('is not replaced if the change fails', async () => {
    await changeConfig(env, (config, write) => write({ ...config, current: 'a' }));
    const failing = changeConfig(env, async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await readConfig(env)).current).toBe('a');
  });

  it('that is not JSON is named in the error', async () => {
    await changeConfig(env, (config, write) => write(config));
    await writeFile(configFile(env), '{');
    await expect(readConfig(env)).rejects.toThrow(/config\.json is not valid JSON/);
  });
});

it('processes that share a login refresh its tokens once', async () => {
  let granted = 0;
  server = await startScriptedServer(({ line, bearer }) => {
    if (line === 'POST /v0.1/auth/token') {
      granted += 1;
      const tokens = { access_token: 'fresh', refresh_token: `r${granted}` };
      return { status: 200, body: { ...tokens, expires_in: 3600, token_type: 'bearer' } };
    }
    return bearer === 'fresh'
      ? { status: 200, body: { name: 'Gantry' } }
      : { status: 401, body: { code: 'bad_credential', message: 'no' } };
  });
  const { url } = server;
  const tokens = { access_token: 'stale', refresh_token: 'r0', expires_at_ms: Date.now() + 1e6 };
  const login = { server: url, project_id: '', credential: { email: 'me@example.com', tokens } };
  await changeConfig(env, (_, write) => write({ current: 'a', contexts: { a: login } }));
  const clients = Array.from({ length: 5 }, () =>
    createClient({ baseUrl: url, credential: { tokens: fileTokenStore(env, 'a') } }),
  );
  await Promise.all(clients.map((client) => client.root.get()));
  expect(granted).toBe(1);
  expect((await readConfig(env)).contexts['a']?.credential).toMatchObject({
    ...{ email: 'me@example.com', tokens: { access_token: 'fresh', refresh_token: 'r1' } },
  });
});
