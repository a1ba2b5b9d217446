import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { issueServerCertificate } from '@gantry/pki/issue-certificate';
import type { Machine } from './boot-machine.ts';

/** The names of the examples in docs/operators, all of which are this machine. */
export const NAMES = {
  control: 'gantry.example.com',
  packages: 'packages.example.com',
  fleet: 'fleet.example.com',
  database: 'db.internal',
};

const PROXY = `
ssl_certificate /etc/nginx/site.pem;
ssl_certificate_key /etc/nginx/site.key;
server {
  listen 443 ssl;
  server_name ${NAMES.packages};
  root /srv/repository;
}
server {
  listen 443 ssl;
  server_name ${NAMES.control};
  location / {
    proxy_pass http://127.0.0.1:8080;
    proxy_http_version 1.1;
    proxy_buffering off;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  }
}
`;

/** Prepares a machine without a network for apt: what it needs of Debian was downloaded when its root was made. */
export async function prepareMachine(machine: Machine): Promise<void> {
  await machine.run(`echo 'APT::Install-Recommends "false";' >/etc/apt/apt.conf.d/test`);
  await machine.run('echo machine >/etc/hostname; hostname machine');
  await machine.run(
    `echo '127.0.0.1 localhost machine ${Object.values(NAMES).join(' ')}' >>/etc/hosts`,
  );
}

/**
 * Makes what an operator has before Gantry is installed: a database server, and a proxy that terminates TLS with a
 * certificate that the machine trusts and that also serves the package repository.
 */
export async function prepareSite(machine: Machine): Promise<void> {
  await install(machine, 'postgresql nginx-light curl sudo ca-certificates');
  const authority = loadAuthority(makeAuthority());
  const names = [NAMES.control, NAMES.packages];
  const issued = issueServerCertificate(authority, { names, ttlMs: 86_400_000 });
  const trusted = '/usr/local/share/ca-certificates/site.crt';
  await machine.run(`cat >${trusted}`, authority.certificatePem);
  await machine.run('update-ca-certificates');
  await machine.run('cat >/etc/nginx/site.pem', issued.chainPem);
  await machine.run('umask 077; cat >/etc/nginx/site.key', issued.privateKeyPem);
  await machine.run('cat >/etc/nginx/conf.d/site.conf', PROXY);
  await machine.run('systemctl restart nginx');
}

export const install = (machine: Machine, packages: string) =>
  machine.run(`DEBIAN_FRONTEND=noninteractive apt-get install -y ${packages}`);
