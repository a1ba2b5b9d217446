/** A missing file, and the Debian package that contains it. */
export type MissingFile = { path: string; packageName: string };

/** What the launcher found out about this machine. */
export type Findings = {
  platform: NodeJS.Platform;
  isRoot: boolean;
  /** What the agent needs. deploy/prepare-host.sh installs it. */
  missingForHost: readonly MissingFile[];
  /** What building the tiny guest and the printed commands need. */
  missingForTrying: readonly MissingFile[];
  libvirt: LibvirtFinding;
};

export type LibvirtFinding =
  | { state: 'running' }
  /** No service manager runs here, so the launcher can start the daemons. */
  | { state: 'startable' }
  | { state: 'silent'; socketPath: string; advice: string };

/** Returns why this machine cannot be a host and what to do, or undefined if it can be one. */
export function describeProblems(findings: Findings): string | undefined {
  const { platform, isRoot, missingForHost, missingForTrying, libvirt } = findings;
  if (platform !== 'linux') {
    return 'Real VMs need Linux, with libvirt and QEMU. Without --real everything is simulated.';
  }
  const parts: string[] = [];
  if (!isRoot) {
    parts.push('Real VMs need root: start with sudo. Without --real everything is simulated.');
  }
  const missing = [...missingForHost, ...missingForTrying];
  if (missing.length > 0) {
    parts.push(`Missing on this machine:\n${renderMissing(missing)}`);
    parts.push(renderInstallation({ missingForHost, missingForTrying }));
  } else if (libvirt.state === 'silent') {
    parts.push(`libvirt does not reply at ${libvirt.socketPath}. ${libvirt.advice}`);
  }
  return parts.length > 0 ? parts.join('\n\n') : undefined;
}

function renderMissing(missing: readonly MissingFile[]): string {
  const width = Math.max(...missing.map(({ path }) => path.length));
  const lines = missing.map(
    ({ path, packageName }) => `  ${path.padEnd(width)}  (package ${packageName})`,
  );
  return lines.join('\n');
}

function renderInstallation({
  missingForHost,
  missingForTrying,
}: Pick<Findings, 'missingForHost' | 'missingForTrying'>): string {
  const commands: string[] = [];
  if (missingForHost.length > 0) commands.push('deploy/prepare-host.sh');
  if (missingForTrying.length > 0) {
    const names = [...new Set(missingForTrying.map(({ packageName }) => packageName))];
    commands.push(`apt-get install -y --no-install-recommends ${names.join(' ')}`);
  }
  const lines = commands.map((command) => `  ${command}`);
  return `On Debian, run this as root to install it:\n${lines.join('\n')}`;
}
