import { type JoinSettings, schedulersOf } from './join-settings.ts';

type Joining = { settings: JoinSettings; publicUrl: string; token: string; caSha256: string };

/** The line to paste on a server. It does all that the three commands do. */
export function joinLine({ publicUrl, token }: Pick<Joining, 'publicUrl' | 'token'>): string {
  return `curl -fsSL ${publicUrl}/join/${token} | sudo sh`;
}

/** The same step by step, on a server that has the package repository in its apt sources. */
export function joinCommands({ settings, publicUrl, token, caSha256 }: Joining): string[] {
  const schedulers = schedulersOf(settings, publicUrl);
  const [first = ''] = schedulers;
  return [
    'sudo apt-get install -y gantry-agent',
    `sudo gantry-agent enroll --server ${first} --token ${token} --ca-sha256 ${caSha256}`,
    `echo GANTRY_SCHEDULERS=${schedulers.join(',')} | sudo tee -a /etc/gantry/agent.env && sudo systemctl enable --now gantry-agent`,
  ];
}
