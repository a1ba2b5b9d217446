import { backupView } from '@gantry/db/queries/backups/backup-view';
import { listBackups, readBackup } from '@gantry/db/queries/backups/backups';
import { found } from '@gantry/model/errors';
import { DiskParams } from '../disks/schema.ts';
import { ProjectParams } from '../http/fields.ts';
import { resourcePage, TaggedResourceQuery, toListing } from '../http/lists/resource-list.ts';
import { route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationReply } from '../operations/view.ts';
import { changeBackup, createBackup, deleteBackup } from './change.ts';
import {
  backupScheduleView,
  removeBackupSchedule,
  requireBackupSchedule,
  setBackupSchedule,
} from './schedule.ts';
import {
  Backup,
  BackupPage,
  BackupParams,
  BackupSchedule,
  ChangeBackup,
  CreateBackup,
  SetBackupSchedule,
} from './schema.ts';

export const backupRoutes = [
  route({
    id: 'backups.create',
    method: 'post',
    path: '/projects/{project_id}/backups',
    summary: 'Back up a disk',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateBackup,
    reply: OperationReply,
    handle: async ({ sql, scope, body, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      return operationReply(await createBackup({ ...place, body }));
    },
  }),
  route({
    id: 'backups.list',
    method: 'get',
    path: '/projects/{project_id}/backups',
    summary: 'List backups, oldest first',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: TaggedResourceQuery,
    reply: BackupPage,
    handle: async ({ sql, scope, query }) => {
      const rows = await listBackups(sql, toListing(scope.projectId, query));
      return resourcePage(rows, query, backupView);
    },
  }),
  route({
    id: 'backups.get',
    method: 'get',
    path: '/projects/{project_id}/backups/{backup_id}',
    summary: 'Read a backup',
    access: { level: 'project', role: 'read-only' },
    params: BackupParams,
    reply: Backup,
    handle: async ({ sql, scope, params }) => {
      const key = { projectId: scope.projectId, backupId: params.backup_id };
      return backupView(found(await readBackup(sql, key), 'backup'));
    },
  }),
  route({
    id: 'backups.change',
    method: 'patch',
    path: '/projects/{project_id}/backups/{backup_id}',
    summary: 'Rename a backup, or replace its tags',
    access: { level: 'project', role: 'member' },
    params: BackupParams,
    body: ChangeBackup,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      const target = { ...place, backupId: params.backup_id };
      return operationReply(await changeBackup({ ...target, body }));
    },
  }),
  route({
    id: 'backups.delete',
    method: 'delete',
    path: '/projects/{project_id}/backups/{backup_id}',
    summary: 'Delete a backup',
    access: { level: 'project', role: 'member' },
    params: BackupParams,
    reply: OperationReply,
    handle: async ({ sql, scope, params, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      return operationReply(await deleteBackup({ ...place, backupId: params.backup_id }));
    },
  }),
  route({
    id: 'backup-schedules.get',
    method: 'get',
    path: '/projects/{project_id}/disks/{disk_id}/backup-schedule',
    summary: 'Read how often a disk is backed up',
    access: { level: 'project', role: 'read-only' },
    params: DiskParams,
    reply: BackupSchedule,
    handle: async ({ sql, scope, params }) => {
      const target = { sql, projectId: scope.projectId, diskId: params.disk_id };
      return backupScheduleView(await requireBackupSchedule(target));
    },
  }),
  route({
    id: 'backup-schedules.set',
    method: 'put',
    path: '/projects/{project_id}/disks/{disk_id}/backup-schedule',
    summary: 'Back a disk up every few hours, and keep the newest of these backups',
    access: { level: 'project', role: 'member' },
    params: DiskParams,
    body: SetBackupSchedule,
    reply: BackupSchedule,
    handle: async ({ sql, scope, params, body, now }) => {
      const target = { sql, projectId: scope.projectId, diskId: params.disk_id };
      return backupScheduleView(await setBackupSchedule({ ...target, body, now }));
    },
  }),
  route({
    id: 'backup-schedules.delete',
    method: 'delete',
    path: '/projects/{project_id}/disks/{disk_id}/backup-schedule',
    summary: 'Back a disk up no longer; its backups stay',
    access: { level: 'project', role: 'member' },
    params: DiskParams,
    reply: BackupSchedule,
    handle: async ({ sql, scope, params }) => {
      const target = { sql, projectId: scope.projectId, diskId: params.disk_id };
      return backupScheduleView(await removeBackupSchedule(target));
    },
  }),
];
