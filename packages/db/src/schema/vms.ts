import {
  ATTACHMENT_MODES,
  ATTACHMENT_TYPES,
  DISK_TYPES,
  ON_HOST_FAILURE,
} from '@gantry/model/states';
import {
  VM_DESIRED_STATES,
  VM_OBSERVED_STATES,
  VM_POWER_ACTIONS,
} from '@gantry/model/vm-life/states';
import { type SQL, sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { images, locations, vmTypes } from './catalogue.ts';
import { createdAt, id, oneOf, updatedAt } from './columns.ts';
import { networks, subnets } from './networks.ts';
import { projects } from './tenants.ts';

/**
 * Desired and observed state of VMs and disks. Writer: api, except the columns under "scheduler",
 * which only the scheduler writes. The api inserts rows; the scheduler removes them when a report
 * proves that nothing is left on a host.
 */

/** Why a host could not build a VM. */
export type BuildFailure = { code: string; message: string };

export const vms = pgTable(
  'vms',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    name: text('name').notNull(),
    type: text('type')
      .notNull()
      .references(() => vmTypes.name),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    imageId: uuid('image_id')
      .notNull()
      .references(() => images.id),
    /** Empty if all its keys are in `sshKeys`. */
    sshPublicKey: text('ssh_public_key').notNull(),
    sshKeys: text('ssh_keys').array().notNull().default(sql`'{}'`),
    startupScript: text('startup_script').notNull().default(''),
    shutdownScript: text('shutdown_script').notNull().default(''),
    userData: text('user_data').notNull().default(''),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    /** Whether it is started on another host after its host was fenced. */
    onHostFailure: text('on_host_failure').notNull().default('leave'),
    desiredState: text('desired_state').notNull().default('running'),
    /** The last requested power action; each request increments `generation`. */
    powerAction: text('power_action').notNull().default('CREATE'),
    generation: bigint('generation', { mode: 'number' }).notNull().default(1),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    // scheduler:
    observedState: text('observed_state').notNull().default('none'),
    /** The generation of `observedState`; smaller than `generation` while a host works on it. */
    observedGeneration: bigint('observed_generation', { mode: 'number' }).notNull().default(0),
    reachable: boolean('reachable').notNull().default(true),
    /** Whether it has a row in `placements`. */
    placed: boolean('placed').notNull().default(false),
    /** The creation failed, so the VM is being removed whatever its desired state is. */
    abandoned: boolean('abandoned').notNull().default(false),
    /** Its host could not build it: it is taken down there, and then placed on another host. */
    relocating: boolean('relocating').notNull().default(false),
    /** Hosts that could not build it for the request that is unfinished. */
    avoidedHosts: uuid('avoided_hosts').array().notNull().default(sql`'{}'`),
    /** Why the last of these hosts could not build it. */
    buildFailure: jsonb('build_failure').$type<BuildFailure>(),
    // triggers:
    /** Increases with every change of what its host should do. */
    revision: bigint('revision', { mode: 'number' }).notNull().default(1),
    /** The state that tenants see. It is derived from the columns above, only here. */
    state: text('state')
      .notNull()
      .generatedAlwaysAs(
        (): SQL => sql`case
          when desired_state = 'deleted' or abandoned then 'STATE_DELETING'
          when not reachable then 'STATE_UNREACHABLE'
          when observed_generation < generation then case power_action
            when 'CREATE' then 'STATE_CREATING'
            when 'START' then 'STATE_STARTING'
            when 'STOP' then 'STATE_STOPPING'
            else 'STATE_RESETTING' end
          else case observed_state
            when 'running' then 'STATE_RUNNING'
            when 'stopped' then 'STATE_SHUTOFF'
            when 'crashed' then 'STATE_CRASHED'
            when 'failed' then 'STATE_ERROR'
            else 'STATE_CREATING' end
          end`,
      ),
  },
  (t) => [
    unique('vms_name_key').on(t.projectId, t.name),
    index('vms_project').on(t.projectId, t.id),
    // The project is part of the value, so that a search reads only the tags of one project.
    index('vms_tags')
      .using('gin', sql`jsonb_set('{}'::jsonb, array[project_id::text], tags) jsonb_path_ops`)
      .where(sql`tags <> '{}'::jsonb`)
      .concurrently(),
    index('vms_state').on(t.projectId, t.state, t.id),
    // The lists of operators look for a state in all projects.
    index('vms_state_of_all').on(t.state, t.id).concurrently(),
    index('vms_name_of_all').on(t.name).concurrently(),
    // A deleted image of a project waits until no VM has it.
    index('vms_image').on(t.imageId).concurrently(),
    index('vms_unplaced')
      .on(t.location, t.projectId, t.id)
      .where(
        sql`desired_state = 'running' and not placed and not abandoned and observed_generation < generation`,
      ),
    index('vms_unplaced_removable')
      .on(t.id)
      .where(sql`not placed and (desired_state = 'deleted' or abandoned)`),
    oneOf('vms_on_host_failure', t.onHostFailure, ON_HOST_FAILURE),
    oneOf('vms_desired_state', t.desiredState, VM_DESIRED_STATES),
    oneOf('vms_observed_state', t.observedState, VM_OBSERVED_STATES),
    oneOf('vms_power_action', t.powerAction, VM_POWER_ACTIONS),
    check('vms_generations', sql`${t.observedGeneration} <= ${t.generation}`),
  ],
);

export const disks = pgTable(
  'disks',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    /**
     * An OS disk is created and removed with its VM; its name does not block other disks' names.
     */
    kind: text('kind').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    /** The size as the tenant wrote it; `sizeGib` is the number. */
    size: text('size').notNull(),
    sizeGib: integer('size_gib').notNull(),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    blockSize: integer('block_size').notNull(),
    serialNumber: text('serial_number').notNull(),
    desiredState: text('desired_state').notNull().default('present'),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    // scheduler:
    /** Null until the disk exists. The api sets it for a disk that is created with a VM. */
    observedSizeGib: integer('observed_size_gib'),
    /** The host that stores it; null before a host has created it. */
    hostId: uuid('host_id'),
    /**
     * The host that is to create a data disk. It is decided when the disk is first attached to a VM
     * that has a host, so that two hosts do not create one disk twice. The api writes it too.
     */
    homeId: uuid('home_id'),
    /** The pool of the storage cluster that stores it; null: a host stores it. The api writes it. */
    poolId: uuid('pool_id'),
    /** The cluster's id of its volume, which is part of the names of its objects; empty until it exists. */
    volumeId: text('volume_id').notNull().default(''),
    /** The cluster's id of the image that the volume is a clone of; empty: it is no clone. */
    volumeParentId: text('volume_parent_id').notNull().default(''),
    /** The snapshot that its first content is copied from; null: it was created empty. The api writes it. */
    sourceSnapshotId: uuid('source_snapshot_id'),
    /** The backup that its first content is read from; null: none. The api writes it. */
    sourceBackupId: uuid('source_backup_id'),
    /**
     * The snapshot to which its content is being set back. The api sets it, and the scheduler resets it when the
     * cluster has done so; in between no VM with the disk can start.
     */
    restoreSnapshotId: uuid('restore_snapshot_id'),
    /** Why its volume could not be created or changed; empty if it could. */
    volumeProblem: text('volume_problem').notNull().default(''),
    /** A key of its volume has to be made. Triggers set it, and the scheduler resets it. */
    wantsKey: boolean('wants_key').notNull().default(false),
    /** The VM that it was created with. If that VM cannot be created, the disk is removed too. The api writes it. */
    createdWith: uuid('created_with'),
    state: text('state')
      .notNull()
      .generatedAlwaysAs(
        (): SQL => sql`case
          when desired_state = 'deleted' then 'deleting'
          when observed_size_gib is null then 'creating'
          when observed_size_gib < size_gib then 'resizing'
          else 'ready' end`,
      ),
  },
  (t) => [
    uniqueIndex('disks_name_key').on(t.projectId, t.name).where(sql`kind = 'data'`),
    unique('disks_serial_number_key').on(t.serialNumber),
    index('disks_project').on(t.projectId, t.id),
    index('disks_host').on(t.hostId),
    index('disks_state_of_all').on(t.state, t.id).concurrently(),
    index('disks_name_of_all').on(t.name).concurrently(),
    index('disks_to_create')
      .on(t.homeId)
      .where(sql`host_id is null and home_id is not null`)
      .concurrently(),
    index('disks_pool').on(t.poolId).where(sql`pool_id is not null`).concurrently(),
    index('disks_volumes_to_change')
      .on(t.id)
      .where(
        sql`pool_id is not null and (observed_size_gib is null or observed_size_gib < size_gib)`,
      )
      .concurrently(),
    index('disks_restoring').on(t.id).where(sql`restore_snapshot_id is not null`).concurrently(),
    index('disks_wanting_key').on(t.id).where(sql`wants_key`).concurrently(),
    index('disks_unsettled')
      .on(t.id)
      .where(
        sql`kind = 'data' and (desired_state = 'deleted' or observed_size_gib is null or observed_size_gib < size_gib)`,
      ),
    oneOf('disks_kind', t.kind, ATTACHMENT_TYPES),
    oneOf('disks_type', t.type, DISK_TYPES),
    oneOf('disks_desired_state', t.desiredState, ['present', 'deleted']),
    check('disks_size', sql`${t.sizeGib} between 1 and 10240`),
    check('disks_block_size', sql`${t.blockSize} in (0, 512, 4096)`),
  ],
);

export const diskAttachments = pgTable(
  'disk_attachments',
  {
    diskId: uuid('disk_id')
      .notNull()
      .references(() => disks.id),
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id, { onDelete: 'cascade' }),
    attachmentType: text('attachment_type').notNull(),
    mode: text('mode').notNull(),
    /** Writable, and of a type that only one VM may write; then no other attachment is allowed. */
    exclusive: boolean('exclusive').notNull(),
    desiredState: text('desired_state').notNull().default('attached'),
    createdAt: createdAt(),
    // scheduler:
    attached: boolean('attached').notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.diskId] }),
    uniqueIndex('disk_attachments_exclusive_key').on(t.diskId).where(sql`exclusive`),
    index('disk_attachments_disk').on(t.diskId),
    oneOf('disk_attachments_type', t.attachmentType, ATTACHMENT_TYPES),
    oneOf('disk_attachments_mode', t.mode, ATTACHMENT_MODES),
    oneOf('disk_attachments_desired_state', t.desiredState, ['attached', 'detached']),
  ],
);

export const networkInterfaces = pgTable(
  'network_interfaces',
  {
    id: id(),
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    networkId: uuid('network_id')
      .notNull()
      .references(() => networks.id),
    subnetId: uuid('subnet_id')
      .notNull()
      .references(() => subnets.id),
    macAddress: text('mac_address').notNull(),
    /** Whether a placement gives it a dynamic public address. */
    wantsPublicIpv4: boolean('wants_public_ipv4').notNull().default(true),
  },
  (t) => [
    index('network_interfaces_vm').on(t.vmId),
    unique('network_interfaces_mac_key').on(t.networkId, t.macAddress),
    unique('network_interfaces_subnet_key').on(t.subnetId, t.id),
  ],
);
