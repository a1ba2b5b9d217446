import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../scenarios/cli/run-bundle.ts';
import { type PageScript, scriptOfPage } from './page-script.ts';

/** Pages whose commands operators.system.test.ts executes, in this order: later ones need what earlier ones leave. */
export const PAGES = [
  'images-and-disks.md',
  'gpu-image.md',
  'console.md',
  'upgrading.md',
  'monitoring.md',
  'alerts.md',
  'replace-a-gpu.md',
  'replace-a-drive.md',
  'failover.md',
  'replacing-keys.md',
  'backup.md',
  'recovery.md',
  'replace-a-host.md',
];

/** Pages whose commands storage-pages.ceph.test.ts executes, in this order, with a storage cluster. */
export const STORAGE_PAGES = ['../storage.md', 'backup-of-disks.md', 'fencing.md'];

/** Pages without a command that the tests above execute. */
export const OTHER_PAGES = [
  '../../deploy/README.md',
  'database.md',
  'gpu-hosts.md',
  'install.md',
  'joining.md',
  'kubernetes.md',
  'payments.md',
  'server-layouts.md',
  'settings.md',
  'webhooks.md',
];

export type Page = PageScript & { page: string; text: string };

/** A page is named by its path in docs/operators. */
export function readPage(page: string): Page {
  const text = readFileSync(path.join(root, 'docs/operators', page), 'utf8');
  return { page, text, ...scriptOfPage(path.basename(page), text) };
}

export const listPages = () => readdirSync(path.join(root, 'docs/operators')).sort();
