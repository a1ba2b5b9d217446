import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { bundle, root } from '../scenarios/cli/run-bundle.ts';

const CALLED = ['systemctl', 'journalctl', 'poweroff', 'hands'] as const;
/** A file in the directory of the simulated hosts: a host was enrolled since they were started. */
export const ENROLLED = 'enrolled';
type Called = (typeof CALLED)[number];
/** `server` is the host on which the command is executed, or empty. Returns what the program prints. */
type Programs = Record<Called, (args: string[], server: string) => Promise<string>>;
type Call = { program: Called; args: string[]; server: string };

/** Serves the calls of the programs in `PATH`, and an image. */
export async function serveCalls(programs: Programs) {
  const server = createServer(async (request, response) => {
    try {
      if (request.method === 'GET') return void response.end(await readFile(bundle));
      const call = JSON.parse(await text(request)) as Call;
      response.end(await programs[call.program](call.args, call.server));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Surrounded = {
  folder: string;
  url: string;
  credentials: string;
  /** The directory of the simulated hosts. */
  fleet: string;
  home: string;
};

/** A list of one image, which the world serves under every path. */
async function writeImageList(file: string, url: string): Promise<void> {
  const sha512 = createHash('sha512')
    .update(await readFile(bundle))
    .digest('hex');
  const image = { name: 'debian-13', description: 'Debian 13', tags: ['linux'], build: '1' };
  const files = Object.fromEntries(
    ['amd64', 'arm64'].map((each) => [each, { url: `${url}/${each}.img`, sha512 }]),
  );
  const list = { date: '2026-11-01', keys: {}, images: [{ ...image, pinned: 'No sums.', files }] };
  await writeFile(file, JSON.stringify(list));
}

export async function writePrograms(surrounded: Surrounded): Promise<void> {
  const { folder, url, credentials, fleet, home } = surrounded;
  await mkdir(folder, { recursive: true });
  await writeImageList(path.join(home, 'images.json'), url);
  const call = (program: Called) => `#!${process.execPath}
const { SERVER: server = '' } = process.env;
const body = JSON.stringify({ program: '${program}', args: process.argv.slice(2), server });
fetch('${url}', { method: 'POST', body }).then(async (reply) => {
  const said = await reply.text();
  if (reply.ok) return void process.stdout.write(said);
  console.error(said);
  process.exitCode = 1;
});
`;
  const node = process.execPath;
  const programs = {
    ...Object.fromEntries(CALLED.map((program) => [program, call(program)])),
    // What \`gantry join\` prints for a server is kept for \`enrolment\`. The images of distributions come from this world.
    gantry: `#!/bin/sh
case "$1 $2 $3" in
  join*) ${node} ${bundle} "$@" >'${home}/join' && exec cat '${home}/join' ;;
  'image import --all') exec ${node} ${bundle} "$@" --list '${home}/images.json' ;;
  *) exec ${node} ${bundle} "$@" ;;
esac
`,
    enrolment: `#!/bin/sh
grep -o -e '--token [^ ]* --ca-sha256 [^ ]*' '${home}/join'
`,
    'gantry-agent': `#!/bin/sh
export GANTRY_STATE_DIRECTORY="${fleet}/$SERVER"
if [ "$1" = enroll ]; then : >'${fleet}/${ENROLLED}'; fi
exec ${node} ${root}/packages/agent/dist/main.mjs "$@"
`,
    'gantry-control-plane': `#!/bin/sh
export CREDENTIALS_DIRECTORY=${credentials}
program=$1
shift
exec ${node} ${root}/packages/scheduler/dist/$program.mjs "$@"
`,
    // It reads the passphrase from a terminal.
    age: `#!/bin/sh
script --quiet --return --command "$(which -a age | sed -n 2p) --output '${home}/decrypted' $*" /dev/null \\
  <"${credentials}/../backup-passphrase" >&2
exec cat '${home}/decrypted'
`,
    // A key management service whose keys wrap nothing, but whose output has the same encoding.
    aws: `#!/bin/sh
case "$1 $2" in 'kms encrypt' | 'kms decrypt') exec base64 -w 0 ;; esac
exit 2
`,
  };
  for (const [name, content] of Object.entries(programs)) {
    await writeFile(path.join(folder, name), content);
    await chmod(path.join(folder, name), 0o755);
  }
}
