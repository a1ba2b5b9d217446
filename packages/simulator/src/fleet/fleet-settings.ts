import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import { readTracingSettings, type TracingSettings } from '@gantry/daemon/tracing/start-tracing';
import type { ServerModel } from '../servers/server-model.ts';
import { SERVER_MODELS } from '../servers/server-models.ts';

export type FleetSettings = {
  api: { url: string; email: string; password: string };
  /** host:port of each scheduler. */
  schedulers: string[];
  directory: string;
  hosts: PlannedHost[];
  /** Whether there is a control socket in the fleet's directory. */
  control: boolean;
  behaviour: { bootMs: number; shutdownMs: number; eraseMs: number };
  upgrades: { installMs: number; failurePercent: number };
  /** The time within which hosts renew their certificates after the fleet's authority was replaced. */
  renewalSpreadMs: number;
  tracing: TracingSettings;
};
export type PlannedHost = {
  name: string;
  location: string;
  model: ServerModel;
  /** From where storage clusters see it. Empty: it reaches none. */
  storageIpv4: string;
};

/** All settings of gantry-fleet. docs/contributors/simulator.md lists them. */
export function readFleetSettings(reader: SettingsReader): FleetSettings {
  const milliseconds = (name: string, fallback: number) =>
    reader.integer(name, { fallback, min: 0, max: 600_000 });
  return {
    api: {
      url: reader.text('GANTRY_API_URL'),
      email: reader.text('GANTRY_OPERATOR_EMAIL'),
      password: reader.secret('GANTRY_OPERATOR_PASSWORD'),
    },
    schedulers: reader.text('GANTRY_SCHEDULERS').split(','),
    directory: reader.text('GANTRY_FLEET_DIRECTORY'),
    hosts: withStorage(
      planHosts(reader.text('GANTRY_FLEET_HOSTS')),
      reader.text('GANTRY_FLEET_STORAGE_NETWORK', ''),
    ),
    control: reader.integer('GANTRY_FLEET_CONTROL', { fallback: 0, min: 0, max: 1 }) === 1,
    behaviour: {
      bootMs: milliseconds('GANTRY_FLEET_BOOT_MS', 1_500),
      shutdownMs: milliseconds('GANTRY_FLEET_SHUTDOWN_MS', 1_000),
      eraseMs: milliseconds('GANTRY_FLEET_ERASE_MS', 500),
    },
    upgrades: {
      installMs: milliseconds('GANTRY_FLEET_UPGRADE_MS', 1_000),
      failurePercent: reader.integer('GANTRY_FLEET_UPGRADE_FAILURE_PERCENT', {
        ...{ fallback: 0, min: 0, max: 100 },
      }),
    },
    renewalSpreadMs: milliseconds('GANTRY_FLEET_RENEWAL_SPREAD_MS', 300_000),
    tracing: readTracingSettings(reader),
  };
}

/** "eu-north-a:a40-8=2,us-east-a:l40s-10=1" means three hosts. Their names never change. */
function planHosts(text: string): Omit<PlannedHost, 'storageIpv4'>[] {
  return text.split(',').flatMap((entry) => {
    const match = /^([^:=\s]+):([^:=\s]+)=(\d{1,5})$/.exec(entry.trim());
    const [, location = '', modelName = '', count = '0'] = match ?? [];
    const model = SERVER_MODELS.find(({ name }) => name === modelName);
    if (!model) {
      const known = SERVER_MODELS.map(({ name }) => name).join(', ');
      throw new SettingsError(
        `GANTRY_FLEET_HOSTS: "${entry}" must have the form location:model=count. The models are ${known}`,
      );
    }
    return Array.from({ length: Number(count) }, (_, i) => ({
      ...{ location, model },
      name: `${location}-${model.name}-${i + 1}`,
    }));
  });
}

/** "198.51.100.0/24" gives the first host the address 198.51.100.1. Hosts of other fleets need another network. */
function withStorage(hosts: Omit<PlannedHost, 'storageIpv4'>[], network: string): PlannedHost[] {
  if (network === '') return hosts.map((host) => ({ ...host, storageIpv4: '' }));
  const [, prefix] = /^((?:\d{1,3}\.){3})0\/24$/.exec(network) ?? [];
  if (prefix === undefined || hosts.length > 254)
    throw new SettingsError(
      `GANTRY_FLEET_STORAGE_NETWORK: "${network}" must have the form 198.51.100.0/24, and be used by at most 254 hosts`,
    );
  return hosts.map((host, index) => ({ ...host, storageIpv4: `${prefix}${index + 1}` }));
}
