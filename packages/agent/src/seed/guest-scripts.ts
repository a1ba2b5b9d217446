import type { VmSpec } from '../spec.ts';

/**
 * Runs the tenant's scripts inside the guest. The startup script runs once, by cloud-init's runcmd or as
 * a vendor script, both of which remember the instance id. The shutdown script is the stop command of a systemd unit that
 * is ordered after multi-user.target: units stop in reverse order, so the script runs while the
 * network and all services are still up. It also runs when the guest reboots by itself.
 */
const SCRIPT_FOLDER = '/var/lib/gantry';
const RUNNER = `${SCRIPT_FOLDER}/run-script`;
const SHUTDOWN_UNIT = 'gantry-shutdown.service';
const SHUTDOWN_UNIT_FILE = `/etc/systemd/system/${SHUTDOWN_UNIT}`;

/** How long a guest has between the request to shut down and power-off. */
const SHUTDOWN_LIMIT_S = 90;

/**
 * Runs one script, with its output on the console and in a log that only root can read. systemd
 * kills tee with the unit, so tee gets one second to write the end of the output. It gets no more,
 * because a process that the script left may hold the output open for ever.
 */
const RUNNER_TEXT = `#!/bin/sh
# Usage: run-script startup|shutdown
script=${SCRIPT_FOLDER}/$1-script
log=/var/log/gantry-$1.log
output=/run/gantry-$1-output
export HOME="\${HOME:-/root}"
cd /

(umask 077; : >> "$log"; rm -f "$output"; mkfifo "$output")
tee -a "$log" < "$output" &
tee=$!
exec 3> "$output"
rm -f "$output"

echo "gantry: the $1 script begins" >&3
"$script" >&3 2>&1 3>&-
status=$?
echo "gantry: the $1 script ended with status $status" >&3
exec 3>&-
for tenth in 1 2 3 4 5 6 7 8 9 10; do
  sleep 0.1
  kill -0 "$tee" 2> /dev/null || break
done
exit "$status"
`;

/**
 * Started through a shell, because a confined systemd (SELinux) may not execute files below
 * /var/lib. A script that exceeds its limit is killed at once and does not get the stop timeout a
 * second time.
 */
const SHUTDOWN_UNIT_TEXT = `[Unit]
Description=Shutdown script of this VM
Wants=network-online.target
After=network-online.target remote-fs.target multi-user.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/sh ${RUNNER} shutdown
TimeoutStopSec=${SHUTDOWN_LIMIT_S}
TimeoutStopFailureMode=kill
StandardOutput=journal+console

[Install]
WantedBy=multi-user.target
`;

export type ScriptPlan = {
  files: { path: string; text: string; permissions: string }[];
  commands: string[][];
};

/**
 * What a guest has to install and run. The unit is enabled first, so that a startup script that never
 * ends does not prevent it from stopping.
 */
export function planScripts({ startupScript, shutdownScript }: VmSpec): ScriptPlan {
  if (startupScript === '' && shutdownScript === '') return { files: [], commands: [] };
  const files = [{ path: RUNNER, text: RUNNER_TEXT, permissions: '0700' }];
  const commands: string[][] = [];
  if (shutdownScript !== '') {
    const path = `${SCRIPT_FOLDER}/shutdown-script`;
    files.push({ path, text: shutdownScript, permissions: '0700' });
    files.push({ path: SHUTDOWN_UNIT_FILE, text: SHUTDOWN_UNIT_TEXT, permissions: '0644' });
    commands.push(
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', SHUTDOWN_UNIT],
      // This may run before multi-user.target is reached; waiting for the unit would then never
      // end.
      ['systemctl', 'start', '--no-block', SHUTDOWN_UNIT],
    );
  }
  if (startupScript !== '') {
    const path = `${SCRIPT_FOLDER}/startup-script`;
    files.push({ path, text: startupScript, permissions: '0700' });
    // Last, because its status is the one that cloud-init reports.
    commands.push(['/bin/sh', RUNNER, 'startup']);
  }
  return { files, commands };
}

/** A shell script that carries out the plan. Paths and commands are ours and need no quotes. */
export function renderInstaller({ files, commands }: ScriptPlan): string {
  const install = files.map(({ path, text, permissions }) => {
    const content = Buffer.from(text).toString('base64');
    return `base64 -d > ${path} <<'END'\n${content}\nEND\nchmod ${permissions} ${path}\n`;
  });
  const run = commands.map((words) => `${words.join(' ')}\n`);
  return `#!/bin/sh\n(umask 077; mkdir -p ${SCRIPT_FOLDER})\n${install.join('')}${run.join('')}`;
}
