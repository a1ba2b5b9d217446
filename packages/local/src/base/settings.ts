import { createServer } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  type AcceleratorSettings,
  readAcceleratorSettings,
} from '@gantry/agent/libvirt/choose-accelerator';
import { createSettingsReader } from '@gantry/daemon/settings';
import { errorCode, StartError } from './start-error.ts';

const DEFAULT_PORT = 8080;

/** One server for each GPU family of the catalogue, in both locations of a new installation. */
const DEMO_HOSTS = ['eu-north-a', 'us-east-a']
  .flatMap((location) =>
    ['a40-8', 'a100-40gb-8', 'a100-80gb-8', 'l40s-8', 'l40s-10'].map(
      (model) => `${location}:${model}=1`,
    ),
  )
  .join(',');

export type Settings = {
  homeDirectory: string;
  databaseUrl: string | undefined;
  secretKey: string | undefined;
  host: string;
  /** 0 means any free port. */
  port: number;
  /** The value of GANTRY_FLEET_HOSTS for gantry-fleet. Empty if no host is simulated. */
  simulatedHosts: string;
  /** Whether this machine also becomes a host. */
  real: boolean;
  libvirtSocket: string | undefined;
  accelerator: AcceleratorSettings;
};

type Invocation = { root: string; args: readonly string[]; env: NodeJS.ProcessEnv };

export function readSettings({ root, args, env }: Invocation): Settings {
  const { real } = readArguments(args);
  const reader = createSettingsReader(env);
  const hosts = reader.optional('GANTRY_FLEET_HOSTS');
  const databaseUrl = reader.optionalSecret('DATABASE_URL');
  // DATABASE_URL may be a production database, so no host is simulated there by default.
  const simulatedHosts = hosts ?? (databaseUrl ? 'none' : DEMO_HOSTS);
  return {
    homeDirectory: reader.text('GANTRY_HOME', path.join(root, '.gantry')),
    databaseUrl,
    secretKey: reader.optionalSecret('GANTRY_SECRET_KEY'),
    host: reader.text('GANTRY_HOST', '127.0.0.1'),
    port: reader.integer('GANTRY_PORT', { fallback: DEFAULT_PORT, min: 0, max: 65_535 }),
    simulatedHosts: simulatedHosts === 'none' ? '' : simulatedHosts,
    real,
    libvirtSocket: reader.optional('GANTRY_LIBVIRT_SOCKET'),
    // This machine is for trying Gantry: an emulated guest is better than none.
    accelerator: readAcceleratorSettings(reader, { allowEmulation: true }),
  };
}

function readArguments(args: readonly string[]): { real: boolean } {
  try {
    const options = { real: { type: 'boolean', default: false } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    // Only the first sentence of Node's message is useful here: it names the argument.
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `${reason.split('. ')[0]}. The arguments are --real, and with it --storage ceph: npm start -- --real`,
      { cause: error },
    );
  }
}

export function baseUrlOf(host: string, port: number): string {
  const anywhere = host === '0.0.0.0' || host === '::';
  const name = anywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Checked before anything starts, so that the error is one clear line. */
export function requireFreePort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => {
      const why = errorCode(error) === 'EADDRINUSE' ? 'is taken' : 'cannot be used';
      const hint = 'Set GANTRY_PORT to another port, or to 0 for any free port.';
      reject(
        new StartError(`Port ${port} on ${host} ${why} (${error.message}). ${hint}`, {
          cause: error,
        }),
      );
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
