import { readConfig } from '@gantry/daemon/config';

export type SchedulerConfig = ReturnType<typeof readSchedulerConfig>;

/** Everything the scheduler can be told, from the environment. docs/configuration.md lists it for operators. */
export function readSchedulerConfig() {
  const config = readConfig();
  return {
    databaseUrl: config.secret('DATABASE_URL'),
    databaseConnections: config.integer('GANTRY_DATABASE_CONNECTIONS', {
      fallback: 10,
      min: 1,
      max: 200,
    }),
  };
}
