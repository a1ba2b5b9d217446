// The files of each package, put into a folder. Nothing here depends on the machine that builds.
import { cpSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { readText, root, run } from '../workspace.mjs';
import { copyPackages } from './node-modules.mjs';
import { place, placeText } from './place.mjs';
import { unpackArgon2, unpackNode } from './runtime.mjs';

const LIB = 'usr/lib/gantry';
const UNITS = 'usr/lib/systemd/system';
const deploy = (...names) => path.join(root, 'deploy', ...names);
const dist = (name) => path.join(root, 'packages', name, 'dist');
const isMap = (file) => file.endsWith('.map');

export const FILL = {
  'gantry-node': async ({ folder, architecture }) => {
    await unpackNode(architecture, folder);
  },

  'gantry-agent': async ({ folder, version }) => {
    copyBundle('agent', path.join(folder, LIB, 'agent'), isMap);
    placeText(folder, `${LIB}/agent/version`, `${version}\n`);
    placeText(folder, 'usr/bin/gantry-agent', command('agent/main.mjs', 'agent.env'), 0o755);
    for (const unit of [
      'gantry-agent.service',
      'gantry-hugepages.service',
      'dev-hugepages1G.mount',
    ])
      place(folder, `${UNITS}/${unit}`, deploy('systemd', unit));
    const own = (name) => deploy('debian/gantry-agent', name);
    place(folder, 'etc/gantry/agent.env', own('agent.env'));
    place(folder, 'usr/lib/tmpfiles.d/gantry-agent.conf', own('gantry-agent.tmpfiles'));
    place(folder, 'usr/lib/modules-load.d/gantry-agent.conf', own('gantry-agent.modules-load'));
    const usage = await output(process.execPath, [path.join(dist('agent'), 'main.mjs'), '--help']);
    const title = 'gantry-agent - run GPU VMs of a Gantry fleet on this server';
    placeText(folder, 'usr/share/man/man8/gantry-agent.8', manualPage(title, usage));
  },

  'gantry-control-plane': async ({ folder, architecture }) => {
    // Traces in the journal name lines of the source, so the maps are part of the package.
    for (const name of ['api', 'scheduler']) {
      const isStamp = (file) => path.basename(file) === 'build-stamp';
      copyBundle(name, path.join(folder, LIB, name), isStamp);
    }
    const nodeModules = path.join(folder, LIB, 'node_modules');
    const external = (workspacePackage, names) =>
      copyPackages(names, { workspacePackage, nodeModules });
    external('scheduler', ['@grpc/reflection', 'grpc-health-check']);
    external('api', ['@node-rs/argon2', 'swagger-ui-dist']);
    await unpackArgon2(architecture, nodeModules);
    for (const unit of ['gantry-api.service', 'gantry-scheduler.service'])
      place(folder, `${UNITS}/${unit}`, deploy('systemd', unit));
    const own = (name) => deploy('debian/gantry-control-plane', name);
    place(folder, 'etc/gantry/gantry.env', own('gantry.env'));
    const conf = 'gantry-control-plane.conf';
    place(folder, `usr/lib/tmpfiles.d/${conf}`, own('gantry-control-plane.tmpfiles'));
    place(folder, `usr/lib/sysusers.d/${conf}`, own('gantry-control-plane.sysusers'));
    const program = 'gantry-control-plane';
    place(folder, `usr/sbin/${program}`, own(program), 0o755);
    const usage = await output('sh', [own(program), '--help']);
    const title = `${program} - commands for operators of a Gantry control plane`;
    placeText(folder, `usr/share/man/man8/${program}.8`, manualPage(title, usage));
  },

  gantry: async ({ folder }) => {
    const program = readText(path.join(dist('cli'), 'main.mjs'));
    placeText(folder, `${LIB}/cli/main.mjs`, program.replace(/^#!.*\n/, ''));
    placeText(folder, 'usr/bin/gantry', command('cli/main.mjs'), 0o755);
    const cli = (...args) =>
      output(process.execPath, [path.join(dist('cli'), 'main.mjs'), ...args]);
    await cli('man', '--directory', path.join(folder, 'usr/share/man/man1'));
    const completions = {
      bash: 'bash-completion/completions/gantry',
      zsh: 'zsh/vendor-completions/_gantry',
      fish: 'fish/vendor_completions.d/gantry.fish',
    };
    for (const [shell, file] of Object.entries(completions))
      placeText(folder, `usr/share/${file}`, await cli('completion', shell));
  },
};

function copyBundle(name, target, isUnused) {
  for (const entry of readdirSync(dist(name)).sort()) {
    if (entry === 'build-stamp') continue;
    cpSync(path.join(dist(name), entry), path.join(target, entry), {
      recursive: true,
      filter: (file) => !isUnused(file),
    });
  }
}

/** Node does not override variables with those of the file, so a person can set one for a single command. */
function command(program, settings) {
  const file = settings === undefined ? '' : ` --env-file-if-exists=/etc/gantry/${settings}`;
  return `#!/bin/sh\nexec /${LIB}/node${file} /${LIB}/${program} "$@"\n`;
}

function manualPage(title, usage) {
  const [name] = title.split(' ');
  const escaped = (text) =>
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replaceAll(/^([.'])/gm, '\\&$1');
  return [
    `.TH ${name.toUpperCase()} 8 "" "" "Gantry"`,
    ...['.SH NAME', title.replaceAll(/(\w)-(\w)/g, '$1\\-$2').replace(' - ', ' \\- ')],
    ...['.SH DESCRIPTION', '.nf', escaped(usage.trimEnd()), '.fi', ''],
  ].join('\n');
}

async function output(program, args) {
  const { ok, output: text } = await run(program, args, { quiet: true });
  if (!ok) throw new Error(`${program} ${args.join(' ')} failed:\n${text}`);
  return text;
}
