import type { CreateVmBody } from './vm-draft.ts';

type Place = {
  /** The address of the API. */
  origin: string;
  projectId: string;
  /** The names of the project's networks, by id. */
  networkNames: ReadonlyMap<string, string>;
};

/** The same request for a shell without any tool of ours. The access key comes from the environment. */
export function renderCurl(body: CreateVmBody, { origin, projectId }: Place): string {
  return [
    `curl -X POST ${origin}/v0.1/projects/${projectId}/vms \\`,
    `  -H "Authorization: Bearer $GANTRY_ACCESS_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quote(JSON.stringify(body, null, 2))}`,
  ].join('\n');
}

/** The same request for the command line. What it has no flag for is named. */
export function renderCli(body: CreateVmBody, { networkNames }: Place): string {
  const { name, type, location, image, tags = {}, network_interfaces = [] } = body;
  const [{ network_id = '', public_ipv4 } = {}] = network_interfaces;
  const flags = [
    `--type ${quote(type)}`,
    `--location ${quote(location)}`,
    `--image ${quote(image)}`,
    ...(body.ssh_public_key ? ['--ssh-key ~/.ssh/id_ed25519.pub'] : []),
    ...(network_id === ''
      ? []
      : [`--network ${quote(networkNames.get(network_id) ?? network_id)}`]),
    ...(public_ipv4?.type === 'none' ? ['--no-public-address'] : []),
    ...Object.entries(tags).map(([key, value]) => `--tag ${quote(`${key}=${value}`)}`),
  ];
  const missing = [
    ...(body.ssh_keys ? ['stored SSH keys'] : []),
    ...(body.user_data ? ['user data'] : []),
  ];
  const note = `# Without ${missing.join(' and ')}: use the API for these.`;
  const command = [`gantry vm create ${quote(name)}`, ...flags].join(' \\\n  ');
  return missing.length === 0 ? command : `${note}\n${command}`;
}

/** The same request for programs. */
export function renderSdk(body: CreateVmBody, { origin, projectId }: Place): string {
  return `import { createClient } from '@gantry/sdk';

const gantry = createClient({
  baseUrl: ${JSON.stringify(origin)},
  credential: { accessKey: process.env.GANTRY_ACCESS_KEY },
});
const project_id = ${JSON.stringify(projectId)};
const { operation } = await gantry.vms.create({
  project_id,
  body: ${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')},
});
await gantry.waitForOperation({ project_id, operation });`;
}

/** As one word of a shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
