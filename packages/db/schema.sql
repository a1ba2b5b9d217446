-- The schema of a migrated database. Generated: run "npm run gen:schema" after a change of
-- packages/db/src/schema, packages/db/migrations or packages/db/sql. Do not edit.

create table access_key_uses (
  access_key_id uuid not null,
  used_at timestamp(3) with time zone not null,
  source_ip text not null,
  constraint access_key_uses_pkey PRIMARY KEY (access_key_id),
  constraint access_key_uses_access_key_id_access_keys_id_fk FOREIGN KEY (access_key_id) REFERENCES access_keys(id) ON DELETE CASCADE
);

create table access_keys (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  role text not null,
  hash text not null,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone,
  created_by uuid,
  parent_id uuid,
  tags jsonb default '{}'::jsonb not null,
  constraint access_keys_hash_key UNIQUE (hash),
  constraint access_keys_name_key UNIQUE (project_id, name),
  constraint access_keys_pkey PRIMARY KEY (id),
  constraint access_keys_created_by_users_id_fk FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE CASCADE,
  constraint access_keys_parent_id_access_keys_id_fk FOREIGN KEY (parent_id) REFERENCES access_keys(id) ON DELETE CASCADE,
  constraint access_keys_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint access_keys_role CHECK ((role = ANY (ARRAY['member'::text, 'read-only'::text])))
);
CREATE INDEX access_keys_creator ON public.access_keys USING btree (created_by);
CREATE INDEX access_keys_parent ON public.access_keys USING btree (parent_id);
CREATE TRIGGER access_keys_quota AFTER INSERT OR DELETE ON public.access_keys FOR EACH ROW EXECUTE FUNCTION count_rows('access_keys');

create table address_claims (
  network_interface_id uuid not null,
  subnet_id uuid not null,
  address inet not null,
  constraint address_claims_address_key UNIQUE (subnet_id, address),
  constraint address_claims_pkey PRIMARY KEY (network_interface_id),
  constraint address_claims_interface_fk FOREIGN KEY (network_interface_id, subnet_id) REFERENCES network_interfaces(id, subnet_id)
);
CREATE TRIGGER address_claims_added AFTER INSERT ON public.address_claims REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_addresses();
CREATE TRIGGER address_claims_changed AFTER UPDATE ON public.address_claims REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_addresses();
CREATE TRIGGER address_claims_removed AFTER DELETE ON public.address_claims REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_addresses();

create table applied_sql (
  id integer default 1 not null,
  digest text not null,
  functions text[] not null,
  triggers text[] not null,
  constraint applied_sql_pkey PRIMARY KEY (id),
  constraint applied_sql_one CHECK ((id = 1))
);

create table audit_logs (
  id uuid not null,
  at timestamp(3) with time zone not null,
  organization_id uuid,
  project_id uuid,
  actor_type text not null,
  actor_id uuid,
  actor text not null,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  source_ip text not null,
  request_id uuid not null,
  status integer not null,
  user_agent text default ''::text not null,
  attempts integer default 1 not null,
  constraint audit_logs_pkey PRIMARY KEY (id),
  constraint audit_logs_actor_type CHECK ((actor_type = ANY (ARRAY['user'::text, 'access_key'::text, 'anonymous'::text])))
);
CREATE INDEX audit_logs_organization ON public.audit_logs USING btree (organization_id, id);

create table availabilities (
  location text not null,
  vm_type text not null,
  available boolean not null,
  fitting integer default 0 not null,
  lacking text default ''::text not null,
  constraint availabilities_location_vm_type_pk PRIMARY KEY (location, vm_type),
  constraint availabilities_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name) ON DELETE CASCADE,
  constraint availabilities_vm_type_vm_types_name_fk FOREIGN KEY (vm_type) REFERENCES vm_types(name) ON DELETE CASCADE
);

create table backup_schedules (
  disk_id uuid not null,
  every_hours integer not null,
  keep integer not null,
  next_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint backup_schedules_pkey PRIMARY KEY (disk_id),
  constraint backup_schedules_disk_id_disks_id_fk FOREIGN KEY (disk_id) REFERENCES disks(id) ON DELETE CASCADE,
  constraint backup_schedules_every CHECK (((every_hours >= 1) AND (every_hours <= 8760))),
  constraint backup_schedules_keep CHECK (((keep >= 1) AND (keep <= 1000)))
);
CREATE INDEX backup_schedules_next ON public.backup_schedules USING btree (next_at);

create table backups (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  tags jsonb default '{}'::jsonb not null,
  disk_id uuid not null,
  pool_id uuid not null,
  location text not null,
  disk_type text not null,
  size_gib integer not null,
  block_size integer not null,
  wants_full boolean default false not null,
  scheduled boolean default false not null,
  desired_state text default 'present'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  observed_state text default 'none'::text not null,
  problem text default ''::text not null,
  parent_id uuid,
  has_snapshot boolean default true not null,
  file_bytes bigint default 0 not null,
  sha256 text default ''::text not null,
  state text generated always as (
CASE
    WHEN (desired_state = 'deleted'::text) THEN 'deleting'::text
    WHEN (observed_state = 'none'::text) THEN 'creating'::text
    ELSE observed_state
END) stored not null,
  constraint backups_name_key UNIQUE (project_id, name),
  constraint backups_pkey PRIMARY KEY (id),
  constraint backups_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint backups_pool_id_storage_pools_id_fk FOREIGN KEY (pool_id) REFERENCES storage_pools(id),
  constraint backups_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint backups_desired_state CHECK ((desired_state = ANY (ARRAY['present'::text, 'deleted'::text]))),
  constraint backups_disk_type CHECK ((disk_type = ANY (ARRAY['persistent-ssd'::text, 'shared-volume'::text]))),
  constraint backups_file CHECK (((observed_state <> 'ready'::text) OR (length(sha256) = 64))),
  constraint backups_observed_state CHECK ((observed_state = ANY (ARRAY['none'::text, 'ready'::text, 'failed'::text]))),
  constraint backups_size CHECK (((size_gib >= 1) AND (size_gib <= 10240)))
);
CREATE INDEX backups_disk ON public.backups USING btree (disk_id, id);
CREATE INDEX backups_parent ON public.backups USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX backups_project ON public.backups USING btree (project_id, id);
CREATE INDEX backups_unsettled ON public.backups USING btree (location, id) WHERE ((desired_state = 'deleted'::text) OR (observed_state = 'none'::text));
CREATE INDEX backups_with_snapshot ON public.backups USING btree (location, disk_id) WHERE has_snapshot;
CREATE TRIGGER backups_quota AFTER INSERT OR DELETE ON public.backups FOR EACH ROW EXECUTE FUNCTION count_backup();

create table capacity_samples (
  at timestamp(3) with time zone not null,
  location text not null,
  model text not null,
  free integer not null,
  sold integer not null,
  cleaning integer not null,
  blocked integer not null,
  free_on_whole_hosts integer not null,
  constraint capacity_samples_at_location_model_pk PRIMARY KEY (at, location, model)
);

create table closed_days (
  date date not null,
  closed_at timestamp(3) with time zone default now() not null,
  constraint closed_days_pkey PRIMARY KEY (date)
);
CREATE TRIGGER closed_days_final BEFORE DELETE OR UPDATE ON public.closed_days FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table closed_prices (
  date date not null,
  resource_type text not null,
  usd_per_hour numeric(18,8) not null,
  constraint closed_prices_date_resource_type_pk PRIMARY KEY (date, resource_type),
  constraint closed_prices_date_closed_days_date_fk FOREIGN KEY (date) REFERENCES closed_days(date)
);
CREATE TRIGGER closed_prices_final BEFORE DELETE OR UPDATE ON public.closed_prices FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER closed_prices_open BEFORE INSERT ON public.closed_prices FOR EACH ROW EXECUTE FUNCTION require_open_day();

create table console_tickets (
  hash text not null,
  vm_id uuid not null,
  actor_type text not null,
  actor_id uuid not null,
  expires_at timestamp(3) with time zone not null,
  login_id text default ''::text not null,
  token_generation bigint,
  constraint console_tickets_pkey PRIMARY KEY (hash),
  constraint console_tickets_vm_id_vms_id_fk FOREIGN KEY (vm_id) REFERENCES vms(id) ON DELETE CASCADE,
  constraint console_tickets_actor_type CHECK ((actor_type = ANY (ARRAY['user'::text, 'access_key'::text])))
);
CREATE INDEX console_tickets_age ON public.console_tickets USING btree (expires_at);
CREATE INDEX console_tickets_vm ON public.console_tickets USING btree (vm_id);

create table custom_images (
  id uuid not null,
  project_id uuid not null,
  pool_id uuid,
  location text not null,
  visibility text default 'project'::text not null,
  size_gib integer not null,
  source_snapshot_id uuid,
  source_url text default ''::text not null,
  format text default 'raw'::text not null,
  sha256 text default ''::text not null,
  file_bytes bigint,
  uploaded boolean default true not null,
  desired_state text default 'present'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  observed_state text default 'none'::text not null,
  problem text default ''::text not null,
  state text generated always as (
CASE
    WHEN (desired_state = 'deleted'::text) THEN 'deleted'::text
    WHEN (NOT uploaded) THEN 'uploading'::text
    WHEN (observed_state = 'none'::text) THEN 'creating'::text
    ELSE observed_state
END) stored not null,
  host_id uuid,
  content_sha256 text default ''::text not null,
  content_bytes bigint,
  constraint custom_images_pkey PRIMARY KEY (id),
  constraint custom_images_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint custom_images_pool_id_storage_pools_id_fk FOREIGN KEY (pool_id) REFERENCES storage_pools(id),
  constraint custom_images_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint custom_images_desired_state CHECK ((desired_state = ANY (ARRAY['present'::text, 'deleted'::text]))),
  constraint custom_images_format CHECK ((format = ANY (ARRAY['raw'::text, 'qcow2'::text, 'vmdk'::text]))),
  constraint custom_images_observed_state CHECK ((observed_state = ANY (ARRAY['none'::text, 'ready'::text, 'failed'::text]))),
  constraint custom_images_size CHECK (((size_gib >= 1) AND (size_gib <= 10240))),
  constraint custom_images_visibility CHECK ((visibility = ANY (ARRAY['organization'::text, 'project'::text])))
);
CREATE INDEX custom_images_host ON public.custom_images USING btree (host_id) WHERE (host_id IS NOT NULL);
CREATE INDEX custom_images_project ON public.custom_images USING btree (project_id, id);
CREATE INDEX custom_images_snapshot ON public.custom_images USING btree (source_snapshot_id);
CREATE INDEX custom_images_unsettled ON public.custom_images USING btree (location, id) WHERE ((desired_state = 'deleted'::text) OR ((observed_state = 'none'::text) AND uploaded));
CREATE TRIGGER custom_images_export AFTER INSERT ON public.custom_images FOR EACH ROW WHEN ((new.host_id IS NOT NULL)) EXECUTE FUNCTION bump_host_of_snapshot();
CREATE TRIGGER custom_images_exported AFTER UPDATE OF host_id ON public.custom_images FOR EACH ROW WHEN (((old.host_id IS NOT NULL) AND (new.host_id IS NULL))) EXECUTE FUNCTION bump_host_of_snapshot();
CREATE TRIGGER custom_images_quota AFTER INSERT ON public.custom_images FOR EACH ROW EXECUTE FUNCTION count_image();
CREATE TRIGGER custom_images_quota_freed AFTER UPDATE OF desired_state ON public.custom_images FOR EACH ROW WHEN (((old.desired_state = 'present'::text) AND (new.desired_state = 'deleted'::text))) EXECUTE FUNCTION count_image();

create table device_claims (
  device_id uuid not null,
  vm_id uuid,
  orphan_id uuid,
  constraint device_claims_pkey PRIMARY KEY (device_id),
  constraint device_claims_device_id_devices_id_fk FOREIGN KEY (device_id) REFERENCES devices(id),
  constraint device_claims_orphan_id_orphans_id_fk FOREIGN KEY (orphan_id) REFERENCES orphans(id) ON DELETE CASCADE,
  constraint device_claims_vm_id_placements_vm_id_fk FOREIGN KEY (vm_id) REFERENCES placements(vm_id),
  constraint device_claims_one_owner CHECK ((num_nonnulls(vm_id, orphan_id) = 1))
);
CREATE INDEX device_claims_orphan ON public.device_claims USING btree (orphan_id);
CREATE INDEX device_claims_vm ON public.device_claims USING btree (vm_id);
CREATE TRIGGER device_claims_added AFTER INSERT ON public.device_claims REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION stream_claims();
CREATE TRIGGER device_claims_of_orphans AFTER INSERT ON public.device_claims FOR EACH ROW WHEN ((new.orphan_id IS NOT NULL)) EXECUTE FUNCTION bump_host_of_orphan_device();
CREATE TRIGGER device_claims_removed AFTER DELETE ON public.device_claims REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION stream_claims();

create table device_readings (
  device_id uuid not null,
  hour timestamp(3) with time zone not null,
  at timestamp(3) with time zone not null,
  measured jsonb not null,
  constraint device_readings_device_id_hour_pk PRIMARY KEY (device_id, hour),
  constraint device_readings_device_id_devices_id_fk FOREIGN KEY (device_id) REFERENCES devices(id) ON DELETE CASCADE
);
CREATE INDEX device_readings_hour ON public.device_readings USING btree (hour);

create table device_receipts (
  id uuid not null,
  number bigint generated always as identity (maxvalue 9223372036854775807) not null,
  device_id uuid not null,
  kind text not null,
  host_id uuid not null,
  pci_address text not null,
  serial text not null,
  vm_id uuid not null,
  project_id uuid not null,
  method text not null,
  finished_at timestamp(3) with time zone not null,
  failure_code text default ''::text not null,
  failure_message text default ''::text not null,
  properties jsonb default '[]'::jsonb not null,
  constraint device_receipts_pkey PRIMARY KEY (id),
  constraint device_receipts_kind CHECK ((kind = ANY (ARRAY['gpu'::text, 'drive'::text])))
);
CREATE INDEX device_receipts_device ON public.device_receipts USING btree (device_id, id);
CREATE INDEX device_receipts_project ON public.device_receipts USING btree (project_id, id);
CREATE INDEX device_receipts_serial ON public.device_receipts USING btree (serial, number) WHERE (serial <> ''::text);

create table devices (
  id uuid not null,
  host_id uuid not null,
  kind text not null,
  pci_address text not null,
  numa_node integer not null,
  model text default ''::text not null,
  serial text default ''::text not null,
  size_gb integer default 0 not null,
  pcie_switch text default ''::text not null,
  iommu_group integer,
  nvlink_peer text default ''::text not null,
  uses text[] default '{}'::text[] not null,
  state text default 'ready'::text not null,
  state_reason text default ''::text not null,
  problems jsonb default '[]'::jsonb not null,
  blocked boolean generated always as ((problems @> '[{"severity": "block"}]'::jsonb)) stored not null,
  quarantine_reason text default ''::text not null,
  constraint devices_address_key UNIQUE (host_id, pci_address),
  constraint devices_pkey PRIMARY KEY (id),
  constraint devices_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  constraint devices_kind CHECK ((kind = ANY (ARRAY['gpu'::text, 'drive'::text]))),
  constraint devices_state CHECK ((state = ANY (ARRAY['ready'::text, 'quarantined'::text, 'missing'::text, 'used_by_host'::text])))
);
CREATE INDEX devices_serial ON public.devices USING btree (serial) WHERE (serial <> ''::text);
CREATE TRIGGER devices_moved AFTER UPDATE OF kind, numa_node ON public.devices FOR EACH ROW WHEN (((new.kind <> old.kind) OR ((new.kind = 'gpu'::text) AND (new.numa_node <> old.numa_node)))) EXECUTE FUNCTION bump_host_of_device();
CREATE TRIGGER devices_state_streamed AFTER UPDATE ON public.devices FOR EACH ROW WHEN (((((new.state IS DISTINCT FROM old.state) OR (new.state_reason IS DISTINCT FROM old.state_reason)) OR (new.quarantine_reason IS DISTINCT FROM old.quarantine_reason)) OR (new.blocked IS DISTINCT FROM old.blocked))) EXECUTE FUNCTION stream_device();
CREATE TRIGGER devices_streamed AFTER INSERT OR DELETE ON public.devices FOR EACH ROW EXECUTE FUNCTION stream_device();
CREATE TRIGGER devices_touched AFTER INSERT OR DELETE OR UPDATE ON public.devices FOR EACH ROW EXECUTE FUNCTION touch_host();

create table discarded_volumes (
  disk_id uuid not null,
  pool_id uuid not null,
  discarded_at timestamp(3) with time zone default now() not null,
  problem text default ''::text not null,
  constraint discarded_volumes_pkey PRIMARY KEY (disk_id),
  constraint discarded_volumes_pool_id_storage_pools_id_fk FOREIGN KEY (pool_id) REFERENCES storage_pools(id)
);
CREATE INDEX discarded_volumes_pool ON public.discarded_volumes USING btree (pool_id);

create table disk_attachments (
  disk_id uuid not null,
  vm_id uuid not null,
  attachment_type text not null,
  mode text not null,
  exclusive boolean not null,
  desired_state text default 'attached'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  attached boolean default false not null,
  constraint disk_attachments_vm_id_disk_id_pk PRIMARY KEY (vm_id, disk_id),
  constraint disk_attachments_disk_id_disks_id_fk FOREIGN KEY (disk_id) REFERENCES disks(id),
  constraint disk_attachments_vm_id_vms_id_fk FOREIGN KEY (vm_id) REFERENCES vms(id) ON DELETE CASCADE,
  constraint disk_attachments_desired_state CHECK ((desired_state = ANY (ARRAY['attached'::text, 'detached'::text]))),
  constraint disk_attachments_mode CHECK ((mode = ANY (ARRAY['read-write'::text, 'read-only'::text]))),
  constraint disk_attachments_type CHECK ((attachment_type = ANY (ARRAY['os'::text, 'data'::text])))
);
CREATE INDEX disk_attachments_disk ON public.disk_attachments USING btree (disk_id);
CREATE UNIQUE INDEX disk_attachments_exclusive_key ON public.disk_attachments USING btree (disk_id) WHERE exclusive;
CREATE TRIGGER disk_attachments_key_revoked AFTER DELETE ON public.disk_attachments FOR EACH ROW EXECUTE FUNCTION revoke_keys_of_attachment();
CREATE TRIGGER disk_attachments_removed AFTER DELETE ON public.disk_attachments FOR EACH ROW EXECUTE FUNCTION bump_host_of_detached_disk();
CREATE TRIGGER disk_attachments_revised AFTER INSERT OR UPDATE OF desired_state ON public.disk_attachments FOR EACH ROW EXECUTE FUNCTION revise_vm_of_attachment();

create table disk_limits (
  disk_type text not null,
  total_iops bigint default 0 not null,
  read_iops bigint default 0 not null,
  write_iops bigint default 0 not null,
  total_bytes_per_second bigint default 0 not null,
  read_bytes_per_second bigint default 0 not null,
  write_bytes_per_second bigint default 0 not null,
  iops_per_gib bigint default 0 not null,
  bytes_per_second_per_gib bigint default 0 not null,
  burst_percent integer default 0 not null,
  burst_seconds integer default 0 not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint disk_limits_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint disk_limits_pkey PRIMARY KEY (disk_type),
  constraint disk_limits_disk_type CHECK ((disk_type = 'persistent-ssd'::text)),
  constraint disk_limits_not_negative CHECK ((LEAST(total_iops, read_iops, write_iops, total_bytes_per_second, read_bytes_per_second, write_bytes_per_second, iops_per_gib, bytes_per_second_per_gib, (burst_percent)::bigint, (burst_seconds)::bigint) >= 0)),
  constraint disk_limits_total_or_each CHECK (((((total_iops + iops_per_gib) = 0) OR ((read_iops + write_iops) = 0)) AND (((total_bytes_per_second + bytes_per_second_per_gib) = 0) OR ((read_bytes_per_second + write_bytes_per_second) = 0))))
);
CREATE CONSTRAINT TRIGGER disk_limits_changed AFTER UPDATE ON public.disk_limits DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((to_jsonb(new.*) - 'updated_at'::text) <> (to_jsonb(old.*) - 'updated_at'::text))) EXECUTE FUNCTION bump_all_hosts();

create table disks (
  id uuid not null,
  project_id uuid not null,
  kind text not null,
  name text not null,
  type text not null,
  size text not null,
  size_gib integer not null,
  location text not null,
  block_size integer not null,
  serial_number text not null,
  desired_state text default 'present'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  observed_size_gib integer,
  host_id uuid,
  state text generated always as (
CASE
    WHEN (desired_state = 'deleted'::text) THEN 'deleting'::text
    WHEN (observed_size_gib IS NULL) THEN 'creating'::text
    WHEN (observed_size_gib < size_gib) THEN 'resizing'::text
    ELSE 'ready'::text
END) stored not null,
  home_id uuid,
  created_with uuid,
  tags jsonb default '{}'::jsonb not null,
  pool_id uuid,
  volume_id text default ''::text not null,
  volume_parent_id text default ''::text not null,
  volume_problem text default ''::text not null,
  wants_key boolean default false not null,
  source_snapshot_id uuid,
  restore_snapshot_id uuid,
  source_backup_id uuid,
  constraint disks_serial_number_key UNIQUE (serial_number),
  constraint disks_pkey PRIMARY KEY (id),
  constraint disks_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint disks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint disks_block_size CHECK ((block_size = ANY (ARRAY[0, 512, 4096]))),
  constraint disks_desired_state CHECK ((desired_state = ANY (ARRAY['present'::text, 'deleted'::text]))),
  constraint disks_kind CHECK ((kind = ANY (ARRAY['os'::text, 'data'::text]))),
  constraint disks_size CHECK (((size_gib >= 1) AND (size_gib <= 10240))),
  constraint disks_type CHECK ((type = ANY (ARRAY['persistent-ssd'::text, 'shared-volume'::text])))
);
CREATE INDEX disks_host ON public.disks USING btree (host_id);
CREATE UNIQUE INDEX disks_name_key ON public.disks USING btree (project_id, name) WHERE (kind = 'data'::text);
CREATE INDEX disks_name_of_all ON public.disks USING btree (name);
CREATE INDEX disks_pool ON public.disks USING btree (pool_id) WHERE (pool_id IS NOT NULL);
CREATE INDEX disks_project ON public.disks USING btree (project_id, id);
CREATE INDEX disks_restoring ON public.disks USING btree (id) WHERE (restore_snapshot_id IS NOT NULL);
CREATE INDEX disks_state_of_all ON public.disks USING btree (state, id);
CREATE INDEX disks_to_create ON public.disks USING btree (home_id) WHERE ((host_id IS NULL) AND (home_id IS NOT NULL));
CREATE INDEX disks_unsettled ON public.disks USING btree (id) WHERE ((kind = 'data'::text) AND ((desired_state = 'deleted'::text) OR (observed_size_gib IS NULL) OR (observed_size_gib < size_gib)));
CREATE INDEX disks_volumes_to_change ON public.disks USING btree (id) WHERE ((pool_id IS NOT NULL) AND ((observed_size_gib IS NULL) OR (observed_size_gib < size_gib)));
CREATE INDEX disks_wanting_key ON public.disks USING btree (id) WHERE wants_key;
CREATE TRIGGER disks_bump AFTER UPDATE ON public.disks FOR EACH ROW WHEN ((((((new.size_gib IS DISTINCT FROM old.size_gib) OR (new.desired_state IS DISTINCT FROM old.desired_state)) OR (new.host_id IS DISTINCT FROM old.host_id)) OR (new.observed_size_gib IS DISTINCT FROM old.observed_size_gib)) OR (new.restore_snapshot_id IS DISTINCT FROM old.restore_snapshot_id))) EXECUTE FUNCTION bump_hosts_of_disk();
CREATE TRIGGER disks_discarded AFTER DELETE ON public.disks FOR EACH ROW WHEN ((old.pool_id IS NOT NULL)) EXECUTE FUNCTION discard_volume();
CREATE TRIGGER disks_quota AFTER INSERT OR DELETE OR UPDATE OF size_gib ON public.disks FOR EACH ROW EXECUTE FUNCTION count_disk();

create table era_differences (
  id uuid not null,
  era bigint not null,
  host_id uuid not null,
  kind text not null,
  vm_id uuid,
  disk_id uuid,
  outcome text default 'none'::text not null,
  network_id uuid,
  constraint era_differences_pkey PRIMARY KEY (id),
  constraint era_differences_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  constraint era_differences_kind CHECK ((kind = ANY (ARRAY['absent'::text, 'ahead'::text, 'vm_changed'::text, 'disk_attached'::text, 'disk_detached'::text, 'disk_grown'::text, 'disk_unknown'::text, 'disk_missing'::text, 'network_changed'::text]))),
  constraint era_differences_outcome CHECK ((outcome = ANY (ARRAY['pending'::text, 'started'::text, 'lost'::text, 'gone'::text, 'none'::text])))
);
CREATE INDEX era_differences_host ON public.era_differences USING btree (host_id);

create table events (
  id uuid not null,
  project_id uuid not null,
  resource_type text not null,
  resource_id uuid not null,
  type text not null,
  message text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint events_pkey PRIMARY KEY (id),
  constraint events_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint events_resource_type CHECK ((resource_type = ANY (ARRAY['vm'::text, 'disk'::text, 'vpc-firewall-rule'::text, 'snapshot'::text, 'backup'::text, 'image'::text]))),
  constraint events_type CHECK ((type = ANY (ARRAY['vm_crashed'::text, 'vm_unreachable'::text, 'vm_reachable'::text, 'vm_host_draining'::text, 'vm_host_fenced'::text, 'vm_restarted_elsewhere'::text, 'vm_moving'::text, 'vm_device_unhealthy'::text, 'vm_lost'::text, 'vm_orphaned'::text, 'vm_restored'::text, 'vm_organization_warned'::text, 'vm_organization_suspended'::text, 'vm_organization_resumed'::text])))
);
CREATE INDEX events_project ON public.events USING btree (project_id, id);
CREATE TRIGGER events_streamed AFTER INSERT ON public.events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION stream_incidents();

create table firewall_rule_hosts (
  rule_id uuid not null,
  host_id uuid not null,
  number bigint not null,
  constraint firewall_rule_hosts_rule_id_host_id_pk PRIMARY KEY (rule_id, host_id),
  constraint firewall_rule_hosts_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  constraint firewall_rule_hosts_rule_id_firewall_rules_id_fk FOREIGN KEY (rule_id) REFERENCES firewall_rules(id) ON DELETE CASCADE
);
CREATE INDEX firewall_rule_hosts_host ON public.firewall_rule_hosts USING btree (host_id);

create table firewall_rules (
  id uuid not null,
  project_id uuid not null,
  network_id uuid not null,
  name text not null,
  direction text not null,
  action text not null,
  protocols text[] not null,
  sources jsonb not null,
  source_ports text[] not null,
  destinations jsonb not null,
  destination_ports text[] not null,
  desired_state text default 'present'::text not null,
  generation bigint default 1 not null,
  created_at timestamp(3) with time zone default now() not null,
  applied_generation bigint default 0 not null,
  state text generated always as (
CASE
    WHEN (desired_state = 'deleted'::text) THEN 'deleting'::text
    WHEN (applied_generation < generation) THEN 'pending'::text
    ELSE 'active'::text
END) stored not null,
  names_resources boolean default true not null,
  tags jsonb default '{}'::jsonb not null,
  constraint firewall_rules_name_key UNIQUE (project_id, name),
  constraint firewall_rules_added TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint firewall_rules_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint firewall_rules_quota TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint firewall_rules_pkey PRIMARY KEY (id),
  constraint firewall_rules_network_id_networks_id_fk FOREIGN KEY (network_id) REFERENCES networks(id),
  constraint firewall_rules_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint firewall_rules_action CHECK ((action = ANY (ARRAY['allow'::text, 'deny'::text]))),
  constraint firewall_rules_desired_state CHECK ((desired_state = ANY (ARRAY['present'::text, 'deleted'::text]))),
  constraint firewall_rules_direction CHECK ((direction = ANY (ARRAY['ingress'::text, 'egress'::text])))
);
CREATE INDEX firewall_rules_network ON public.firewall_rules USING btree (network_id);
CREATE INDEX firewall_rules_unsettled ON public.firewall_rules USING btree (id) WHERE ((desired_state = 'deleted'::text) OR (applied_generation < generation));
CREATE CONSTRAINT TRIGGER firewall_rules_added AFTER INSERT ON public.firewall_rules DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bump_hosts_of_rule();
CREATE CONSTRAINT TRIGGER firewall_rules_changed AFTER UPDATE ON public.firewall_rules DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.generation <> old.generation) OR (new.desired_state <> old.desired_state))) EXECUTE FUNCTION bump_hosts_of_rule();
CREATE TRIGGER firewall_rules_names BEFORE INSERT OR UPDATE OF sources, destinations ON public.firewall_rules FOR EACH ROW EXECUTE FUNCTION note_named_resources();
CREATE CONSTRAINT TRIGGER firewall_rules_quota AFTER INSERT OR DELETE ON public.firewall_rules DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_rows('firewall_rules');
CREATE TRIGGER firewall_rules_size AFTER INSERT OR UPDATE OF sources, destinations, source_ports, destination_ports ON public.firewall_rules FOR EACH ROW EXECUTE FUNCTION limit_rules_of_network();

create table fleet_authorities (
  id integer default 1 not null,
  certificate_pem text not null,
  fingerprint text not null,
  sealed_private_key text not null,
  created_at timestamp(3) with time zone default now() not null,
  state text default 'issuing'::text not null,
  withdrawn_at timestamp(3) with time zone,
  constraint fleet_authorities_pkey PRIMARY KEY (id),
  constraint fleet_authorities_state CHECK ((state = ANY (ARRAY['issuing'::text, 'retiring'::text, 'withdrawn'::text])))
);
CREATE UNIQUE INDEX fleet_authorities_trusted ON public.fleet_authorities USING btree (state) WHERE (state <> 'withdrawn'::text);

create table free_vnis (
  vni integer not null,
  freed_at timestamp(3) with time zone,
  host_ids uuid[] default '{}'::uuid[] not null,
  numbers bigint[] default '{}'::bigint[] not null,
  constraint free_vnis_pkey PRIMARY KEY (vni)
);
CREATE INDEX free_vnis_freed ON public.free_vnis USING btree (freed_at, vni) WHERE (freed_at IS NOT NULL);
CREATE INDEX free_vnis_unused ON public.free_vnis USING btree (vni) WHERE (freed_at IS NULL);

create table host_certificates (
  serial text not null,
  host_id uuid not null,
  not_after timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  revoked_at timestamp(3) with time zone,
  authority text default ''::text not null,
  constraint host_certificates_pkey PRIMARY KEY (serial),
  constraint host_certificates_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE
);
CREATE INDEX host_certificates_expiry ON public.host_certificates USING btree (not_after);
CREATE INDEX host_certificates_host ON public.host_certificates USING btree (host_id);
CREATE INDEX host_certificates_revoked ON public.host_certificates USING btree (serial) WHERE (revoked_at IS NOT NULL);

create table host_revisions (
  host_id uuid not null,
  number bigint default 1 not null,
  changed_xid xid8 default pg_current_xact_id() not null,
  own_number bigint default 1 not null,
  peers_xid xid8 default '0'::xid8 not null,
  constraint host_revisions_pkey PRIMARY KEY (host_id),
  constraint host_revisions_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE
);
CREATE INDEX host_revisions_changed ON public.host_revisions USING btree (changed_xid);
CREATE INDEX host_revisions_peers ON public.host_revisions USING btree (peers_xid);

create table hosts (
  id uuid not null,
  location text not null,
  name text not null,
  state text default 'ready'::text not null,
  last_seen_at timestamp(3) with time zone,
  scheduler_id uuid,
  stream_epoch bigint default 0 not null,
  accepted_number bigint default 0 not null,
  refusal text default ''::text not null,
  unknown_vms text[] default '{}'::text[] not null,
  inventory jsonb,
  judged_by text default ''::text not null,
  facts jsonb,
  accepted_facts jsonb,
  drift text[] default '{}'::text[] not null,
  numa_nodes jsonb default '[]'::jsonb not null,
  shared_storage boolean default false not null,
  underlay_address inet,
  created_at timestamp(3) with time zone default now() not null,
  admin_state text default 'active'::text not null,
  fenced_at timestamp(3) with time zone,
  impairment text default ''::text not null,
  failed_builds integer default 0 not null,
  build_failed_at timestamp(3) with time zone,
  trouble text generated always as (
CASE
    WHEN (refusal <> ''::text) THEN ('its agent refuses its desired state: '::text || refusal)
    WHEN (impairment <> ''::text) THEN impairment
    WHEN (failed_builds >= 2) THEN (('it could not build the last '::text || failed_builds) || ' VMs'::text)
    ELSE ''::text
END) stored not null,
  build_failed_vm_id uuid,
  awaits_era boolean default false not null,
  awaits_comparison boolean default false not null,
  certificate_authority text default ''::text not null,
  enforces_bandwidth boolean default false not null,
  unresponsive_vms jsonb default '[]'::jsonb not null,
  storage_gib integer,
  lacks_nesting boolean default false not null,
  labels jsonb default '{}'::jsonb not null,
  storage_address inet,
  storage_fence_problem text default ''::text not null,
  constraint hosts_name_key UNIQUE (name),
  constraint hosts_pkey PRIMARY KEY (id),
  constraint hosts_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint hosts_admin_state CHECK ((admin_state = ANY (ARRAY['active'::text, 'cordoned'::text, 'draining'::text]))),
  constraint hosts_state CHECK ((state = ANY (ARRAY['ready'::text, 'unreachable'::text, 'fenced'::text])))
);
CREATE INDEX hosts_awaiting_era ON public.hosts USING btree (id) WHERE awaits_era;
CREATE INDEX hosts_detached ON public.hosts USING btree (id) WHERE (scheduler_id IS NULL);
CREATE INDEX hosts_fenced ON public.hosts USING btree (id) WHERE ((fenced_at IS NOT NULL) AND (state <> 'fenced'::text));
CREATE INDEX hosts_location ON public.hosts USING btree (location);
CREATE TRIGGER hosts_numbered AFTER INSERT ON public.hosts FOR EACH ROW EXECUTE FUNCTION insert_host_revision();
CREATE TRIGGER hosts_reached AFTER UPDATE OF underlay_address ON public.hosts FOR EACH ROW WHEN ((new.underlay_address IS DISTINCT FROM old.underlay_address)) EXECUTE FUNCTION bump_hosts_of_underlay();
CREATE TRIGGER hosts_state_streamed AFTER UPDATE ON public.hosts FOR EACH ROW WHEN ((((((new.state IS DISTINCT FROM old.state) OR (new.admin_state IS DISTINCT FROM old.admin_state)) OR (new.trouble IS DISTINCT FROM old.trouble)) OR (new.drift IS DISTINCT FROM old.drift)) OR ((new.scheduler_id IS NULL) IS DISTINCT FROM (old.scheduler_id IS NULL)))) EXECUTE FUNCTION stream_host();
CREATE TRIGGER hosts_storing AFTER UPDATE OF storage_address ON public.hosts FOR EACH ROW WHEN ((new.storage_address IS DISTINCT FROM old.storage_address)) EXECUTE FUNCTION touch_hosts_at_address();
CREATE TRIGGER hosts_streamed AFTER INSERT OR DELETE ON public.hosts FOR EACH ROW EXECUTE FUNCTION stream_host();
CREATE TRIGGER hosts_touched AFTER UPDATE OF state, admin_state, numa_nodes, shared_storage, enforces_bandwidth, lacks_nesting, storage_gib, drift, refusal, impairment, failed_builds ON public.hosts FOR EACH ROW WHEN ((((((((((new.state IS DISTINCT FROM old.state) OR (new.admin_state IS DISTINCT FROM old.admin_state)) OR (new.numa_nodes IS DISTINCT FROM old.numa_nodes)) OR (new.shared_storage IS DISTINCT FROM old.shared_storage)) OR (new.enforces_bandwidth IS DISTINCT FROM old.enforces_bandwidth)) OR (new.lacks_nesting IS DISTINCT FROM old.lacks_nesting)) OR (new.storage_gib IS DISTINCT FROM old.storage_gib)) OR (new.drift IS DISTINCT FROM old.drift)) OR (new.trouble IS DISTINCT FROM old.trouble))) EXECUTE FUNCTION touch_host();

create table idempotency_keys (
  actor_id uuid not null,
  key text not null,
  request_hash text not null,
  reply text not null,
  sealed boolean not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint idempotency_keys_actor_id_key_pk PRIMARY KEY (actor_id, key)
);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

create table image_locations (
  image_id uuid not null,
  location text not null,
  constraint image_locations_image_id_location_pk PRIMARY KEY (image_id, location),
  constraint image_locations_image_id_images_id_fk FOREIGN KEY (image_id) REFERENCES images(id) ON DELETE CASCADE,
  constraint image_locations_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name) ON DELETE CASCADE
);

create table images (
  id uuid not null,
  name text not null,
  description text default ''::text not null,
  tags text[] default '{}'::text[] not null,
  source_url text default ''::text not null,
  sha256 text default ''::text not null,
  retired boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  project_id uuid,
  constraint images_pkey PRIMARY KEY (id),
  constraint images_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX images_owner_name_key ON public.images USING btree (name, COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid)) WHERE ((project_id IS NULL) OR (NOT retired));
CREATE TRIGGER images_bump AFTER UPDATE OF source_url, sha256 ON public.images FOR EACH ROW WHEN (((new.source_url <> old.source_url) OR (new.sha256 <> old.sha256))) EXECUTE FUNCTION bump_hosts_of_image();

create table installation (
  id integer default 1 not null,
  era bigint default 0 not null,
  history text not null,
  metered_since timestamp(3) with time zone default '-infinity'::timestamp with time zone not null,
  stream_since xid8 default '0'::xid8 not null,
  constraint installation_pkey PRIMARY KEY (id),
  constraint installation_one CHECK ((id = 1))
);

create table invitations (
  user_id uuid not null,
  hash text not null,
  created_by uuid not null,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  constraint invitations_hash_key UNIQUE (hash),
  constraint invitations_pkey PRIMARY KEY (user_id),
  constraint invitations_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX invitations_expiry ON public.invitations USING btree (expires_at);

create table join_tokens (
  id uuid not null,
  hash text not null,
  location text not null,
  created_by uuid not null,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  host_id uuid,
  rejoins_id uuid,
  findings jsonb default '[]'::jsonb not null,
  examined_at timestamp(3) with time zone,
  constraint join_tokens_hash_key UNIQUE (hash),
  constraint join_tokens_pkey PRIMARY KEY (id),
  constraint join_tokens_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE SET NULL,
  constraint join_tokens_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint join_tokens_rejoins_id_hosts_id_fk FOREIGN KEY (rejoins_id) REFERENCES hosts(id) ON DELETE CASCADE,
  constraint join_tokens_use CHECK (((host_id IS NULL) OR (used_at IS NOT NULL)))
);
CREATE INDEX join_tokens_expiry ON public.join_tokens USING btree (expires_at);
CREATE INDEX join_tokens_host ON public.join_tokens USING btree (host_id);

create table late_usage (
  number bigint generated always as identity (maxvalue 9223372036854775807) not null,
  organization_id uuid not null,
  since timestamp(3) with time zone not null,
  until timestamp(3) with time zone,
  constraint late_usage_pkey PRIMARY KEY (number)
);

create table leases (
  location text not null,
  holder uuid not null,
  epoch bigint not null,
  expires_at timestamp(3) with time zone not null,
  wanted_by uuid,
  constraint leases_epoch_key UNIQUE (location, epoch),
  constraint leases_pkey PRIMARY KEY (location),
  constraint leases_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name) ON DELETE CASCADE
);

create table locations (
  name text not null,
  region text not null,
  zone text not null,
  description text default ''::text not null,
  has_subnets boolean default true not null,
  constraint locations_pkey PRIMARY KEY (name)
);

create table login_budgets (
  key text not null,
  level double precision not null,
  updated_at timestamp(3) with time zone not null,
  constraint login_budgets_pkey PRIMARY KEY (key)
);
CREATE INDEX login_budgets_age ON public.login_budgets USING btree (updated_at);

create table login_sources (
  user_id uuid not null,
  source text not null,
  last_login_at timestamp(3) with time zone not null,
  constraint login_sources_user_id_source_pk PRIMARY KEY (user_id, source),
  constraint login_sources_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX login_sources_age ON public.login_sources USING btree (last_login_at);

create table members (
  id uuid not null,
  user_id uuid not null,
  organization_id uuid not null,
  project_id uuid,
  role text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint members_once UNIQUE NULLS NOT DISTINCT (user_id, organization_id, project_id),
  constraint members_pkey PRIMARY KEY (id),
  constraint members_organization_id_organizations_id_fk FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
  constraint members_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint members_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint members_role CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'read-only'::text]))),
  constraint members_scope CHECK (((role = 'owner'::text) = (project_id IS NULL)))
);
CREATE INDEX members_organization ON public.members USING btree (organization_id);

create table meter_intervals (
  id uuid not null,
  organization_id uuid not null,
  project_id uuid not null,
  resource_id uuid not null,
  resource_type text not null,
  billable_metric text not null,
  units numeric(12,0) not null,
  region text not null,
  started_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  given_up_at timestamp(3) with time zone,
  unproven boolean default false not null,
  constraint meter_intervals_pkey PRIMARY KEY (id),
  constraint meter_intervals_given_up CHECK ((given_up_at >= ended_at)),
  constraint meter_intervals_order CHECK ((ended_at >= started_at))
);
CREATE INDEX meter_intervals_end ON public.meter_intervals USING btree (COALESCE(ended_at, 'infinity'::timestamp with time zone));
CREATE INDEX meter_intervals_of ON public.meter_intervals USING btree (organization_id, COALESCE(ended_at, 'infinity'::timestamp with time zone));
CREATE UNIQUE INDEX meter_intervals_open_key ON public.meter_intervals USING btree (resource_id) WHERE (ended_at IS NULL);
CREATE INDEX meter_intervals_resource ON public.meter_intervals USING btree (resource_id);
CREATE UNIQUE INDEX meter_intervals_unproven_key ON public.meter_intervals USING btree (resource_id) WHERE unproven;
CREATE TRIGGER meter_intervals_late AFTER INSERT OR UPDATE OF started_at, ended_at, units ON public.meter_intervals FOR EACH ROW EXECUTE FUNCTION note_late_usage();

create table network_changes (
  network_id uuid not null,
  xid xid8 default pg_current_xact_id() not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint network_changes_network_id_xid_pk PRIMARY KEY (network_id, xid)
);
CREATE INDEX network_changes_created ON public.network_changes USING btree (created_at);
CREATE INDEX network_changes_xid ON public.network_changes USING btree (xid);

create table network_interfaces (
  id uuid not null,
  vm_id uuid not null,
  name text not null,
  network_id uuid not null,
  subnet_id uuid not null,
  mac_address text not null,
  wants_public_ipv4 boolean default true not null,
  constraint network_interfaces_mac_key UNIQUE (network_id, mac_address),
  constraint network_interfaces_subnet_key UNIQUE (subnet_id, id),
  constraint network_interfaces_pkey PRIMARY KEY (id),
  constraint network_interfaces_network_id_networks_id_fk FOREIGN KEY (network_id) REFERENCES networks(id),
  constraint network_interfaces_subnet_id_subnets_id_fk FOREIGN KEY (subnet_id) REFERENCES subnets(id),
  constraint network_interfaces_vm_id_vms_id_fk FOREIGN KEY (vm_id) REFERENCES vms(id) ON DELETE CASCADE
);
CREATE INDEX network_interfaces_vm ON public.network_interfaces USING btree (vm_id);

create table networks (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  cidr cidr not null,
  vni integer not null,
  is_default boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  tags jsonb default '{}'::jsonb not null,
  constraint networks_name_key UNIQUE (project_id, name),
  constraint networks_vni_key UNIQUE (vni),
  constraint networks_pkey PRIMARY KEY (id),
  constraint networks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);
CREATE TRIGGER networks_number BEFORE INSERT ON public.networks FOR EACH ROW EXECUTE FUNCTION take_vni();
CREATE TRIGGER networks_number_freed AFTER DELETE ON public.networks FOR EACH ROW EXECUTE FUNCTION free_vni();
CREATE TRIGGER networks_quota AFTER INSERT OR DELETE ON public.networks FOR EACH ROW EXECUTE FUNCTION count_rows('networks');

create table operations (
  id uuid not null,
  project_id uuid not null,
  resource_type text not null,
  resource_id uuid not null,
  name text not null,
  state text not null,
  request json not null,
  result json,
  started_at timestamp(3) with time zone not null,
  recorded_at timestamp(3) with time zone default now() not null,
  completed_at timestamp(3) with time zone,
  deadline_at timestamp(3) with time zone not null,
  constraint operations_pkey PRIMARY KEY (id),
  constraint operations_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint operations_completed CHECK (((state = 'IN_PROGRESS'::text) = (completed_at IS NULL))),
  constraint operations_name CHECK ((name = ANY (ARRAY['CREATE'::text, 'UPDATE'::text, 'DELETE'::text, 'START'::text, 'STOP'::text, 'RESET'::text, 'MOVE'::text, 'ATTACH_DISKS'::text, 'DETACH_DISKS'::text, 'RESTORE'::text]))),
  constraint operations_resource_type CHECK ((resource_type = ANY (ARRAY['vm'::text, 'disk'::text, 'vpc-firewall-rule'::text, 'snapshot'::text, 'backup'::text, 'image'::text]))),
  constraint operations_state CHECK ((state = ANY (ARRAY['IN_PROGRESS'::text, 'SUCCEEDED'::text, 'FAILED'::text])))
);
CREATE INDEX operations_deadline ON public.operations USING btree (deadline_at) WHERE (state = 'IN_PROGRESS'::text);
CREATE INDEX operations_disk_changes ON public.operations USING btree (resource_id) WHERE ((state = 'IN_PROGRESS'::text) AND (name = ANY (ARRAY['ATTACH_DISKS'::text, 'DETACH_DISKS'::text])));
CREATE INDEX operations_list ON public.operations USING btree (project_id, resource_type, state, id);
CREATE INDEX operations_list_of_all ON public.operations USING btree (resource_type, state, id);
CREATE INDEX operations_resource ON public.operations USING btree (resource_id);
CREATE UNIQUE INDEX operations_unfinished_key ON public.operations USING btree (resource_id) WHERE (state = 'IN_PROGRESS'::text);
CREATE TRIGGER operations_end_streamed AFTER UPDATE OF state ON public.operations FOR EACH ROW WHEN ((new.state <> old.state)) EXECUTE FUNCTION stream_operation();
CREATE TRIGGER operations_streamed AFTER INSERT ON public.operations FOR EACH ROW EXECUTE FUNCTION stream_operation();

create table organization_quotas (
  organization_id uuid not null,
  type text not null,
  max bigint not null,
  constraint organization_quotas_organization_id_type_pk PRIMARY KEY (organization_id, type),
  constraint organization_quotas_organization_id_organizations_id_fk FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
  constraint organization_quotas_type CHECK ((type = ANY (ARRAY['projects'::text, 'vms'::text, 'gpus'::text, 'disks'::text, 'disk_gib'::text, 'snapshots'::text, 'snapshot_gib'::text, 'backups'::text, 'backup_gib'::text, 'images'::text, 'image_gib'::text, 'firewall_rules'::text, 'networks'::text, 'access_keys'::text, 'public_addresses'::text])))
);

create table organizations (
  id uuid not null,
  name text not null,
  payment_customer_id text default ''::text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint organizations_pkey PRIMARY KEY (id)
);

create table orphan_interfaces (
  id uuid not null,
  orphan_id uuid not null,
  network_id uuid not null,
  mac_address text not null,
  private_address inet not null,
  public_address inet,
  constraint orphan_interfaces_orphan_id_id_pk PRIMARY KEY (orphan_id, id),
  constraint orphan_interfaces_orphan_id_orphans_id_fk FOREIGN KEY (orphan_id) REFERENCES orphans(id) ON DELETE CASCADE
);
CREATE INDEX orphan_interfaces_network ON public.orphan_interfaces USING btree (network_id);
CREATE INDEX orphan_interfaces_public ON public.orphan_interfaces USING btree (public_address);

create table orphans (
  id uuid not null,
  host_id uuid not null,
  vm_id uuid not null,
  project_id uuid,
  type text default ''::text not null,
  name text default ''::text not null,
  revision bigint not null,
  generation bigint not null,
  description jsonb not null,
  found_at timestamp(3) with time zone default now() not null,
  problem text default ''::text not null,
  decision text,
  constraint orphans_vm_key UNIQUE (host_id, vm_id),
  constraint orphans_pkey PRIMARY KEY (id),
  constraint orphans_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  constraint orphans_decision CHECK ((decision = ANY (ARRAY['give_back'::text, 'delete'::text])))
);
CREATE INDEX orphans_vm ON public.orphans USING btree (vm_id);
CREATE TRIGGER orphans_decided AFTER UPDATE OF decision ON public.orphans FOR EACH ROW WHEN ((new.decision IS DISTINCT FROM old.decision)) EXECUTE FUNCTION bump_host_of_orphan();
CREATE TRIGGER orphans_removed AFTER DELETE ON public.orphans FOR EACH ROW WHEN ((old.decision = 'delete'::text)) EXECUTE FUNCTION bump_host_of_orphan();
CREATE TRIGGER orphans_touched AFTER INSERT OR DELETE ON public.orphans FOR EACH ROW EXECUTE FUNCTION touch_host();

create table payment_events (
  id text not null,
  type text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint payment_events_pkey PRIMARY KEY (id)
);

create table payment_methods (
  organization_id uuid not null,
  provider text not null,
  details jsonb not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint payment_methods_pkey PRIMARY KEY (organization_id),
  constraint payment_methods_organization_id_organizations_id_fk FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
);

create table payment_outbox (
  id uuid default gen_random_uuid() not null,
  organization_id uuid not null,
  kind text not null,
  date date not null,
  resource_type text not null,
  billable_metric text not null,
  quantity numeric(24,6) not null,
  cost_usd numeric(24,8) not null,
  reason text default ''::text not null,
  adjustment_id uuid,
  created_at timestamp(3) with time zone default now() not null,
  claimed_until timestamp(3) with time zone,
  uncertain_since timestamp(3) with time zone,
  sent_at timestamp(3) with time zone,
  failure text default ''::text not null,
  constraint payment_outbox_adjustment_key UNIQUE (adjustment_id),
  constraint payment_outbox_pkey PRIMARY KEY (id),
  constraint payment_outbox_kind CHECK ((kind = ANY (ARRAY['usage'::text, 'adjustment'::text])))
);
CREATE UNIQUE INDEX payment_outbox_day_key ON public.payment_outbox USING btree (organization_id, date, resource_type, billable_metric) WHERE (kind = 'usage'::text);
CREATE INDEX payment_outbox_sent ON public.payment_outbox USING btree (sent_at) WHERE (sent_at IS NOT NULL);
CREATE INDEX payment_outbox_unsent ON public.payment_outbox USING btree (organization_id, created_at) WHERE (sent_at IS NULL);

create table payment_problems (
  organization_id uuid not null,
  kind text not null,
  invoice_id text default ''::text not null,
  since timestamp(3) with time zone default now() not null,
  suspends_at timestamp(3) with time zone not null,
  constraint payment_problems_organization_id_kind_pk PRIMARY KEY (organization_id, kind),
  constraint payment_problems_organization_id_organizations_id_fk FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
  constraint payment_problems_kind CHECK ((kind = ANY (ARRAY['payment_failed'::text, 'no_payment_method'::text])))
);
CREATE INDEX payment_problems_due ON public.payment_problems USING btree (suspends_at);

create table placements (
  vm_id uuid not null,
  host_id uuid not null,
  epoch bigint not null,
  created_at timestamp(3) with time zone default now() not null,
  numa_shares jsonb,
  constraint placements_pkey PRIMARY KEY (vm_id),
  constraint placements_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id),
  constraint placements_vm_id_vms_id_fk FOREIGN KEY (vm_id) REFERENCES vms(id)
);
CREATE INDEX placements_host ON public.placements USING btree (host_id);
CREATE TRIGGER placements_added AFTER INSERT ON public.placements REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_placements();
CREATE TRIGGER placements_keys_revoked AFTER DELETE ON public.placements REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION revoke_keys_of_placements();
CREATE TRIGGER placements_removed AFTER DELETE ON public.placements REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_placements();

create table pool_images (
  pool_id uuid not null,
  sha256 text not null,
  volume_id text default ''::text not null,
  size_gib integer default 0 not null,
  problem text default ''::text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint pool_images_pool_id_sha256_pk PRIMARY KEY (pool_id, sha256),
  constraint pool_images_pool_id_storage_pools_id_fk FOREIGN KEY (pool_id) REFERENCES storage_pools(id)
);

create table prices (
  resource_type text not null,
  usd_per_hour numeric(18,8) not null,
  constraint prices_pkey PRIMARY KEY (resource_type),
  constraint prices_not_negative CHECK ((usd_per_hour >= (0)::numeric))
);

create table projects (
  id uuid not null,
  organization_id uuid not null,
  name text not null,
  version text default 'v0.1'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint projects_name_key UNIQUE (organization_id, name),
  constraint projects_pkey PRIMARY KEY (id),
  constraint projects_organization_id_organizations_id_fk FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE TRIGGER projects_quota AFTER INSERT ON public.projects FOR EACH ROW EXECUTE FUNCTION limit_projects();

create table public_addresses (
  id uuid not null,
  location text not null,
  address inet not null,
  network_interface_id uuid,
  released_at timestamp(3) with time zone,
  last_project_id uuid,
  reserved boolean default false not null,
  constraint public_addresses_address_key UNIQUE (address),
  constraint public_addresses_interface_key UNIQUE (network_interface_id),
  constraint public_addresses_pkey PRIMARY KEY (id),
  constraint public_addresses_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint public_addresses_network_interface_id_network_interfaces_id_fk FOREIGN KEY (network_interface_id) REFERENCES network_interfaces(id),
  constraint public_addresses_single CHECK ((masklen(address) = 32))
);
CREATE INDEX public_addresses_free ON public.public_addresses USING btree (location, released_at NULLS FIRST) WHERE (network_interface_id IS NULL);

create table quotas (
  project_id uuid not null,
  type text not null,
  max bigint not null,
  used bigint default 0 not null,
  constraint quotas_project_id_type_pk PRIMARY KEY (project_id, type),
  constraint quotas_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint quotas_type CHECK ((type = ANY (ARRAY['vms'::text, 'gpus'::text, 'disks'::text, 'disk_gib'::text, 'snapshots'::text, 'snapshot_gib'::text, 'backups'::text, 'backup_gib'::text, 'images'::text, 'image_gib'::text, 'firewall_rules'::text, 'networks'::text, 'subnets'::text, 'access_keys'::text, 'public_addresses'::text])))
);

create table refresh_tokens (
  hash text not null,
  family_id uuid not null,
  user_id uuid not null,
  used_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  source_ip text default ''::text not null,
  user_agent text default ''::text not null,
  login_ended_at timestamp(3) with time zone,
  constraint refresh_tokens_pkey PRIMARY KEY (hash),
  constraint refresh_tokens_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_ended ON public.refresh_tokens USING btree (user_id) WHERE (login_ended_at IS NOT NULL);
CREATE INDEX refresh_tokens_expiry ON public.refresh_tokens USING btree (expires_at);
CREATE INDEX refresh_tokens_family ON public.refresh_tokens USING btree (family_id);
CREATE INDEX refresh_tokens_open ON public.refresh_tokens USING btree (user_id, family_id) WHERE ((used_at IS NULL) AND (revoked_at IS NULL));

create table reserved_addresses (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  public_address_id uuid not null,
  network_interface_id uuid,
  tags jsonb default '{}'::jsonb not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint reserved_addresses_address_key UNIQUE (public_address_id),
  constraint reserved_addresses_interface_key UNIQUE (network_interface_id),
  constraint reserved_addresses_name_key UNIQUE (project_id, name),
  constraint reserved_addresses_pkey PRIMARY KEY (id),
  constraint reserved_addresses_network_interface_id_network_interfaces_id_f FOREIGN KEY (network_interface_id) REFERENCES network_interfaces(id) ON DELETE SET NULL,
  constraint reserved_addresses_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint reserved_addresses_public_address_id_public_addresses_id_fk FOREIGN KEY (public_address_id) REFERENCES public_addresses(id)
);
CREATE TRIGGER reserved_addresses_noted AFTER INSERT OR DELETE ON public.reserved_addresses FOR EACH ROW EXECUTE FUNCTION note_reservation();
CREATE TRIGGER reserved_addresses_quota AFTER INSERT OR DELETE ON public.reserved_addresses FOR EACH ROW EXECUTE FUNCTION count_rows('public_addresses');

create table rollout_hosts (
  rollout_id uuid not null,
  host_id uuid not null,
  wave integer not null,
  state text default 'pending'::text not null,
  reason text default ''::text not null,
  from_version text default ''::text not null,
  order_id uuid,
  wanted_version text default ''::text not null,
  ordered_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  active boolean default true not null,
  constraint rollout_hosts_rollout_id_host_id_pk PRIMARY KEY (rollout_id, host_id),
  constraint rollout_hosts_host_id_hosts_id_fk FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  constraint rollout_hosts_rollout_id_rollouts_id_fk FOREIGN KEY (rollout_id) REFERENCES rollouts(id) ON DELETE CASCADE,
  constraint rollout_hosts_state CHECK ((state = ANY (ARRAY['pending'::text, 'updating'::text, 'done'::text, 'failed'::text, 'skipped'::text, 'rolling_back'::text, 'rolled_back'::text, 'roll_back_failed'::text])))
);
CREATE UNIQUE INDEX rollout_hosts_active_key ON public.rollout_hosts USING btree (host_id) WHERE active;
CREATE INDEX rollout_hosts_host ON public.rollout_hosts USING btree (host_id);
CREATE TRIGGER rollout_hosts_ordered AFTER UPDATE ON public.rollout_hosts REFERENCING OLD TABLE AS unchanged NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_rollout();
CREATE TRIGGER rollout_hosts_streamed AFTER UPDATE ON public.rollout_hosts REFERENCING OLD TABLE AS unchanged NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION stream_rollout_hosts();

create table rollouts (
  id uuid not null,
  version text not null,
  labels jsonb not null,
  canary_count integer not null,
  batch_size integer not null,
  host_time_limit_s integer not null,
  max_failures integer not null,
  forgiven_failures integer default 0 not null,
  created_by uuid not null,
  created_at timestamp(3) with time zone default now() not null,
  wave integer default 0 not null,
  state text default 'running'::text not null,
  state_reason text default ''::text not null,
  ended_at timestamp(3) with time zone,
  constraint rollouts_pkey PRIMARY KEY (id),
  constraint rollouts_state CHECK ((state = ANY (ARRAY['running'::text, 'paused'::text, 'cancelling'::text, 'cancelled'::text, 'completed'::text, 'rolling_back'::text, 'rolled_back'::text])))
);
CREATE INDEX rollouts_unfinished ON public.rollouts USING btree (id) WHERE (ended_at IS NULL);
CREATE TRIGGER rollouts_inserted AFTER INSERT ON public.rollouts FOR EACH ROW EXECUTE FUNCTION stream_rollout();
CREATE TRIGGER rollouts_streamed AFTER UPDATE ON public.rollouts FOR EACH ROW WHEN ((((new.state IS DISTINCT FROM old.state) OR (new.state_reason IS DISTINCT FROM old.state_reason)) OR (new.wave IS DISTINCT FROM old.wave))) EXECUTE FUNCTION stream_rollout();

create table schedulers (
  id uuid not null,
  started_at timestamp(3) with time zone default now() not null,
  last_seen_at timestamp(3) with time zone default now() not null,
  address text default ''::text not null,
  constraint schedulers_pkey PRIMARY KEY (id)
);

create table serial_logs (
  vm_id uuid not null,
  tail text not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint serial_logs_pkey PRIMARY KEY (vm_id),
  constraint serial_logs_vm_id_vms_id_fk FOREIGN KEY (vm_id) REFERENCES vms(id) ON DELETE CASCADE
);

create table signing_keys (
  id uuid not null,
  public_key jsonb not null,
  sealed_private_key text not null,
  number bigint generated always as identity (maxvalue 9223372036854775807) not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint signing_keys_pkey PRIMARY KEY (id)
);

create table snapshots (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  tags jsonb default '{}'::jsonb not null,
  disk_id uuid not null,
  pool_id uuid,
  location text not null,
  disk_type text not null,
  size_gib integer not null,
  block_size integer not null,
  desired_state text default 'present'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  observed_state text default 'none'::text not null,
  problem text default ''::text not null,
  state text generated always as (
CASE
    WHEN (desired_state = 'deleted'::text) THEN 'deleting'::text
    WHEN (observed_state = 'none'::text) THEN 'creating'::text
    ELSE observed_state
END) stored not null,
  freeze_vm_id uuid,
  freeze_state text default 'none'::text not null,
  host_id uuid,
  constraint snapshots_name_key UNIQUE (project_id, name),
  constraint snapshots_pkey PRIMARY KEY (id),
  constraint snapshots_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint snapshots_pool_id_storage_pools_id_fk FOREIGN KEY (pool_id) REFERENCES storage_pools(id),
  constraint snapshots_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint snapshots_desired_state CHECK ((desired_state = ANY (ARRAY['present'::text, 'deleted'::text]))),
  constraint snapshots_disk_type CHECK ((disk_type = ANY (ARRAY['persistent-ssd'::text, 'shared-volume'::text]))),
  constraint snapshots_freeze_state CHECK ((freeze_state = ANY (ARRAY['none'::text, 'wanted'::text, 'frozen'::text, 'taken'::text, 'held'::text, 'expired'::text, 'failed'::text]))),
  constraint snapshots_observed_state CHECK ((observed_state = ANY (ARRAY['none'::text, 'ready'::text, 'failed'::text]))),
  constraint snapshots_place CHECK (((pool_id IS NULL) <> (host_id IS NULL))),
  constraint snapshots_size CHECK (((size_gib >= 1) AND (size_gib <= 10240)))
);
CREATE INDEX snapshots_disk ON public.snapshots USING btree (disk_id);
CREATE INDEX snapshots_host ON public.snapshots USING btree (host_id) WHERE (host_id IS NOT NULL);
CREATE INDEX snapshots_project ON public.snapshots USING btree (project_id, id);
CREATE INDEX snapshots_unsettled ON public.snapshots USING btree (location, id) WHERE ((desired_state = 'deleted'::text) OR (observed_state = 'none'::text));
CREATE TRIGGER snapshots_added AFTER INSERT ON public.snapshots FOR EACH ROW WHEN ((new.host_id IS NOT NULL)) EXECUTE FUNCTION bump_host_of_snapshot();
CREATE TRIGGER snapshots_changed AFTER UPDATE ON public.snapshots FOR EACH ROW WHEN (((new.host_id IS NOT NULL) AND (((new.freeze_state IS DISTINCT FROM old.freeze_state) OR (new.observed_state IS DISTINCT FROM old.observed_state)) OR (new.desired_state IS DISTINCT FROM old.desired_state)))) EXECUTE FUNCTION bump_host_of_snapshot();
CREATE TRIGGER snapshots_frozen AFTER INSERT ON public.snapshots FOR EACH ROW WHEN ((new.freeze_vm_id IS NOT NULL)) EXECUTE FUNCTION bump_host_of_freeze();
CREATE TRIGGER snapshots_gone AFTER DELETE ON public.snapshots FOR EACH ROW WHEN ((old.host_id IS NOT NULL)) EXECUTE FUNCTION bump_host_of_snapshot();
CREATE TRIGGER snapshots_quota AFTER INSERT OR DELETE ON public.snapshots FOR EACH ROW EXECUTE FUNCTION count_snapshot();
CREATE TRIGGER snapshots_thawed AFTER UPDATE ON public.snapshots FOR EACH ROW WHEN (((new.freeze_vm_id IS NOT NULL) AND (((new.freeze_state IS DISTINCT FROM old.freeze_state) OR (new.observed_state IS DISTINCT FROM old.observed_state)) OR (new.desired_state IS DISTINCT FROM old.desired_state)))) EXECUTE FUNCTION bump_host_of_freeze();

create table ssh_keys (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  public_key text not null,
  created_at timestamp(3) with time zone default now() not null,
  tags jsonb default '{}'::jsonb not null,
  constraint ssh_keys_name_key UNIQUE (project_id, name),
  constraint ssh_keys_pkey PRIMARY KEY (id),
  constraint ssh_keys_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);
CREATE INDEX ssh_keys_project ON public.ssh_keys USING btree (project_id, id);

create table storage_clusters (
  id uuid not null,
  name text not null,
  monitors text[] not null,
  user_name text not null,
  created_at timestamp(3) with time zone default now() not null,
  fsid text default ''::text not null,
  problem text default ''::text not null,
  constraint storage_clusters_name_key UNIQUE (name),
  constraint storage_clusters_pkey PRIMARY KEY (id)
);

create table storage_fences (
  cluster_id uuid not null,
  host_id uuid not null,
  addresses text[] not null,
  created_at timestamp(3) with time zone default now() not null,
  effective_at timestamp(3) with time zone,
  liftable boolean default false not null,
  constraint storage_fences_cluster_id_host_id_pk PRIMARY KEY (cluster_id, host_id),
  constraint storage_fences_cluster_id_storage_clusters_id_fk FOREIGN KEY (cluster_id) REFERENCES storage_clusters(id)
);

create table storage_pools (
  id uuid not null,
  cluster_id uuid not null,
  name text not null,
  location text not null,
  disk_type text not null,
  active boolean default true not null,
  overcommit_percent integer default 100 not null,
  created_at timestamp(3) with time zone default now() not null,
  size_gib integer,
  used_gib integer default 0 not null,
  allocated_gib integer default 0 not null,
  observed_at timestamp(3) with time zone,
  problem text default ''::text not null,
  encrypted boolean default false not null,
  file_system text default ''::text not null,
  constraint storage_pools_name_key UNIQUE (cluster_id, name),
  constraint storage_pools_pkey PRIMARY KEY (id),
  constraint storage_pools_cluster_id_storage_clusters_id_fk FOREIGN KEY (cluster_id) REFERENCES storage_clusters(id),
  constraint storage_pools_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint storage_pools_disk_type CHECK ((disk_type = ANY (ARRAY['persistent-ssd'::text, 'shared-volume'::text]))),
  constraint storage_pools_overcommit CHECK (((overcommit_percent >= 1) AND (overcommit_percent <= 100000)))
);
CREATE INDEX storage_pools_location ON public.storage_pools USING btree (location, disk_type);

create table stray_hosts (
  host_id uuid not null,
  address text not null,
  last_seen_at timestamp(3) with time zone not null,
  constraint stray_hosts_pkey PRIMARY KEY (host_id)
);

create table stream_events (
  xid xid8 default pg_current_xact_id() not null,
  number bigint generated always as identity (maxvalue 9223372036854775807) not null,
  project_id uuid,
  type text not null,
  data json not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint stream_events_xid_number_pk PRIMARY KEY (xid, number),
  constraint stream_events_type CHECK ((type = ANY (ARRAY['operation'::text, 'vm'::text, 'event'::text, 'host'::text, 'devices'::text, 'rollout'::text, 'rollout_host'::text])))
);
CREATE INDEX stream_events_project ON public.stream_events USING btree (project_id, xid, number) WHERE (project_id IS NOT NULL);

create table subnets (
  id uuid not null,
  project_id uuid not null,
  network_id uuid not null,
  location text not null,
  name text not null,
  cidr cidr not null,
  created_at timestamp(3) with time zone default now() not null,
  tags jsonb default '{}'::jsonb not null,
  constraint subnets_name_key UNIQUE (project_id, name),
  constraint subnets_pkey PRIMARY KEY (id),
  constraint subnets_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint subnets_network_id_networks_id_fk FOREIGN KEY (network_id) REFERENCES networks(id) ON DELETE CASCADE,
  constraint subnets_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);
CREATE INDEX subnets_network ON public.subnets USING btree (network_id);
CREATE TRIGGER subnets_added AFTER INSERT ON public.subnets REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_subnets();
CREATE TRIGGER subnets_quota AFTER INSERT OR DELETE ON public.subnets FOR EACH ROW EXECUTE FUNCTION count_rows('subnets');
CREATE TRIGGER subnets_removed AFTER DELETE ON public.subnets REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_subnets();

create table suspensions (
  organization_id uuid not null,
  cause text not null,
  reason text not null,
  since timestamp(3) with time zone default now() not null,
  stops_vms_at timestamp(3) with time zone not null,
  constraint suspensions_pkey PRIMARY KEY (organization_id),
  constraint suspensions_organization_id_organizations_id_fk FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
  constraint suspensions_cause CHECK ((cause = ANY (ARRAY['operator'::text, 'payment'::text])))
);
CREATE INDEX suspensions_due ON public.suspensions USING btree (stops_vms_at);

create table usage_adjustments (
  id uuid default gen_random_uuid() not null,
  date date not null,
  organization_id uuid not null,
  project_id uuid not null,
  resource_type text not null,
  billable_metric text not null,
  region text not null,
  quantity numeric(24,6) not null,
  cost_usd numeric(24,8) not null,
  priced boolean not null,
  reason text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint usage_adjustments_pkey PRIMARY KEY (id),
  constraint usage_adjustments_date_closed_days_date_fk FOREIGN KEY (date) REFERENCES closed_days(date)
);
CREATE INDEX usage_adjustments_day ON public.usage_adjustments USING btree (organization_id, date);
CREATE TRIGGER usage_adjustments_final BEFORE DELETE OR UPDATE ON public.usage_adjustments FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table usage_days (
  date date not null,
  organization_id uuid not null,
  project_id uuid not null,
  resource_type text not null,
  billable_metric text not null,
  region text not null,
  quantity numeric(24,6) not null,
  cost_usd numeric(24,8) not null,
  priced boolean not null,
  constraint usage_days_organization_id_date_project_id_resource_type_billab PRIMARY KEY (organization_id, date, project_id, resource_type, billable_metric, region),
  constraint usage_days_date_closed_days_date_fk FOREIGN KEY (date) REFERENCES closed_days(date)
);
CREATE TRIGGER usage_days_final BEFORE DELETE OR UPDATE ON public.usage_days FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER usage_days_open BEFORE INSERT ON public.usage_days FOR EACH ROW EXECUTE FUNCTION require_open_day();

create table user_ssh_keys (
  id uuid not null,
  user_id uuid not null,
  name text not null,
  public_key text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint user_ssh_keys_name_key UNIQUE (user_id, name),
  constraint user_ssh_keys_pkey PRIMARY KEY (id),
  constraint user_ssh_keys_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table user_totps (
  user_id uuid not null,
  sealed_secret text not null,
  confirmed boolean default false not null,
  last_step bigint default 0 not null,
  recovery_hashes text[] default '{}'::text[] not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint user_totps_pkey PRIMARY KEY (user_id),
  constraint user_totps_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table users (
  id uuid not null,
  email text not null,
  password_hash text not null,
  operator boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  operator_role text default 'admin'::text not null,
  pending boolean default false not null,
  token_generation bigint default 0 not null,
  constraint users_email_key UNIQUE (email),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_email_lower CHECK ((email = lower(email))),
  constraint users_operator_role CHECK ((operator_role = ANY (ARRAY['read-only'::text, 'support'::text, 'admin'::text])))
);

create table vm_type_locations (
  vm_type text not null,
  location text not null,
  constraint vm_type_locations_vm_type_location_pk PRIMARY KEY (vm_type, location),
  constraint vm_type_locations_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name) ON DELETE CASCADE,
  constraint vm_type_locations_vm_type_vm_types_name_fk FOREIGN KEY (vm_type) REFERENCES vm_types(name) ON DELETE CASCADE
);

create table vm_types (
  name text not null,
  "position" integer generated always as identity (maxvalue 2147483647) not null,
  description text not null,
  cpu_cores integer not null,
  cpu_type text not null,
  memory_gb integer not null,
  memory_type text not null,
  disk_gb integer not null,
  disk_type text not null,
  disk_count integer not null,
  gpu_count integer not null,
  gpu_type text not null,
  network_gbps integer not null,
  may_split boolean default false not null,
  retired boolean default false not null,
  nested_virtualization boolean default false not null,
  constraint vm_types_pkey PRIMARY KEY (name),
  constraint vm_types_sizes CHECK (((cpu_cores > 0) AND (memory_gb > 0) AND (gpu_count >= 0) AND (disk_gb >= 0)))
);

create table vms (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  type text not null,
  location text not null,
  image_id uuid not null,
  ssh_public_key text not null,
  startup_script text default ''::text not null,
  shutdown_script text default ''::text not null,
  desired_state text default 'running'::text not null,
  power_action text default 'CREATE'::text not null,
  generation bigint default 1 not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  observed_state text default 'none'::text not null,
  observed_generation bigint default 0 not null,
  reachable boolean default true not null,
  placed boolean default false not null,
  abandoned boolean default false not null,
  revision bigint default 1 not null,
  state text generated always as (
CASE
    WHEN ((desired_state = 'deleted'::text) OR abandoned) THEN 'STATE_DELETING'::text
    WHEN (NOT reachable) THEN 'STATE_UNREACHABLE'::text
    WHEN (observed_generation < generation) THEN
    CASE power_action
        WHEN 'CREATE'::text THEN 'STATE_CREATING'::text
        WHEN 'START'::text THEN 'STATE_STARTING'::text
        WHEN 'STOP'::text THEN 'STATE_STOPPING'::text
        ELSE 'STATE_RESETTING'::text
    END
    ELSE
    CASE observed_state
        WHEN 'running'::text THEN 'STATE_RUNNING'::text
        WHEN 'stopped'::text THEN 'STATE_SHUTOFF'::text
        WHEN 'crashed'::text THEN 'STATE_CRASHED'::text
        WHEN 'failed'::text THEN 'STATE_ERROR'::text
        ELSE 'STATE_CREATING'::text
    END
END) stored not null,
  relocating boolean default false not null,
  avoided_hosts uuid[] default '{}'::uuid[] not null,
  build_failure jsonb,
  tags jsonb default '{}'::jsonb not null,
  ssh_keys text[] default '{}'::text[] not null,
  user_data text default ''::text not null,
  on_host_failure text default 'leave'::text not null,
  constraint vms_name_key UNIQUE (project_id, name),
  constraint vms_pkey PRIMARY KEY (id),
  constraint vms_image_id_images_id_fk FOREIGN KEY (image_id) REFERENCES images(id),
  constraint vms_location_locations_name_fk FOREIGN KEY (location) REFERENCES locations(name),
  constraint vms_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint vms_type_vm_types_name_fk FOREIGN KEY (type) REFERENCES vm_types(name),
  constraint vms_desired_state CHECK ((desired_state = ANY (ARRAY['running'::text, 'stopped'::text, 'deleted'::text]))),
  constraint vms_generations CHECK ((observed_generation <= generation)),
  constraint vms_observed_state CHECK ((observed_state = ANY (ARRAY['none'::text, 'running'::text, 'stopped'::text, 'crashed'::text, 'failed'::text]))),
  constraint vms_on_host_failure CHECK ((on_host_failure = ANY (ARRAY['leave'::text, 'restart'::text]))),
  constraint vms_power_action CHECK ((power_action = ANY (ARRAY['CREATE'::text, 'START'::text, 'STOP'::text, 'RESET'::text])))
);
CREATE INDEX vms_image ON public.vms USING btree (image_id);
CREATE INDEX vms_name_of_all ON public.vms USING btree (name);
CREATE INDEX vms_project ON public.vms USING btree (project_id, id);
CREATE INDEX vms_state ON public.vms USING btree (project_id, state, id);
CREATE INDEX vms_state_of_all ON public.vms USING btree (state, id);
CREATE INDEX vms_tags ON public.vms USING gin (jsonb_set('{}'::jsonb, ARRAY[(project_id)::text], tags) jsonb_path_ops) WHERE (tags <> '{}'::jsonb);
CREATE INDEX vms_unplaced ON public.vms USING btree (location, project_id, id) WHERE ((desired_state = 'running'::text) AND (NOT placed) AND (NOT abandoned) AND (observed_generation < generation));
CREATE INDEX vms_unplaced_removable ON public.vms USING btree (id) WHERE ((NOT placed) AND ((desired_state = 'deleted'::text) OR abandoned));
CREATE TRIGGER vms_bump AFTER UPDATE ON public.vms FOR EACH ROW WHEN ((new.revision <> old.revision)) EXECUTE FUNCTION bump_host_of_vm();
CREATE TRIGGER vms_good_standing BEFORE INSERT OR UPDATE OF power_action ON public.vms FOR EACH ROW WHEN ((new.power_action = ANY (ARRAY['CREATE'::text, 'START'::text]))) EXECUTE FUNCTION require_good_standing();
CREATE TRIGGER vms_named AFTER UPDATE OF name ON public.vms FOR EACH ROW WHEN (((new.name <> old.name) AND new.placed)) EXECUTE FUNCTION bump_host_of_vm();
CREATE TRIGGER vms_quota AFTER INSERT OR DELETE OR UPDATE OF type ON public.vms FOR EACH ROW EXECUTE FUNCTION count_vm();
CREATE TRIGGER vms_revised BEFORE UPDATE OF desired_state, generation, abandoned, observed_state, observed_generation, relocating ON public.vms FOR EACH ROW EXECUTE FUNCTION revise_vm();
CREATE TRIGGER vms_state_streamed AFTER UPDATE ON public.vms FOR EACH ROW WHEN (((new.state IS DISTINCT FROM old.state) OR (new.name IS DISTINCT FROM old.name))) EXECUTE FUNCTION stream_vm();
CREATE TRIGGER vms_step_streamed AFTER UPDATE OF placed, relocating ON public.vms FOR EACH ROW WHEN (((new.placed AND (NOT old.placed)) OR (new.relocating AND (NOT old.relocating)))) EXECUTE FUNCTION stream_vm_step();
CREATE TRIGGER vms_streamed AFTER INSERT OR DELETE ON public.vms FOR EACH ROW EXECUTE FUNCTION stream_vm();

create table vni_pool (
  id integer default 1 not null,
  next bigint not null,
  last bigint not null,
  constraint vni_pool_pkey PRIMARY KEY (id),
  constraint vni_pool_one CHECK ((id = 1))
);

create table volume_keys (
  entity text not null,
  disk_id uuid not null,
  pool_id uuid not null,
  host_id uuid,
  sealed_key text not null,
  revoked boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint volume_keys_pkey PRIMARY KEY (entity),
  constraint volume_keys_pool_id_storage_pools_id_fk FOREIGN KEY (pool_id) REFERENCES storage_pools(id)
);
CREATE INDEX volume_keys_disk ON public.volume_keys USING btree (disk_id);
CREATE INDEX volume_keys_host ON public.volume_keys USING btree (host_id);
CREATE INDEX volume_keys_revoked ON public.volume_keys USING btree (entity) WHERE revoked;

create table volume_passphrases (
  disk_id uuid not null,
  pool_id uuid not null,
  sealed_passphrase text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint volume_passphrases_pkey PRIMARY KEY (disk_id),
  constraint volume_passphrases_pool_id_storage_pools_id_fk FOREIGN KEY (pool_id) REFERENCES storage_pools(id)
);
CREATE INDEX volume_passphrases_pool ON public.volume_passphrases USING btree (pool_id);

create table webhook_deliveries (
  id uuid not null,
  number bigint generated always as identity (maxvalue 9223372036854775807) not null,
  webhook_id uuid not null,
  event_id text not null,
  event_type text not null,
  resource_id text not null,
  body text not null,
  xid xid8,
  event_number bigint,
  state text default 'pending'::text not null,
  attempts integer default 0 not null,
  next_attempt_at timestamp(3) with time zone,
  give_up_at timestamp(3) with time zone not null,
  last_attempt_at timestamp(3) with time zone,
  status_code integer default 0 not null,
  latency_ms integer default 0 not null,
  error text default ''::text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_webhook_id_webhooks_id_fk FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE,
  constraint webhook_deliveries_next CHECK (((state = 'pending'::text) OR (next_attempt_at IS NULL))),
  constraint webhook_deliveries_state CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX webhook_deliveries_list ON public.webhook_deliveries USING btree (webhook_id, id);
CREATE UNIQUE INDEX webhook_deliveries_order ON public.webhook_deliveries USING btree (webhook_id, resource_id, number) WHERE (state = 'pending'::text);

create table webhook_queues (
  webhook_id uuid not null,
  era bigint not null,
  xid xid8 not null,
  number bigint not null,
  pending integer default 0 not null,
  due_at timestamp(3) with time zone,
  leased_by uuid,
  leased_until timestamp(3) with time zone,
  failing_since timestamp(3) with time zone,
  constraint webhook_queues_pkey PRIMARY KEY (webhook_id),
  constraint webhook_queues_webhook_id_webhooks_id_fk FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);
CREATE INDEX webhook_queues_due ON public.webhook_queues USING btree (due_at) WHERE (due_at IS NOT NULL);

create table webhooks (
  id uuid not null,
  project_id uuid,
  name text not null,
  url text not null,
  event_types text[] not null,
  description text not null,
  tags jsonb default '{}'::jsonb not null,
  sealed_secret text not null,
  sealed_old_secret text default ''::text not null,
  old_secret_until timestamp(3) with time zone,
  disabled_at timestamp(3) with time zone,
  disabled_reason text default ''::text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint webhooks_name_key UNIQUE NULLS NOT DISTINCT (project_id, name),
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint webhooks_disabled CHECK (((disabled_at IS NULL) = (disabled_reason = ''::text)))
);
CREATE INDEX webhooks_project ON public.webhooks USING btree (project_id, id);

CREATE OR REPLACE FUNCTION public.assign_public_addresses(of_location text, interfaces uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  rested_since constant timestamptz := now() - interval '15 minutes';
  chosen uuid[];
BEGIN
  IF cardinality(interfaces) = 0 THEN RETURN; END IF;
  chosen := ARRAY(SELECT id FROM public_addresses
    WHERE network_interface_id IS NULL AND NOT reserved AND location = of_location
      AND NOT EXISTS (SELECT FROM orphan_interfaces i WHERE i.public_address = public_addresses.address)
      AND (released_at IS NULL OR released_at <= rested_since)
    ORDER BY released_at NULLS FIRST LIMIT cardinality(interfaces) FOR UPDATE SKIP LOCKED);
  IF cardinality(chosen) > 0 THEN
    UPDATE public_addresses SET network_interface_id = interfaces[array_position(chosen, id)] WHERE id = ANY(chosen);
  END IF;
  IF cardinality(chosen) = cardinality(interfaces) OR NOT EXISTS (SELECT FROM public_addresses
      WHERE network_interface_id IS NULL AND NOT reserved AND location = of_location AND released_at > rested_since)
  THEN RETURN; END IF;
  -- The interfaces that are left get addresses that rest, each of its own project.
  WITH wanted AS (
      SELECT t.id, v.project_id, row_number() OVER (PARTITION BY v.project_id ORDER BY t.n) AS n
      FROM unnest(interfaces[cardinality(chosen) + 1:]) WITH ORDINALITY AS t (id, n)
      JOIN network_interfaces i ON i.id = t.id JOIN vms v ON v.id = i.vm_id),
    free AS (
      SELECT id, last_project_id, released_at FROM public_addresses
      WHERE network_interface_id IS NULL AND NOT reserved AND location = of_location
        AND NOT EXISTS (SELECT FROM orphan_interfaces i WHERE i.public_address = public_addresses.address)
        AND released_at > rested_since AND last_project_id IN (SELECT project_id FROM wanted)
      ORDER BY released_at LIMIT cardinality(interfaces) FOR UPDATE SKIP LOCKED),
    own AS (SELECT id, last_project_id, row_number() OVER (PARTITION BY last_project_id ORDER BY released_at) AS n
      FROM free)
  UPDATE public_addresses p SET network_interface_id = wanted.id
    FROM own JOIN wanted ON wanted.project_id = own.last_project_id AND wanted.n = own.n WHERE p.id = own.id;
END $function$;

CREATE OR REPLACE FUNCTION public.assign_volume_keys(vm_ids uuid[])
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  wanted record;
  complete boolean := true;
BEGIN
  FOR wanted IN SELECT DISTINCT d.id AS disk_id, p.host_id FROM placements p
      JOIN disk_attachments a ON a.vm_id = p.vm_id JOIN disks d ON d.id = a.disk_id
      WHERE p.vm_id = ANY(vm_ids) AND a.desired_state = 'attached' AND d.pool_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM volume_keys k
          WHERE k.disk_id = d.id AND k.host_id = p.host_id AND NOT k.revoked)
      ORDER BY d.id LOOP
    UPDATE volume_keys SET host_id = wanted.host_id WHERE entity = (SELECT entity FROM volume_keys
      WHERE disk_id = wanted.disk_id AND host_id IS NULL AND NOT revoked ORDER BY entity LIMIT 1 FOR UPDATE);
    IF FOUND THEN
      UPDATE disks SET wants_key = true WHERE id = wanted.disk_id AND NOT wants_key
        AND (SELECT count(*) > 1 FROM disk_attachments WHERE disk_id = wanted.disk_id)
        AND NOT EXISTS (SELECT FROM volume_keys WHERE disk_id = wanted.disk_id AND host_id IS NULL AND NOT revoked);
      CONTINUE;
    END IF;
    complete := false;
    UPDATE disks SET wants_key = true WHERE id = wanted.disk_id AND NOT wants_key;
  END LOOP;
  RETURN complete;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_all_hosts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  FOR attempt IN 1..500 LOOP
    -- The locks are given back with the subtransaction of this block.
    BEGIN
      PERFORM FROM host_revisions ORDER BY host_id FOR UPDATE NOWAIT;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.002 + 0.008 * random());
    END;
  END LOOP;
  PERFORM bump_hosts(ARRAY(SELECT host_id FROM host_revisions));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_host_of_detached_disk()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(ARRAY[keeper]) FROM hosts_growing(ARRAY[OLD.disk_id]) keeper;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_host_of_device()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(ARRAY[NEW.host_id]) FROM device_claims WHERE device_id = NEW.id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_host_of_freeze()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(array_agg(host_id)) FROM placements WHERE vm_id = NEW.freeze_vm_id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_host_of_orphan()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(ARRAY[OLD.host_id]);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_host_of_orphan_device()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM orphans WHERE id = NEW.orphan_id FOR SHARE;
  PERFORM bump_hosts(ARRAY[host_id]) FROM orphans WHERE id = NEW.orphan_id AND decision = 'delete';
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_host_of_snapshot()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(ARRAY[coalesce(NEW.host_id, OLD.host_id)]);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_host_of_vm()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  os_disks uuid[];
BEGIN
  IF NEW.placed THEN
    PERFORM bump_hosts(array_agg(host_id)) FROM placements WHERE vm_id = NEW.id;
  ELSIF (NEW.desired_state = 'deleted' OR NEW.abandoned) <> (OLD.desired_state = 'deleted' OR OLD.abandoned) THEN
    os_disks := ARRAY(SELECT d.id FROM disks d JOIN disk_attachments a ON a.disk_id = d.id
      WHERE a.vm_id = NEW.id AND d.kind = 'os' AND d.host_id IS NOT NULL FOR NO KEY UPDATE OF d);
    PERFORM bump_hosts(array_agg(host_id)) FROM disks WHERE id = ANY(os_disks) AND host_id IS NOT NULL;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  least_number bigint;
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  least_number := count_floor();
  IF cardinality(ids) > 1 THEN
    PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  END IF;
  UPDATE host_revisions SET number = greatest(number + 1, least_number),
      own_number = greatest(number + 1, least_number), changed_xid = pg_current_xact_id()
    WHERE host_id = ANY(ids);
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_addresses()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  interfaces constant uuid[] := ARRAY(SELECT network_interface_id FROM changed);
  vm_ids constant uuid[] := ARRAY(SELECT vm_id FROM network_interfaces WHERE id = ANY(interfaces));
  own constant uuid[] := ARRAY(SELECT host_id FROM placements WHERE vm_id = ANY(vm_ids));
  naming constant uuid[] := networks_naming_vms(vm_ids);
BEGIN
  IF own <> '{}' OR naming <> '{}' THEN
    PERFORM bump_hosts(array_agg(host))
      FROM (SELECT unnest(own) AS host UNION SELECT hosts_in_networks(naming)) concerned;
  END IF;
  IF own <> '{}' THEN
    PERFORM note_network_changes(array_agg(n.network_id)) FROM network_interfaces n
      JOIN placements p ON p.vm_id = n.vm_id JOIN hosts h ON h.id = p.host_id
      WHERE n.id = ANY(interfaces) AND h.underlay_address IS NOT NULL;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_disk()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  idle boolean := NOT EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
    WHERE a.disk_id = NEW.id AND v.placed);
  removed boolean := NEW.kind = 'os' AND EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
    WHERE a.disk_id = NEW.id AND (v.desired_state = 'deleted' OR v.abandoned));
  -- Whether the disk is in the spec of the host that keeps it.
  was_in_spec boolean := idle AND OLD.host_id IS NOT NULL AND (removed OR OLD.kind = 'data'
    AND (OLD.desired_state = 'deleted' OR OLD.observed_size_gib < OLD.size_gib)
    OR OLD.pool_id IS NULL AND (OLD.restore_snapshot_id IS NOT NULL
      OR OLD.source_snapshot_id IS NOT NULL AND OLD.observed_size_gib IS NULL));
  is_in_spec boolean := idle AND NEW.host_id IS NOT NULL AND (removed OR NEW.kind = 'data'
    AND (NEW.desired_state = 'deleted' OR NEW.observed_size_gib < NEW.size_gib)
    OR NEW.pool_id IS NULL AND (NEW.restore_snapshot_id IS NOT NULL
      OR NEW.source_snapshot_id IS NOT NULL AND NEW.observed_size_gib IS NULL));
BEGIN
  IF was_in_spec IS DISTINCT FROM is_in_spec
    OR is_in_spec AND (NEW.size_gib, NEW.host_id, NEW.desired_state)
      <> (OLD.size_gib, OLD.host_id, OLD.desired_state) THEN
    PERFORM bump_hosts(array_agg(DISTINCT id))
      FROM (VALUES (OLD.host_id, was_in_spec), (NEW.host_id, is_in_spec)) h (id, in_spec) WHERE in_spec;
  END IF;
  IF idle THEN RETURN NULL; END IF;
  IF NEW.kind = 'data' AND (NEW.size_gib <> OLD.size_gib OR NEW.desired_state <> OLD.desired_state) THEN
    PERFORM FROM vms v JOIN disk_attachments a ON a.vm_id = v.id WHERE a.disk_id = NEW.id ORDER BY v.id FOR UPDATE OF v;
    PERFORM FROM host_revisions WHERE host_id IN (SELECT p.host_id FROM placements p
      JOIN disk_attachments a ON a.vm_id = p.vm_id WHERE a.disk_id = NEW.id) ORDER BY host_id FOR UPDATE;
    UPDATE vms SET revision = greatest(revision + 1, count_floor())
      WHERE placed AND id IN (SELECT vm_id FROM disk_attachments WHERE disk_id = NEW.id);
  ELSIF (NEW.host_id IS NULL) <> (OLD.host_id IS NULL) THEN
    PERFORM bump_hosts(array_agg(DISTINCT p.host_id)) FROM placements p JOIN disk_attachments a ON a.vm_id = p.vm_id
      WHERE a.disk_id = NEW.id;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_image()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(array_agg(DISTINCT p.host_id)) FROM vms v JOIN placements p ON p.vm_id = v.id
    JOIN disk_attachments a ON a.vm_id = v.id AND a.attachment_type = 'os' JOIN disks d ON d.id = a.disk_id
    WHERE v.image_id = NEW.id AND (d.host_id IS NULL OR d.observed_size_gib IS NULL);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_placements()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(array_agg(host_id)) FROM (
    SELECT host_id FROM changed
    UNION SELECT d.host_id FROM changed c JOIN vms v ON v.id = c.vm_id JOIN disk_attachments a ON a.vm_id = c.vm_id
      JOIN disks d ON d.id = a.disk_id
      WHERE d.host_id IS NOT NULL AND (d.kind = 'data' AND d.observed_size_gib < d.size_gib
        OR d.kind = 'os' AND (v.desired_state = 'deleted' OR v.abandoned))) concerned;
  PERFORM note_network_changes(array_agg(n.network_id)) FROM changed c
    JOIN hosts h ON h.id = c.host_id JOIN network_interfaces n ON n.vm_id = c.vm_id
    WHERE h.underlay_address IS NOT NULL;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_rollout()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM bump_hosts(array_agg(n.host_id)) FROM changed n JOIN unchanged o USING (rollout_id, host_id)
    WHERE (n.wanted_version, n.order_id) IS DISTINCT FROM (o.wanted_version, o.order_id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_rule()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  attempts constant int := 500;
  concerned uuid[];
BEGIN
  FOR attempt IN 1..attempts LOOP
    -- The locks are given back with the subtransaction of this block.
    BEGIN
      PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE NOWAIT;
      concerned := ARRAY(SELECT hosts_in_networks(ARRAY[NEW.network_id]));
      PERFORM FROM host_revisions WHERE host_id = ANY(concerned) ORDER BY host_id FOR UPDATE NOWAIT;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.002 + 0.008 * random());
    END;
    IF attempt = attempts THEN
      PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE;
      concerned := ARRAY(SELECT hosts_in_networks(ARRAY[NEW.network_id]));
    END IF;
  END LOOP;
  PERFORM bump_peers(concerned);
  INSERT INTO firewall_rule_hosts (rule_id, host_id, number)
    SELECT NEW.id, host_id, number FROM host_revisions WHERE host_id = ANY(concerned)
    ON CONFLICT (rule_id, host_id) DO UPDATE SET number = EXCLUDED.number;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_subnets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM networks WHERE id IN (SELECT network_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  PERFORM bump_peers(array_agg(DISTINCT p.host_id)) FROM network_interfaces n JOIN placements p ON p.vm_id = n.vm_id
    WHERE n.network_id IN (SELECT network_id FROM changed);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_hosts_of_underlay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM note_network_changes(array_agg(n.network_id)) FROM placements p
    JOIN network_interfaces n ON n.vm_id = p.vm_id WHERE p.host_id = NEW.id;
  IF (OLD.underlay_address IS NULL) <> (NEW.underlay_address IS NULL) THEN PERFORM bump_peers(ARRAY[NEW.id]); END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.bump_peers(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  least_number bigint;
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  least_number := count_floor();
  PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  UPDATE host_revisions SET number = greatest(number + 1, least_number), peers_xid = pg_current_xact_id() WHERE host_id = ANY(ids);
END $function$;

CREATE OR REPLACE FUNCTION public.change_quota(project uuid, quota text, change bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  row_after record;
  organization uuid;
  most bigint;
  total bigint;
BEGIN
  IF change = 0 THEN RETURN; END IF;
  IF change > 0 THEN
    SELECT q.organization_id, q.max INTO organization, most
      FROM projects p JOIN organization_quotas q ON q.organization_id = p.organization_id
      WHERE p.id = project AND q.type = quota FOR NO KEY UPDATE OF q;
  END IF;
  UPDATE quotas SET used = used + change
    WHERE project_id = project AND type = quota
    RETURNING used, max INTO row_after;
  IF change > 0 AND row_after.used > row_after.max THEN
    RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('scope', 'project', 'type', quota, 'max', row_after.max,
        'used', row_after.used - change, 'requested', change)::text;
  END IF;
  IF most IS NULL THEN RETURN; END IF;
  -- The row of this project has a version for each row that the transaction has inserted: it is not
  -- read again, so that the cost of inserting many rows stays the same.
  SELECT coalesce(sum(q.used), 0) + row_after.used INTO total
    FROM projects p JOIN quotas q ON q.project_id = p.id AND q.type = quota
    WHERE p.organization_id = organization AND p.id <> project;
  IF total > most THEN
    RAISE EXCEPTION 'quota of the organization exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('scope', 'organization', 'type', quota, 'max', most,
        'used', total - change, 'requested', change)::text;
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.choose_os_pool(of_image uuid, of_location text, wanted_gib integer)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  of_pool uuid;
BEGIN
  SELECT pool_id INTO of_pool FROM custom_images WHERE id = of_image;
  IF NOT FOUND THEN RETURN choose_pool(of_location, 'persistent-ssd', wanted_gib); END IF;
  IF of_pool IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM storage_pools WHERE id = of_pool AND active
    AND (size_gib IS NULL OR size_gib::bigint * overcommit_percent / 100 - allocated_gib >= wanted_gib);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the storage pool of the image has no room for % GiB', wanted_gib
      USING ERRCODE = 'GC001', DETAIL = json_build_object('location', of_location, 'disk_type', 'persistent-ssd', 'gib', wanted_gib);
  END IF;
  RETURN of_pool;
END $function$;

CREATE OR REPLACE FUNCTION public.choose_pool(of_location text, of_type text, wanted_gib integer)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  pool uuid;
BEGIN
  PERFORM FROM storage_pools WHERE location = of_location AND disk_type = of_type;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT id INTO pool FROM storage_pools
    WHERE location = of_location AND disk_type = of_type AND active
      AND (size_gib IS NULL OR size_gib::bigint * overcommit_percent / 100 - allocated_gib >= wanted_gib)
    ORDER BY size_gib::bigint * overcommit_percent / 100 - allocated_gib DESC NULLS LAST, id LIMIT 1;
  IF pool IS NULL THEN
    RAISE EXCEPTION 'no storage pool of % has room for % GiB', of_location, wanted_gib
      USING ERRCODE = 'GC001', DETAIL = json_build_object('location', of_location, 'disk_type', of_type, 'gib', wanted_gib);
  END IF;
  RETURN pool;
END $function$;

CREATE OR REPLACE FUNCTION public.count_backup()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'backup_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'backups', 1);
  ELSE
    PERFORM change_quota(OLD.project_id, 'backup_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'backups', -1);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_disk()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.kind = 'data' THEN
    PERFORM change_quota(NEW.project_id, 'disk_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'disks', 1);
  ELSIF TG_OP = 'DELETE' AND OLD.kind = 'data' THEN
    PERFORM change_quota(OLD.project_id, 'disk_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'disks', -1);
  ELSIF TG_OP = 'UPDATE' AND NEW.kind = 'data' THEN
    PERFORM change_quota(NEW.project_id, 'disk_gib', NEW.size_gib - OLD.size_gib);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_floor()
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN (SELECT CASE WHEN history = current_history() THEN era * 1000
    ELSE floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END FROM installation);
END $function$;

CREATE OR REPLACE FUNCTION public.count_image()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'image_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'images', 1);
  ELSE
    PERFORM change_quota(OLD.project_id, 'image_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'images', -1);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_rows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, TG_ARGV[0], 1);
  ELSE
    PERFORM change_quota(OLD.project_id, TG_ARGV[0], -1);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_snapshot()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'snapshot_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'snapshots', 1);
  ELSE
    PERFORM change_quota(OLD.project_id, 'snapshot_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'snapshots', -1);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_vm()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'gpus', (SELECT gpu_count FROM vm_types WHERE name = NEW.type));
    PERFORM change_quota(NEW.project_id, 'vms', 1);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM change_quota(OLD.project_id, 'gpus', -(SELECT gpu_count FROM vm_types WHERE name = OLD.type));
    PERFORM change_quota(OLD.project_id, 'vms', -1);
  ELSE
    PERFORM change_quota(NEW.project_id, 'gpus',
      (SELECT gpu_count FROM vm_types WHERE name = NEW.type) - (SELECT gpu_count FROM vm_types WHERE name = OLD.type));
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.current_history()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()
$function$;

CREATE OR REPLACE FUNCTION public.decide_homes(vm_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM disk_attachments WHERE vm_id = ANY(vm_ids) AND attachment_type = 'data';
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE disks d SET home_id = p.host_id FROM placements p JOIN disk_attachments a ON a.vm_id = p.vm_id
    WHERE p.vm_id = ANY(vm_ids) AND a.attachment_type = 'data' AND d.id = a.disk_id
      AND d.host_id IS NULL AND d.home_id IS NULL AND d.pool_id IS NULL;
  PERFORM FROM placements p JOIN disk_attachments a ON a.vm_id = p.vm_id
    JOIN disks d ON d.id = a.disk_id JOIN hosts h ON h.id = p.host_id
    LEFT JOIN hosts k ON k.id = coalesce(d.host_id, d.home_id)
    WHERE p.vm_id = ANY(vm_ids) AND a.attachment_type = 'data' AND coalesce(d.host_id, d.home_id) <> p.host_id
      AND NOT (h.shared_storage AND coalesce(k.shared_storage, false));
  IF FOUND THEN
    RAISE EXCEPTION 'another host has one of the disks' USING ERRCODE = 'GP001';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.device_event(d devices, vm_id uuid, deleted boolean)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  SELECT json_build_object('id', d.id, 'kind', d.kind, 'pci_address', d.pci_address, 'state', d.state,
    'state_reason', d.state_reason, 'quarantine_reason', d.quarantine_reason, 'blocked', d.blocked,
    'vm_id', coalesce(vm_id::text, ''), 'deleted', deleted)
$function$;

CREATE OR REPLACE FUNCTION public.discard_volume()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO discarded_volumes (disk_id, pool_id) VALUES (OLD.id, OLD.pool_id);
  UPDATE volume_keys SET revoked = true WHERE disk_id = OLD.id AND NOT revoked;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.disks_gib(host uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN (SELECT coalesce(sum(size_gib), 0) FROM disks WHERE host_id = host AND type <> 'shared-volume')
    + (SELECT coalesce(sum(size_gib), 0) FROM disks
      WHERE home_id = host AND host_id IS NULL AND desired_state = 'present' AND type <> 'shared-volume')
    + (SELECT coalesce(sum((SELECT sum(d.size_gib) FROM disk_attachments a JOIN disks d ON d.id = a.disk_id
        WHERE a.vm_id = p.vm_id AND a.attachment_type = 'os' AND d.host_id IS NULL AND d.pool_id IS NULL)), 0)
      FROM placements p WHERE p.host_id = host)
    + (SELECT coalesce(sum(size_gib), 0) FROM snapshots WHERE host_id = host AND host_id IS NOT NULL);
END $function$;

CREATE OR REPLACE FUNCTION public.firewall_rule_bytes(rule firewall_rules)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT 128
    + 20 * (jsonb_array_length(rule.sources) + jsonb_array_length(rule.destinations))
    + 13 * (cardinality(rule.source_ports) + cardinality(rule.destination_ports))
$function$;

CREATE OR REPLACE FUNCTION public.free_vni()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO free_vnis (vni, freed_at, host_ids, numbers)
    SELECT OLD.vni, now(), coalesce(array_agg(r.host_id), '{}'), coalesce(array_agg(r.number), '{}')
    FROM host_revisions r JOIN hosts h ON h.id = r.host_id
    WHERE h.fenced_at IS NULL AND h.accepted_number < r.number;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.hosts_growing(disk_ids uuid[])
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN QUERY SELECT host_id FROM disks WHERE id = ANY(disk_ids) AND kind = 'data'
    AND host_id IS NOT NULL AND observed_size_gib < size_gib;
END $function$;

CREATE OR REPLACE FUNCTION public.hosts_in_networks(networks uuid[])
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  IF cardinality(networks) = 0 THEN RETURN; END IF;
  RETURN QUERY SELECT DISTINCT p.host_id FROM network_interfaces n JOIN placements p ON p.vm_id = n.vm_id
    WHERE n.network_id = ANY(networks);
END $function$;

CREATE OR REPLACE FUNCTION public.hosts_with_rules_on(ids uuid[])
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  naming constant uuid[] := networks_naming_vms(ids);
BEGIN
  IF naming = '{}' THEN RETURN; END IF;
  RETURN QUERY SELECT hosts_in_networks(naming);
END $function$;

CREATE OR REPLACE FUNCTION public.insert_host_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO host_revisions (host_id) VALUES (NEW.id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.limit_projects()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  most bigint;
  total bigint;
BEGIN
  SELECT max INTO most FROM organization_quotas
    WHERE organization_id = NEW.organization_id AND type = 'projects' FOR NO KEY UPDATE;
  SELECT count(*) INTO total FROM projects WHERE organization_id = NEW.organization_id;
  IF total > most THEN
    RAISE EXCEPTION 'quota of projects exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('scope', 'organization', 'type', 'projects', 'max', most,
        'used', total - 1, 'requested', 1)::text;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.limit_rules_of_network()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  most constant bigint := 512 * 1024;
  total bigint;
  largest text;
BEGIN
  IF TG_OP = 'UPDATE' AND firewall_rule_bytes(NEW) <= firewall_rule_bytes(OLD) THEN RETURN NULL; END IF;
  PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE;
  SELECT sum(firewall_rule_bytes(r)) INTO total FROM firewall_rules r
    WHERE r.network_id = NEW.network_id AND r.desired_state = 'present';
  IF total <= most THEN RETURN NULL; END IF;
  SELECT member INTO largest FROM (VALUES
      ('sources', 20 * jsonb_array_length(NEW.sources)),
      ('destinations', 20 * jsonb_array_length(NEW.destinations)),
      ('source_ports', 13 * cardinality(NEW.source_ports)),
      ('destination_ports', 13 * cardinality(NEW.destination_ports))) AS m (member, bytes)
    ORDER BY bytes DESC LIMIT 1;
  RAISE EXCEPTION 'rules of the network too large' USING ERRCODE = 'GR001',
    DETAIL = json_build_object('scope', 'network', 'type', 'firewall_rule_bytes', 'max', most,
      'used', total - firewall_rule_bytes(NEW), 'requested', firewall_rule_bytes(NEW), 'field', largest)::text;
END $function$;

CREATE OR REPLACE FUNCTION public.lock_lease(lease_location text, lease_holder uuid, lease_epoch bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout', '1000', true), set_config('lock_timeout', '1000', true);
  PERFORM FROM leases WHERE location = lease_location AND holder = lease_holder AND epoch = lease_epoch
    AND expires_at > clock_timestamp() AND EXISTS (SELECT FROM installation WHERE history = current_history())
    FOR KEY SHARE;
  RETURN FOUND;
END $function$;

CREATE OR REPLACE FUNCTION public.lock_networks_of_vms(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  own constant uuid[] := ARRAY(SELECT network_id FROM network_interfaces WHERE vm_id = ANY(ids));
  naming uuid[] := '{}';
  found_naming uuid[];
BEGIN
  LOOP
    BEGIN
      IF naming = '{}' THEN
        PERFORM FROM networks WHERE id = ANY(own) ORDER BY id FOR SHARE;
      ELSE
        PERFORM FROM networks WHERE id = ANY(own || naming) ORDER BY id FOR NO KEY UPDATE;
      END IF;
      found_naming := networks_naming_vms(ids);
      IF found_naming <@ naming THEN RETURN; END IF;
      -- The rollback of this block gives the locks back, because two transactions that share a row cannot both change it.
      RAISE serialization_failure;
    EXCEPTION WHEN serialization_failure THEN
      naming := found_naming;
    END;
  END LOOP;
END $function$;

CREATE OR REPLACE FUNCTION public.lock_unplaced_vms(ids uuid[], generations bigint[])
 RETURNS uuid[]
 LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN ARRAY(SELECT locked.id FROM (SELECT id, generation FROM vms WHERE id = ANY(ids)
        AND desired_state = 'running' AND NOT placed AND NOT abandoned AND observed_generation < generation
      ORDER BY id FOR UPDATE SKIP LOCKED) locked
    JOIN unnest(ids, generations) AS decided (id, generation) USING (id, generation));
END $function$;

CREATE OR REPLACE FUNCTION public.networks_naming_vms(ids uuid[])
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN ARRAY(SELECT DISTINCT r.network_id FROM firewall_rules r
    WHERE r.project_id IN (SELECT project_id FROM vms WHERE id = ANY(ids)) AND r.names_resources
      AND jsonb_path_query_array(r.sources || r.destinations, '$[*].resource_id') ?| ids::text[]);
END $function$;

CREATE OR REPLACE FUNCTION public.note_late_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  today timestamptz := date_trunc('day', clock_timestamp() AT TIME ZONE 'utc') AT TIME ZONE 'utc';
  changed_since timestamptz := NEW.started_at;
  changed_until timestamptz := coalesce(NEW.ended_at, 'infinity');
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.started_at, NEW.units) = (OLD.started_at, OLD.units) THEN
      -- Only the time between the old and the new end has changed.
      changed_since := least(changed_until, coalesce(OLD.ended_at, 'infinity'));
    ELSE
      changed_since := least(NEW.started_at, OLD.started_at);
    END IF;
    changed_until := greatest(changed_until, coalesce(OLD.ended_at, 'infinity'));
  END IF;
  IF changed_since < least(today, changed_until) THEN
    INSERT INTO late_usage (organization_id, since, until)
      VALUES (NEW.organization_id, changed_since, nullif(changed_until, 'infinity'));
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.note_named_resources()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.names_resources := jsonb_path_exists(NEW.sources || NEW.destinations, '$[*] ? (@.resource_id != "")');
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.note_network_changes(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  INSERT INTO network_changes (network_id) SELECT DISTINCT unnest(ids) ON CONFLICT DO NOTHING;
END $function$;

CREATE OR REPLACE FUNCTION public.note_reservation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE public_addresses SET reserved = false, released_at = now(), last_project_id = OLD.project_id
      WHERE id = OLD.public_address_id;
    RETURN NULL;
  END IF;
  UPDATE public_addresses SET reserved = true
    WHERE id = NEW.public_address_id AND network_interface_id IS NULL AND NOT reserved;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the public address % is not free', NEW.public_address_id USING ERRCODE = 'GA001';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.operation_event(id uuid, name text, resource_type text, resource_id uuid, state text, step text, result json)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  SELECT json_build_object('operation_id', id, 'operation_name', name, 'resource_type', resource_type,
    'resource_id', resource_id, 'state', state, 'step', step,
    'code', CASE state WHEN 'FAILED' THEN coalesce(result ->> 'code', '') ELSE '' END,
    'message', CASE state WHEN 'FAILED' THEN coalesce(result ->> 'message', '') ELSE '' END)
$function$;

CREATE OR REPLACE FUNCTION public.orphan_numa_shares(description jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT jsonb_agg(jsonb_build_object('node', share -> 'node', 'cores', share -> 'cpuCores',
      'memoryMib', share -> 'memoryMib'))
    FROM jsonb_path_query(description, 'strict $.numaShares[*]', silent => true) share
    HAVING bool_and(share @@ '$.node >= 0 && $.cpuCores >= 0 && $.memoryMib >= 0
      && $.node < 1024 && $.cpuCores < 65536 && $.memoryMib < 1000000000')
$function$;

CREATE OR REPLACE FUNCTION public.place_vms(lease_location text, lease_holder uuid, lease_epoch bigint, decided jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
DECLARE
  decided_ids constant uuid[] := ARRAY(SELECT (d ->> 'vm_id')::uuid FROM jsonb_array_elements(decided) d);
  vm_ids uuid[];
  placed jsonb;
  chosen_hosts uuid[];
  chosen_devices uuid[];
  growing_hosts uuid[];
  new_disks uuid[];
  has_volumes boolean;
  moves jsonb;
  locked bigint;
BEGIN
  IF NOT lock_lease(lease_location, lease_holder, lease_epoch) THEN RETURN NULL; END IF;
  vm_ids := lock_unplaced_vms(decided_ids,
    ARRAY(SELECT (d ->> 'generation')::bigint FROM jsonb_array_elements(decided) d));
  placed := decided;
  IF cardinality(vm_ids) < cardinality(decided_ids) THEN
    SELECT coalesce(jsonb_agg(d), '[]') INTO placed
      FROM jsonb_array_elements(decided) d WHERE (d ->> 'vm_id')::uuid = ANY(vm_ids);
  END IF;
  chosen_hosts := ARRAY(SELECT DISTINCT (p ->> 'host_id')::uuid FROM jsonb_array_elements(placed) p);
  chosen_devices := ARRAY(SELECT device::uuid
    FROM jsonb_array_elements(placed) p, jsonb_array_elements_text(p -> 'device_ids') device);

  -- A spec contains whether a disk exists, so the disks must not change. A host that keeps a disk of a VM that has
  -- yet to grow gets a new number.
  SELECT coalesce(array_agg(host_id) FILTER (WHERE kind = 'data' AND observed_size_gib < size_gib), '{}'),
      coalesce(array_agg(id) FILTER (WHERE host_id IS NULL AND home_id IS NULL AND pool_id IS NULL
        AND type <> 'shared-volume'), '{}'),
      coalesce(bool_or(pool_id IS NOT NULL), false) INTO growing_hosts, new_disks, has_volumes
    FROM (SELECT id, kind, type, host_id, home_id, pool_id, size_gib, observed_size_gib FROM disks
      WHERE id = ANY(ARRAY(SELECT disk_id FROM disk_attachments WHERE vm_id = ANY(vm_ids)))
      ORDER BY id FOR NO KEY UPDATE) locked_disks;
  PERFORM FROM hosts WHERE id = ANY(chosen_hosts)
      AND state = 'ready' AND admin_state = 'active' AND fenced_at IS NULL AND drift = '{}' AND trouble = ''
      AND NOT (awaits_era AND stream_epoch > 0)
    ORDER BY id FOR SHARE;
  GET DIAGNOSTICS locked = ROW_COUNT;
  IF locked <> cardinality(chosen_hosts) THEN
    RAISE EXCEPTION 'a host is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  PERFORM lock_networks_of_vms(vm_ids);
  PERFORM FROM devices WHERE id = ANY(chosen_devices)
    AND state = 'ready' AND quarantine_reason = '' AND NOT blocked ORDER BY id FOR SHARE;
  GET DIAGNOSTICS locked = ROW_COUNT;
  IF locked <> cardinality(chosen_devices) THEN
    RAISE EXCEPTION 'a device is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  -- Hosts with firewall rules that name one of the VMs get a new number too.
  SELECT jsonb_agg(jsonb_build_object('host_id', host_id, 'before', changed_xid::text))
      FILTER (WHERE host_id = ANY(chosen_hosts)) INTO moves
    FROM (SELECT host_id, changed_xid FROM host_revisions
      WHERE host_id = ANY(chosen_hosts || ARRAY(SELECT hosts_with_rules_on(vm_ids))
        || growing_hosts)
      ORDER BY host_id FOR UPDATE) numbers;

  -- Addresses come first: while a VM is not placed, no other host has a route to it.
  INSERT INTO address_claims (network_interface_id, subnet_id, address)
    SELECT a.interface_id, a.subnet_id, a.address FROM jsonb_array_elements(placed) p,
      jsonb_to_recordset(p -> 'addresses') AS a (interface_id uuid, subnet_id uuid, address inet);
  -- Almost always there are no orphans.
  IF EXISTS (SELECT FROM orphan_interfaces) THEN
    PERFORM FROM orphan_interfaces i JOIN subnets s ON s.network_id = i.network_id AND i.private_address <<= s.cidr
      JOIN address_claims c ON c.subnet_id = s.id AND c.address = i.private_address
      JOIN network_interfaces n ON n.id = c.network_interface_id WHERE n.vm_id = ANY(vm_ids);
    IF FOUND THEN
      RAISE EXCEPTION 'an orphan has one of the addresses' USING ERRCODE = 'GP001';
    END IF;
  END IF;
  INSERT INTO placements (vm_id, host_id, epoch, numa_shares)
    SELECT (p ->> 'vm_id')::uuid, (p ->> 'host_id')::uuid, lease_epoch, p -> 'numa_shares'
    FROM jsonb_array_elements(placed) p;
  -- The numbers of the hosts are locked, so no other transaction adds shares to them meanwhile. Only nodes that the
  -- VMs use are checked: another node may have become smaller than what VMs have of it.
  PERFORM FROM hosts h, jsonb_to_recordset(h.numa_nodes) AS n (node integer, cores numeric, "memoryMib" numeric)
    WHERE h.id = ANY(chosen_hosts)
      AND (SELECT bool_or(p.vm_id = ANY(vm_ids)) AND (sum(s.cores) > n.cores OR sum(s."memoryMib") > n."memoryMib")
        FROM placements p, jsonb_to_recordset(p.numa_shares) AS s (node integer, cores numeric, "memoryMib" numeric)
        WHERE p.host_id = h.id AND s.node = n.node);
  IF FOUND THEN
    RAISE EXCEPTION 'a NUMA node is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  INSERT INTO device_claims (device_id, vm_id) SELECT device::uuid, (p ->> 'vm_id')::uuid
    FROM jsonb_array_elements(placed) p, jsonb_array_elements_text(p -> 'device_ids') device;
  UPDATE vms SET placed = true WHERE id = ANY(vm_ids);
  -- A reserved address is attached only while its VM has no host, so it is not in use.
  UPDATE public_addresses a SET network_interface_id = r.network_interface_id
    FROM reserved_addresses r JOIN network_interfaces n ON n.id = r.network_interface_id
    WHERE n.vm_id = ANY(vm_ids) AND a.id = r.public_address_id;
  PERFORM assign_public_addresses(lease_location, ARRAY(SELECT interface_id::uuid
    FROM jsonb_array_elements(placed) p, jsonb_array_elements_text(p -> 'public_for') interface_id
    WHERE NOT EXISTS (SELECT FROM reserved_addresses r WHERE r.network_interface_id = interface_id::uuid)));
  PERFORM decide_homes(vm_ids);
  IF has_volumes AND NOT assign_volume_keys(vm_ids) THEN
    RAISE EXCEPTION 'a volume has no key for the host yet' USING ERRCODE = 'GP001';
  END IF;
  -- Hosts that create no new disk are not checked: their storage may have become smaller than their disks.
  PERFORM FROM hosts WHERE id = ANY(ARRAY(SELECT host_id FROM placements WHERE vm_id = ANY(ARRAY(
      SELECT vm_id FROM disk_attachments
      WHERE vm_id = ANY(vm_ids) AND desired_state = 'attached' AND disk_id = ANY(new_disks)))))
    AND storage_gib IS NOT NULL AND disks_gib(id) > storage_gib;
  IF FOUND THEN
    RAISE EXCEPTION 'the storage of a host is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  RETURN jsonb_build_object('xid', pg_current_xact_id()::text, 'moves', coalesce(moves, '[]'),
    'dropped', to_jsonb(ARRAY(SELECT unnest(decided_ids) EXCEPT SELECT unnest(vm_ids))));
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the rows of % are final', TG_TABLE_NAME USING ERRCODE = 'restrict_violation',
    HINT = 'A correction of a closed day is a row in usage_adjustments.';
END $function$;

CREATE OR REPLACE FUNCTION public.require_good_standing()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  suspension json;
BEGIN
  SELECT json_build_object('cause', s.cause, 'reason', s.reason) INTO suspension
    FROM projects p JOIN suspensions s ON s.organization_id = p.organization_id WHERE p.id = NEW.project_id;
  IF FOUND THEN
    RAISE EXCEPTION 'organization suspended' USING ERRCODE = 'GS001', DETAIL = suspension::text;
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.require_open_day()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM closed_days WHERE date = NEW.date AND xmin = pg_current_xact_id()::xid) THEN
    RAISE EXCEPTION 'the day % is closed: nothing can be added to %', NEW.date, TG_TABLE_NAME
      USING ERRCODE = 'restrict_violation', HINT = 'A correction of a closed day is a row in usage_adjustments.';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.revise_vm()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.generation <> OLD.generation OR NEW.desired_state <> OLD.desired_state OR NEW.relocating <> OLD.relocating
    OR NEW.abandoned <> OLD.abandoned
    OR NEW.relocating AND (NEW.observed_state = 'none') <> (OLD.observed_state = 'none')
    OR vm_should_run(NEW.desired_state, NEW.abandoned, NEW.observed_state, NEW.observed_generation, NEW.generation)
    <> vm_should_run(OLD.desired_state, OLD.abandoned, OLD.observed_state, OLD.observed_generation, OLD.generation)
  THEN
    NEW.revision := greatest(OLD.revision + 1, count_floor());
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.revise_vm_of_attachment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.attachment_type = 'data' THEN
    PERFORM bump_hosts(ARRAY[p.host_id, keeper]) FROM placements p, hosts_growing(ARRAY[NEW.disk_id]) keeper
      WHERE p.vm_id = NEW.vm_id;
    PERFORM want_volume_keys(ARRAY[NEW.disk_id]);
  END IF;
  UPDATE vms SET revision = greatest(revision + 1, count_floor()) WHERE id = NEW.vm_id AND placed;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.revoke_keys_of_attachment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM revoke_volume_keys(ARRAY[OLD.disk_id], host_id) FROM placements WHERE vm_id = OLD.vm_id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.revoke_keys_of_placements()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM revoke_volume_keys(array_agg(a.disk_id), c.host_id) FROM changed c
    JOIN disk_attachments a ON a.vm_id = c.vm_id GROUP BY c.host_id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.revoke_volume_keys(disk_ids uuid[], host uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  revoked_ids uuid[];
BEGIN
  WITH ended AS (UPDATE volume_keys k SET revoked = true
      WHERE k.disk_id = ANY(disk_ids) AND k.host_id = host AND NOT k.revoked
        AND NOT EXISTS (SELECT FROM disk_attachments a JOIN placements p ON p.vm_id = a.vm_id
          WHERE a.disk_id = k.disk_id AND p.host_id = host)
      RETURNING k.disk_id)
    SELECT array_agg(disk_id ORDER BY disk_id) INTO revoked_ids FROM ended;
  IF revoked_ids IS NOT NULL THEN PERFORM want_volume_keys(revoked_ids); END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_claims()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO stream_events (type, data)
    SELECT 'devices', json_build_object('host_id', d.host_id, 'items',
      json_agg(device_event(d, CASE TG_OP WHEN 'INSERT' THEN coalesce(c.vm_id, o.vm_id) END, false) ORDER BY d.pci_address))
    FROM changed c JOIN devices d ON d.id = c.device_id LEFT JOIN orphans o ON o.id = c.orphan_id
    GROUP BY d.host_id ORDER BY d.host_id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_device()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN NEW := OLD; END IF;
  INSERT INTO stream_events (type, data) VALUES ('devices', json_build_object('host_id', NEW.host_id,
    'items', json_build_array(device_event(NEW, (SELECT coalesce(c.vm_id, o.vm_id)
      FROM device_claims c LEFT JOIN orphans o ON o.id = c.orphan_id WHERE c.device_id = NEW.id), TG_OP = 'DELETE'))));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_host()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN NEW := OLD; END IF;
  INSERT INTO stream_events (type, data) VALUES ('host',
    json_build_object('id', NEW.id, 'name', NEW.name, 'location', NEW.location, 'state', NEW.state,
      'admin_state', NEW.admin_state, 'connected', NEW.scheduler_id IS NOT NULL, 'trouble', NEW.trouble,
      'drift', to_json(NEW.drift), 'deleted', TG_OP = 'DELETE'));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_incidents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO stream_events (project_id, type, data)
    SELECT project_id, 'event', json_build_object('id', id, 'type', type, 'message', message,
      'resource_type', resource_type, 'resource_id', resource_id) FROM added ORDER BY id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_operation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO stream_events (project_id, type, data) VALUES (NEW.project_id, 'operation',
    operation_event(NEW.id, NEW.name, NEW.resource_type, NEW.resource_id, NEW.state,
      CASE NEW.state WHEN 'IN_PROGRESS' THEN 'requested' ELSE 'ended' END, NEW.result));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_rollout()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO stream_events (type, data) VALUES ('rollout',
    json_build_object('id', NEW.id, 'version', NEW.version, 'state', NEW.state, 'state_reason', NEW.state_reason,
      'wave', NEW.wave));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_rollout_hosts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO stream_events (type, data)
    SELECT 'rollout_host', json_build_object('rollout_id', n.rollout_id, 'host_id', n.host_id, 'wave', n.wave,
      'state', n.state, 'reason', n.reason)
    FROM changed n JOIN unchanged o USING (rollout_id, host_id) WHERE n.state <> o.state ORDER BY n.host_id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_vm()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN NEW := OLD; END IF;
  INSERT INTO stream_events (project_id, type, data) VALUES (NEW.project_id, 'vm',
    json_build_object('id', NEW.id, 'name', NEW.name, 'state', NEW.state, 'deleted', TG_OP = 'DELETE'));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.stream_vm_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO stream_events (project_id, type, data)
    SELECT o.project_id, 'operation', operation_event(o.id, o.name, o.resource_type, o.resource_id, o.state,
      CASE WHEN NEW.relocating THEN 'relocating' ELSE 'placed' END, NULL)
    FROM operations o WHERE o.resource_id = NEW.id AND o.state = 'IN_PROGRESS';
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.take_vni()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  largest constant bigint := 16777215;
  position bigint;
  final bigint;
BEGIN
  LOOP
    DELETE FROM free_vnis WHERE vni = (SELECT vni FROM free_vnis WHERE freed_at IS NULL
      ORDER BY vni LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING vni INTO NEW.vni;
    IF FOUND THEN RETURN NEW; END IF;
    SELECT p.next, p.last INTO position, final FROM vni_pool p WHERE p.next <= p.last FOR UPDATE;
    EXIT WHEN NOT FOUND;
    UPDATE vni_pool SET next = least(position + 256, final + 1);
    INSERT INTO free_vnis (vni)
      SELECT n FROM generate_series(position, least(position + 255, final)) p,
        LATERAL (SELECT (p - 1) % largest + 1 AS n) AS number
      WHERE NOT EXISTS (SELECT FROM networks w WHERE w.vni = n)
      ON CONFLICT (vni) DO NOTHING;
  END LOOP;
  DELETE FROM free_vnis WHERE vni = (SELECT f.vni FROM free_vnis f
    WHERE f.freed_at < now() - interval '1 hour' AND NOT EXISTS (
      SELECT FROM unnest(f.host_ids, f.numbers) AS behind (host_id, number)
      JOIN hosts h ON h.id = behind.host_id
      WHERE h.fenced_at IS NULL AND h.accepted_number < behind.number)
    ORDER BY f.freed_at, f.vni LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING vni INTO NEW.vni;
  IF FOUND THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'no free VXLAN number' USING ERRCODE = 'GV001';
END $function$;

CREATE OR REPLACE FUNCTION public.touch_host()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  touched uuid;
BEGIN
  IF TG_TABLE_NAME = 'hosts' THEN
    touched := NEW.id;
  ELSIF TG_OP = 'DELETE' THEN
    touched := OLD.host_id;
  ELSE
    touched := NEW.host_id;
  END IF;
  UPDATE host_revisions SET changed_xid = pg_current_xact_id()
    WHERE host_id = touched AND changed_xid <> pg_current_xact_id();
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.touch_hosts_at_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  touched constant uuid[] := ARRAY(SELECT id FROM hosts WHERE storage_address IN (OLD.storage_address, NEW.storage_address)
    OR id = NEW.id);
BEGIN
  PERFORM FROM host_revisions WHERE host_id = ANY(touched) ORDER BY host_id FOR UPDATE;
  UPDATE host_revisions SET changed_xid = pg_current_xact_id()
    WHERE host_id = ANY(touched) AND changed_xid <> pg_current_xact_id();
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.vm_should_run(desired text, abandoned boolean, observed text, observed_generation bigint, generation bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT desired = 'running' AND NOT abandoned AND NOT (observed = 'failed' AND observed_generation = generation)
$function$;

CREATE OR REPLACE FUNCTION public.want_volume_keys(disk_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE disks d SET wants_key = true WHERE d.id = ANY(disk_ids) AND d.pool_id IS NOT NULL AND NOT d.wants_key
    AND d.desired_state = 'present'
    AND NOT EXISTS (SELECT FROM volume_keys k WHERE k.disk_id = d.id AND k.host_id IS NULL AND NOT k.revoked)
    AND NOT (d.kind = 'os' AND EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
      WHERE a.disk_id = d.id AND (v.desired_state = 'deleted' OR v.abandoned)));
END $function$;
