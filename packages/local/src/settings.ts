import { createServer } from 'node:net';
import path from 'node:path';
import { readConfig } from '@gantry/daemon/config';
import { errorCode, StartError } from './start-error.ts';

const DEFAULT_PORT = 8080;

export type Settings = {
  homeDirectory: string;
  databaseUrl: string | undefined;
  secretKey: string | undefined;
  host: string;
  /** 0 takes a free one. */
  port: number;
};

export function readSettings(root: string, env: NodeJS.ProcessEnv = process.env): Settings {
  const config = readConfig(env);
  return {
    homeDirectory: config.text('GANTRY_HOME', path.join(root, '.gantry')),
    databaseUrl: config.optionalSecret('DATABASE_URL'),
    secretKey: config.optionalSecret('GANTRY_SECRET_KEY'),
    host: config.text('GANTRY_HOST', '127.0.0.1'),
    port: config.integer('GANTRY_PORT', { fallback: DEFAULT_PORT, min: 0, max: 65_535 }),
  };
}

export function baseUrlOf(host: string, port: number): string {
  const anywhere = host === '0.0.0.0' || host === '::';
  const name = anywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Found out before anything is started, so that the answer is one clear line. */
export function requireFreePort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => {
      const why = errorCode(error) === 'EADDRINUSE' ? 'is taken' : `cannot be used`;
      const hint = 'Set GANTRY_PORT to another one, or to 0 for any free one.';
      reject(
        new StartError(`Port ${port} on ${host} ${why} (${error.message}). ${hint}`, {
          cause: error,
        }),
      );
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
