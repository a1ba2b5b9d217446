import type { CreateVmBody } from './vm-draft.ts';

type Place = {
  /** The address of the API. */
  origin: string;
  projectId: string;
  /** The names of the project's networks, disks and reserved addresses, by id. */
  names: ReadonlyMap<string, string>;
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

/** The same request for the command line. Texts that it reads from files are named. */
export function renderCli(body: CreateVmBody, { names }: Place): string {
  const { name, type, location, image, tags = {}, network_interfaces = [], disks = [] } = body;
  const [{ network_id = '', public_ipv4 } = {}] = network_interfaces;
  const named = (id: string) => names.get(id) ?? id;
  const flags = [
    ['--type', type],
    ['--location', location],
    ['--image', image],
    ...storedKeysOf(body).map((key) => ['--ssh-key', key]),
    ...(network_id === '' ? [] : [['--network', named(network_id)]]),
    ...(public_ipv4?.id ? [['--public-address', named(public_ipv4.id)]] : []),
    ...disks.map((disk) => [
      '--disk',
      disk.disk_id ? named(disk.disk_id) : `${disk.name}=${disk.size}`,
    ]),
    ...Object.entries(tags).map(([key, value]) => ['--tag', `${key}=${value}`]),
    ...(body.user_data ? [['--user-data', 'user-data.txt']] : []),
  ].map(([flag, value = '']) => `${flag} ${quote(value)}`);
  // A quoted tilde would not become the home directory.
  if (body.ssh_public_key) flags.push('--ssh-key ~/.ssh/id_ed25519.pub');
  if (public_ipv4?.type === 'none') flags.push('--no-public-address');
  const command = [`gantry vm create ${quote(name)}`, ...flags].join(' \\\n  ');
  return body.user_data ? `# user-data.txt has the text of “User data”.\n${command}` : command;
}

/** Names of stored keys have no blank, and public keys have one. */
function storedKeysOf({ ssh_keys = [] }: CreateVmBody): string[] {
  return ssh_keys.filter((key) => !key.includes(' '));
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
