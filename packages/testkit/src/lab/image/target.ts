import { mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Architecture, readArchitecture } from '@gantry/local/guest/architecture';
import { type Apt, OWN_APT } from '@gantry/local/guest/fetch-packages';
import { runProgram } from '@gantry/local/guest/run-program';
import { labArchitecture } from './lab-architecture.ts';
import { changedAt, openPrivateApt } from './private-apt.ts';

/** What the lab's machine is made of: the packages and the Node of its architecture. */
export type LabTarget = {
  architecture: Architecture;
  apt: Apt;
  node: { version: string; path: string };
};

const directory = fileURLToPath(new URL('../../../../../.gantry/lab', import.meta.url));

/** Repackaged releases of Node, for an architecture that this computer does not have. */
const NODE = '24.21.0';

let found: Promise<LabTarget> | undefined;

/** The machine and its guest are built at the same time, from one result. */
export function readTarget(): Promise<LabTarget> {
  found ??= findTarget(labArchitecture());
  return found;
}

async function findTarget(name: string): Promise<LabTarget> {
  const architecture = readArchitecture(name);
  if (name === process.arch) {
    const node = { version: `node-${process.version}`, path: process.execPath };
    return { architecture, apt: OWN_APT, node };
  }
  return {
    architecture,
    apt: await openPrivateApt({
      state: path.join(directory, architecture.debian, 'apt'),
      debian: architecture.debian,
    }),
    node: { version: `node-${NODE}`, path: await fetchNode(name) },
  };
}

/** Returns the program, which is complete because it gets its name at the end. npm checks the digest. */
async function fetchNode(name: string): Promise<string> {
  const file = path.join(directory, `node-${NODE}-${name}`);
  if ((await changedAt(file)) > 0) return file;
  const workspace = await mkdtemp(path.join(directory, `building-${process.pid}-`));
  try {
    await runProgram('npm', ['pack', '--silent', `node-linux-${name}@${NODE}`], { cwd: workspace });
    const archive = path.join(workspace, `node-linux-${name}-${NODE}.tgz`);
    await runProgram('tar', ['-xzf', archive, '-C', workspace, 'package/bin/node']);
    await rename(path.join(workspace, 'package/bin/node'), file);
    return file;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
