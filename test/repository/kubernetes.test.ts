import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { documented, documentedLines } from '@gantry/testkit/docs/documented';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

/** No cluster applies the manifests in a test, so what they name is compared with what exists. */
const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'deploy/kubernetes');
const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: a manifest is what the test examines
type Manifest = any;

const kustomization: Manifest = parse(read('kustomization.yaml'));
const documentsOf = (file: string): Manifest[] =>
  parseAllDocuments(read(file)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
const applied: Manifest[] = kustomization.resources.flatMap(documentsOf);
const secrets = documentsOf('secrets.example.yaml');
const ofKind = (kind: string) => applied.filter((one) => one.kind === kind);
const named = (kind: string, name: string) =>
  [...applied, ...secrets].find((one) => one.kind === kind && one.metadata.name === name);
const settings = readFileSync(path.join(root, 'docs/operators/settings.md'), 'utf8');
/** Those that a section of the page lists. */
const settingsOf = (process: string) => {
  const section = settings.split(/^## /m).find((text) => text.startsWith(`${process}\n`)) ?? '';
  return new Set([...section.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name));
};

it('every file of the folder is applied or an example', () => {
  const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
  expect(files.sort()).toEqual([...kustomization.resources, 'secrets.example.yaml'].sort());
});

const deployments = ofKind('Deployment').map((one): [string, Manifest] => [one.metadata.name, one]);

it('there are an api and a scheduler', () => {
  expect(deployments.map(([name]) => name)).toEqual(['gantry-api', 'gantry-scheduler']);
});

it.each(deployments)('%s has two pods or more, of which a drain leaves one', (name, deployment) => {
  expect(deployment.spec.replicas).toBeGreaterThanOrEqual(2);
  const { spec } = named('PodDisruptionBudget', name);
  expect(spec.minAvailable).toBeLessThan(deployment.spec.replicas);
  expect(spec.selector).toEqual(deployment.spec.selector);
});

it.each(deployments)('%s: every selector finds its pods', (name, { spec }) => {
  const { labels } = spec.template.metadata;
  expect(labels).toMatchObject(spec.selector.matchLabels);
  const policy = named('NetworkPolicy', name);
  expect(labels).toMatchObject(policy.spec.podSelector.matchLabels);
});

it('Services, policies and probes name ports that the pods have', () => {
  const portsOf = (labels: object) =>
    deployments.flatMap(([, { spec }]) =>
      Object.entries(labels).every(([key, value]) => spec.template.metadata.labels[key] === value)
        ? spec.template.spec.containers.flatMap(({ ports }: Manifest) => ports)
        : [],
    );
  const namesOf = (labels: object) => portsOf(labels).map(({ name }) => name);
  for (const { spec } of ofKind('Service'))
    for (const { targetPort } of spec.ports) expect(namesOf(spec.selector)).toContain(targetPort);
  for (const { spec } of ofKind('NetworkPolicy')) {
    const allowed = spec.ingress.flatMap(({ ports }: Manifest) => ports);
    const names = allowed.map(({ port }: Manifest) => port);
    expect(names.sort()).toEqual(namesOf(spec.podSelector.matchLabels).sort());
  }
  for (const [, { spec }] of deployments)
    for (const container of spec.template.spec.containers)
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        expect(namesOf(spec.selector.matchLabels)).toContain(container[probe].httpGet.port);
        expect(['/healthz', '/readyz']).toContain(container[probe].httpGet.path);
      }
});

it.each([
  ['api', 'gantry-api'],
  ['scheduler', 'gantry-scheduler'],
])('the settings of the %s are settings that it reads, and its ports are theirs', (name, of) => {
  const { spec } = named('Deployment', of);
  const [container] = spec.template.spec.containers;
  const known = settingsOf(name);
  const values = Object.fromEntries(
    container.env.map(({ name: variable, value }: Manifest) => [variable, value]),
  );
  const given = [
    ...Object.keys(values),
    ...container.envFrom.flatMap(({ configMapRef }: Manifest) =>
      Object.keys(named('ConfigMap', configMapRef.name).data),
    ),
  ];
  // The first is what systemd sets too; the others are only used by other values.
  const others = ['CREDENTIALS_DIRECTORY', 'POD_IP', 'FLEET_NAME'];
  for (const variable of given)
    expect(known.has(variable) || others.includes(variable), variable).toBe(true);
  const ports = container.ports.map(({ containerPort }: Manifest) => String(containerPort));
  const chosen = ['GANTRY_PORT', 'GANTRY_FLEET_PORT', 'GANTRY_METRICS_PORT'];
  expect(ports.sort()).toEqual(chosen.flatMap((variable) => values[variable] ?? []).sort());
});

it.each(deployments)(
  '%s gets its secrets from Secrets, as files, and no others',
  (name, { spec }) => {
    const [container] = spec.template.spec.containers;
    const [volume] = spec.template.spec.volumes;
    const keys = volume.projected.sources.flatMap(({ secret }: Manifest) =>
      Object.keys(named('Secret', secret.name).stringData),
    );
    const fleet = name === 'gantry-scheduler' ? ['GANTRY_FLEET_KEY'] : [];
    expect(keys).toEqual(['DATABASE_URL', 'GANTRY_SECRET_KEY', ...fleet]);
    for (const { name: variable } of container.env) expect(keys).not.toContain(variable);
    const directory = container.env.find(
      ({ name: one }: Manifest) => one === 'CREDENTIALS_DIRECTORY',
    );
    expect(container.volumeMounts).toEqual([
      { name: volume.name, mountPath: directory.value, readOnly: true },
    ]);
  },
);

it.each(deployments)(
  '%s runs without rights, with the user and a program of the image',
  async (_name, { spec }) => {
    const script = new URL('../../scripts/package/image-contents.mjs', import.meta.url).href;
    const { IMAGE_CONFIG } = await import(script);
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const { runAsUser, runAsGroup, runAsNonRoot } = pod.securityContext;
    expect(`${runAsUser}:${runAsGroup}`).toBe(IMAGE_CONFIG.User);
    expect(runAsNonRoot).toBe(true);
    expect(container.securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources.requests).toMatchObject({ cpu: expect.any(String) });
    expect((container.command ?? IMAGE_CONFIG.Entrypoint)[0]).toBe(IMAGE_CONFIG.Entrypoint[0]);
    const [program] = container.args;
    const [, workspace = ''] = /^\/usr\/lib\/gantry\/(\w+)\/main\.mjs$/.exec(program) ?? [];
    expect(readdirSync(path.join(root, 'packages', workspace, 'src'))).toContain('main.ts');
    expect(kustomization.images.map(({ name }: Manifest) => name)).toContain(container.image);
  },
);

/** No test has a cluster or a registry, so what the commands of the page name is compared with what exists. */
describe('the commands of docs/operators/kubernetes.md', () => {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const imageScript = readFileSync(path.join(root, 'scripts/package-image.mjs'), 'utf8');
  const [image] = kustomization.images;

  it('copy the image that npm run package:image writes to where the manifests expect it', () => {
    const [build, copy = ''] = documentedLines('kubernetes.md', 'npm run package:image');
    expect(manifest.scripts).toHaveProperty(String(build).replace('npm run ', ''));
    const [, folder, tag, target] =
      /^skopeo copy oci:(\S+):(\S+) docker:\/\/(\S+)$/.exec(copy) ?? [];
    expect(imageScript).toContain(`path.join(root, '${folder}')`);
    expect([tag, target]).toEqual([manifest.version, `${image.newName}:${image.newTag}`]);
  });

  it('build for another architecture from a root of Debian that was made for it', async () => {
    const [make = '', build = ''] = documentedLines('kubernetes.md', 'mmdebstrap');
    const [, architecture, made] = /--architectures=(\w+) .*bookworm (\S+)$/.exec(make) ?? [];
    expect(build).toBe(`npm run package:image -- --architecture ${architecture} --base ${made}`);
    const { ARCHITECTURES } = await import(path.join(root, 'scripts/package/pins.mjs'));
    expect(Object.keys(ARCHITECTURES)).toContain(architecture);
  });

  it('create the namespace and the Secrets that the pods get', () => {
    const [namespace, ...made] = documentedLines('kubernetes.md', 'kubectl create namespace');
    expect(namespace).toBe(`kubectl create namespace ${kustomization.namespace}`);
    const expected = secrets.map(
      ({ metadata, stringData }) =>
        `kubectl -n ${metadata.namespace} create secret generic ${metadata.name} ${Object.keys(
          stringData,
        )
          .map((key) => `--from-file=${key}`)
          .join(' ')}`,
    );
    expect(made).toEqual(expected);
  });

  it('apply the folder and wait for all Deployments', () => {
    const [apply, wait = ''] = documentedLines('kubernetes.md', 'kubectl apply');
    expect(apply).toBe('kubectl apply -k deploy/kubernetes');
    const [, namespace, names = ''] =
      /^kubectl -n (\S+) rollout status deployment (.*)$/.exec(wait) ?? [];
    expect(namespace).toBe(kustomization.namespace);
    expect(names.split(' ').sort()).toEqual(deployments.map(([name]) => name).sort());
  });

  it('run the bootstrap of the image in a pod of the api', async () => {
    const commands = documented('kubernetes.md', `echo '{"operator_email"`);
    const [, namespace, deployment, node, program] =
      /\| kubectl -n (\S+) exec -i deploy\/(\S+) -- (\S+) (\S+)\n$/.exec(commands) ?? [];
    expect([namespace, deployment]).toEqual([kustomization.namespace, 'gantry-api']);
    const { IMAGE_CONFIG } = await import(path.join(root, 'scripts/package/image-contents.mjs'));
    expect(node).toBe(IMAGE_CONFIG.Entrypoint[0]);
    const [, workspace, script] =
      /^\/usr\/lib\/gantry\/(\w+)\/(\w+)\.mjs$/.exec(String(program)) ?? [];
    expect(readdirSync(path.join(root, `packages/${workspace}/src`))).toContain(`${script}.ts`);
  });
});
