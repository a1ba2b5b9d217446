/** The process of the launcher that runs each bundle. The launcher itself is packages/local. */
const PROCESSES = { api: 'api', scheduler: 'scheduler', simulator: 'fleet', agent: 'agent' };

/**
 * Compares the hashes of two builds, by package. Returns the processes to restart, and whether the
 * launcher itself changed, in which case everything restarts.
 */
export function affectedProcesses(before, after) {
  const changed = Object.keys(after).filter((name) => before[name] !== after[name]);
  return {
    restart: changed.flatMap((name) => PROCESSES[name] ?? []),
    relaunch: changed.includes('local'),
  };
}
