/**
 * The two programs that replace the agent. They are passed to `sh -c` and not stored in files, because the package
 * that they replace would contain them. systemd runs both outside the agent's cgroup, so that a restart of the agent
 * does not end them. Their arguments: the id of the order, the version to install, the version before it, and the
 * file of the outcome.
 */
const COMMON = `set -u
order=$1 version=$2 previous=$3 outcome=$4
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
write_outcome() {
  printf '%s %s\\n' "$order" "$1" > "$outcome.new" && mv "$outcome.new" "$outcome"
}
is_confirmed() {
  [ -f "$outcome" ] && [ "$(cat "$outcome")" = "$order confirmed" ]
}
install_version() {
  apt-get -q -y --no-install-recommends --allow-downgrades --allow-change-held-packages \\
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=60 \\
    install "gantry-agent=$1" 2>&1
}
last_line() {
  printf '%s\\n' "$1" | grep . | tail -n 1
}
`;

/** Installs the version and restarts the agent. The watchdog judges the new agent. */
export const INSTALL_SCRIPT = `${COMMON}
apt-get -q update || true
if ! printed=$(install_version "$version"); then
  write_outcome "failed gantry-agent $version could not be installed: $(last_line "$printed")"
  exit 1
fi
printf '%s\\n' "$printed"
systemctl restart gantry-agent.service
`;

/**
 * Runs after the time limit. Unless the new agent was confirmed, it installs the earlier version again. An order that
 * failed before it changed anything needs nothing. $5 is the unit of the installation, which may hang.
 */
export const WATCHDOG_SCRIPT = `${COMMON}
is_confirmed && exit 0
systemctl stop "$5" || true
installed=$(dpkg-query -W -f '\${db:Status-Status} \${Version}' gantry-agent || true)
if [ "$installed" = "installed $previous" ]; then
  [ -f "$outcome" ] || write_outcome "failed gantry-agent $version was not installed within the time limit"
  exit 0
fi
dpkg --configure -a || true
if printed=$(install_version "$previous"); then
  write_outcome "failed version $version did not reach the control plane in time; version $previous is installed again"
else
  write_outcome "failed version $version did not reach the control plane in time, and version $previous could not be installed again: $(last_line "$printed")"
fi
systemctl restart gantry-agent.service
`;
