import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { documented } from '@gantry/testkit/docs/documented';
import { execute } from '@gantry/testkit/real-host/execute';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Prometheus' own tools judge the files that operators copy. */
const deployed = path.resolve(import.meta.dirname, '../../deploy/monitoring');
const FILES = ['gantry.rules.yml', 'gantry.rules.test.yml', 'prometheus.yml', 'alertmanager.yml'];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-rules-'));
  for (const name of FILES) await copyFile(path.join(deployed, name), path.join(directory, name));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const at = (name: string) => path.join(directory, name);

it('every alert fires after its time and is quiet otherwise', async () => {
  expect(await execute('promtool', 'test', 'rules', at('gantry.rules.test.yml'))).toContain(
    'SUCCESS',
  );
});

it('the scrape configuration, with the rules beside it, and the example for Alertmanager are valid', async () => {
  const commands = documented('monitoring.md', 'promtool check config', {
    '/etc/prometheus': directory,
  });
  expect(await execute('sh', '-ec', commands)).toMatch(/SUCCESS(.*\n)*.*Checking.*alertmanager/);
});
