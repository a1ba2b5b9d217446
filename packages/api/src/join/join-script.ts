import { type JoinSettings, schedulersOf } from './join-settings.ts';

export type JoinScript = {
  settings: JoinSettings;
  /** The public URL of the api. */
  publicUrl: string;
  token: string;
  /** SHA-256 of the fleet's authority: the agent sends the token to no one else. */
  caSha256: string;
};

/** A value as one word of a shell script. */
const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;

/** A script that only says why the server cannot join. curl shows the body of a reply only if it has no error status. */
export function renderRefusal(reason: string): string {
  return `#!/bin/sh\nprintf '%s\\n' ${quoted(`gantry join: ${reason}`)} >&2\nexit 1\n`;
}

/**
 * The script behind the line that operators paste on a server. Nothing runs before its last line, so that a download
 * that is cut off does nothing. It may be run again: each step finds out whether it is done. The token is passed in
 * variables and through pipes, so that neither the list of processes nor a log has it.
 */
export function renderJoinScript({ settings, publicUrl, token, caSha256 }: JoinScript): string {
  const schedulers = schedulersOf(settings, publicUrl);
  return `#!/bin/sh
# Makes this server a host of the Gantry fleet at ${publicUrl}. May be run again.
#
# GANTRY_JOIN_IGNORE_DOCTOR=1  joins although gantry-agent doctor reports failures
# GANTRY_JOIN_WAIT_SECONDS=300 how long the script waits until the control plane shows the host as ready
set -eu

control=${quoted(publicUrl)}
token=${quoted(token)}
ca_sha256=${quoted(caSha256)}
schedulers=${quoted(schedulers.join(','))}
first_scheduler=${quoted(schedulers[0] ?? '')}
apt_source=${quoted(settings.aptSource ?? '')}
apt_key=${quoted(settings.aptKey ?? '')}
${BODY}`;
}

const BODY = `
agent_env=/etc/gantry/agent.env
key_file=/etc/apt/keyrings/gantry.asc
source_file=/etc/apt/sources.list.d/gantry.list

step() {
  printf '\\n[%s of 6] %s\\n' "$1" "$2"
}

die() {
  printf 'gantry join: %s\\n' "$*" >&2
  exit 1
}

# FILE : replaces the file with the standard input, unless it is the same.
write_file() {
  mkdir -p "$(dirname "$1")"
  cat > "$1.new"
  if [ -f "$1" ] && cmp -s "$1.new" "$1"; then
    rm "$1.new"
  else
    chmod 644 "$1.new"
    mv "$1.new" "$1"
  fi
}

check_server() {
  [ "$(id -u)" = 0 ] || die "it must run as root: curl -fsSL .../join/TOKEN | sudo sh"
  for program in apt-get dpkg-query systemctl curl; do
    command -v "$program" > /dev/null || die "$program is missing: hosts run Debian or Ubuntu with systemd, and need curl"
  done
  architecture=$(dpkg --print-architecture)
  case $architecture in
    amd64 | arm64) printf 'This server is %s, %s.\\n' "$(uname -n)" "$architecture" ;;
    *) die "this server is $architecture: hosts are amd64 or arm64" ;;
  esac
}

installed_version() {
  dpkg-query -W -f '\${db:Status-Status} \${Version}' gantry-agent 2> /dev/null | sed -n 's/^installed //p'
}

add_repository() {
  if [ -z "$apt_source" ]; then
    [ -n "$(installed_version)" ] || die "the control plane names no package repository: an operator sets GANTRY_APT_SOURCE there, or installs gantry-agent here by hand, then paste the line again"
    printf 'The control plane names no repository; gantry-agent is installed already.\\n'
    return 0
  fi
  options=
  if [ -n "$apt_key" ]; then
    printf '%s\\n' "$apt_key" | write_file "$key_file"
    options="[signed-by=$key_file] "
  fi
  printf 'deb %s%s\\n' "$options" "$apt_source" | write_file "$source_file"
  apt-get -q update || die "apt-get update failed: see above. Check that this server reaches $apt_source and that its clock is right, then paste the line again"
}

install_agent() {
  version=$(installed_version)
  if [ -z "$version" ]; then
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 install gantry-agent ||
      die "gantry-agent could not be installed: see above. Correct that, then paste the line again"
    version=$(installed_version)
  fi
  printf 'gantry-agent %s is installed.\\n' "$version"
  write_settings
}

# The control plane knows where its schedulers are. Everything else in the file stays.
write_settings() {
  if [ -f "$agent_env" ] && grep -qxF "GANTRY_SCHEDULERS=$schedulers" "$agent_env"; then
    return 0
  fi
  {
    if [ -f "$agent_env" ]; then grep -v '^GANTRY_SCHEDULERS=' "$agent_env" || true; fi
    printf 'GANTRY_SCHEDULERS=%s\\n' "$schedulers"
  } | write_file "$agent_env"
  printf 'Schedulers in %s: %s\\n' "$agent_env" "$schedulers"
}

# Runs the agent with the settings of its service.
agent() {
  (
    set -a
    # shellcheck disable=SC1090
    . "$agent_env"
    set +a
    exec gantry-agent "$@"
  )
}

examine() {
  status=0
  findings=$(agent doctor) || status=$?
  printf '%s\\n' "$findings"
  send_findings
  [ "$status" -lt 2 ] && return 0
  [ "\${GANTRY_JOIN_IGNORE_DOCTOR:-}" = 1 ] && return 0
  die "correct the failures above, then paste the line again. To join in spite of them: curl ... | sudo GANTRY_JOIN_IGNORE_DOCTOR=1 sh"
}

# Shows the findings to the operator who created the token. The server can join without that.
send_findings() {
  findings_file=$(mktemp)
  printf '%s\\n' "$findings" > "$findings_file"
  printf 'url = "%s/join/%s/findings"\\n' "$control" "$token" |
    curl -fsS --max-time 20 --data-binary "@$findings_file" --config - || printf 'The control plane did not store the findings.\\n'
  rm "$findings_file"
}

# Asks the control plane what became of the token. Prints lines of the form name=value.
ask_control_plane() {
  printf 'url = "%s/join/%s/status"\\n' "$control" "$token" | curl -fsS --max-time 20 --config -
}

# NAME : the value of it in the standard input.
value_of() {
  sed -n "s/^$1=//p"
}

enrol() {
  reply=$(ask_control_plane) || die "$control does not reply: check the network, then paste the line again"
  joined=$(printf '%s\\n' "$reply" | value_of host_id)
  rejoins=$(printf '%s\\n' "$reply" | value_of rejoins_id)
  used=$(printf '%s\\n' "$reply" | value_of used)
  state_directory=$(find_state_directory)
  again=
  if [ -f "$state_directory/certificate.pem" ]; then
    mine=$(cat "$state_directory/host-id")
    if [ "$mine" = "$joined" ]; then
      printf 'This server is enrolled as %s.\\n' "$mine"
      return 0
    fi
    [ "$mine" = "$rejoins" ] || die "this server is host $mine already. To let it come back as itself: gantry join --host $mine. To make it a new host, empty $state_directory first"
    again=--again
  fi
  [ "$used" = no ] || die "another server has joined with this token: create a new one with gantry join, or in the console"
  # shellcheck disable=SC2086
  GANTRY_JOIN_TOKEN=$token agent enroll --server "$first_scheduler" --ca-sha256 "$ca_sha256" $again ||
    die "the host was not enrolled: see above. Check that this server reaches $first_scheduler, then paste the line again"
}

# Where the agent keeps its identity.
find_state_directory() {
  (
    # shellcheck disable=SC1090
    . "$agent_env"
    printf '%s\\n' "\${GANTRY_STATE_DIRECTORY:-/var/lib/gantry}"
  )
}

start_agent() {
  systemctl daemon-reload
  systemctl enable gantry-agent.service
  systemctl restart gantry-agent.service || die "gantry-agent does not start: journalctl -u gantry-agent -n 50 shows why"
}

wait_until_ready() {
  left=\${GANTRY_JOIN_WAIT_SECONDS:-300}
  shown=
  while :; do
    state=unknown
    message="the control plane does not reply"
    if reply=$(ask_control_plane); then
      state=$(printf '%s\\n' "$reply" | value_of state)
      message=$(printf '%s\\n' "$reply" | value_of message)
    fi
    [ "$message" = "$shown" ] || printf '%s\\n' "$message"
    shown=$message
    [ "$state" = ready ] && return 0
    if systemctl is-failed --quiet gantry-agent.service; then
      die "gantry-agent has failed: journalctl -u gantry-agent -n 50 shows why. Correct that, then paste the line again"
    fi
    [ "$left" -gt 0 ] || die "the host is not ready: $message. See journalctl -u gantry-agent -n 50 and gantry-agent doctor, then paste the line again"
    left=$((left - 2))
    sleep 2
  done
}

main() {
  umask 022
  step 1 'Check this server'
  check_server
  step 2 'Add the package repository'
  add_repository
  step 3 'Install gantry-agent'
  install_agent
  step 4 'Examine the server'
  examine
  step 5 'Enrol the host'
  enrol
  step 6 'Start the agent and wait until the host is ready'
  start_agent
  wait_until_ready
}

main
`;
