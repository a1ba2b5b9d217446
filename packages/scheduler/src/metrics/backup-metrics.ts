import type { Metrics } from '@gantry/daemon/metrics/metrics';
import type { BackupFigures } from '@gantry/db/queries/backups/backup-schedules';

/** Adds the figures of disks that have a backup schedule. */
export function addBackupMetrics(metrics: Metrics, read: () => readonly BackupFigures[]): void {
  metrics.gaugeOf({
    name: 'gantry_fleet_backup_oldest_seconds',
    help: 'The age of the newest complete backup of the scheduled disk that has the oldest one.',
    labels: ['location'],
    read: () =>
      read().map((row) => ({ labels: { location: row.location }, value: row.oldest_seconds })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_backup_disks',
    help: 'Disks with a backup schedule, and those whose newest complete backup is too old.',
    labels: ['location', 'figure'],
    read: () =>
      read().flatMap(({ location, scheduled_disks, overdue_disks }) => [
        { labels: { location, figure: 'scheduled' }, value: scheduled_disks },
        { labels: { location, figure: 'overdue' }, value: overdue_disks },
      ]),
  });
}
