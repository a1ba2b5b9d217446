/** What a cluster of tests consists of. */
export type CephOptions = {
  osds?: number;
  /** How many copies of each object there are. */
  copies?: number;
  /** The address that its daemons listen on. */
  address?: string;
  /** The network namespace of its daemons and of `run`, by its name. */
  namespace?: string;
  /** Objects of `memstore` are lost with their OSD; it starts a second earlier. */
  store?: 'bluestore' | 'memstore';
  osdSizeBytes?: number;
  pools?: readonly string[];
  /** A manager reports how much space is used. It needs 320 MB, and ten seconds until it does. */
  mgr?: boolean;
  /** The name of a CephFS file system and of its data pool. It needs a metadata server. */
  fileSystem?: string;
  /** Whether there is a metadata server although there is no file system yet. It needs 30 MB. */
  mds?: boolean;
};

export type CephLayout = Required<Omit<CephOptions, 'namespace' | 'fileSystem'>> & {
  fileSystem: string | undefined;
  directory: string;
  fsid: string;
  port: number;
};

/** Renders the configuration of a small cluster whose files are all in one directory. */
export function renderCephConfig(layout: CephLayout): string {
  const { directory, fsid, address, port, copies, store, osdSizeBytes } = layout;
  const adminSocket = { admin_socket: `${directory}/run/$name.asok` };
  return render({
    global: {
      fsid,
      mon_host: `v2:${address}:${port}`,
      public_addr: address,
      cluster_addr: address,
      ms_bind_msgr1: false,
      keyring: `${directory}/$name.keyring`,
      run_dir: `${directory}/run`,
      log_file: `${directory}/log/$name.log`,
      crash_dir: `${directory}/crash`,
      auth_allow_insecure_global_id_reclaim: false,
      ms_async_op_threads: 2,
      osd_pool_default_size: copies,
      osd_pool_default_min_size: 1,
      osd_pool_default_pg_num: 8,
      osd_pool_default_pgp_num: 8,
      osd_pool_default_pg_autoscale_mode: 'off',
      // Copies are on different OSDs, not on different computers.
      osd_crush_chooseleaf_type: 0,
      rbd_default_clone_format: 2,
    },
    client: {
      admin_socket: '',
      log_file: '',
      client_mount_timeout: 10,
      // A client that connects before the OSDs asks for a new map this often.
      objecter_tick_interval: 0.2,
    },
    mon: {
      ...adminSocket,
      mon_data: `${directory}/mon`,
      mon_cluster_log_file: `${directory}/log/cluster.log`,
      mon_allow_pool_size_one: true,
      mon_allow_pool_delete: true,
      mon_warn_on_pool_no_redundancy: false,
      mon_data_avail_warn: 3,
      mon_data_avail_crit: 1,
      mon_memory_autotune: false,
      mon_max_pg_per_osd: 1000,
      mon_osd_min_down_reporters: 1,
      mon_osd_reporter_subtree_level: 'osd',
      mon_osd_down_out_interval: 86_400,
      paxos_propose_interval: 0.1,
    },
    osd: {
      ...adminSocket,
      osd_data: `${directory}/osd$id`,
      osd_objectstore: store,
      bluestore_block_create: true,
      bluestore_block_size: osdSizeBytes,
      bluestore_block_db_create: false,
      bluestore_block_wal_create: false,
      bluestore_fsck_on_mount: false,
      // Each close of the block file waits this long, and the first start closes it ten times.
      bdev_aio_poll_ms: 10,
      bluestore_cache_autotune: false,
      bluestore_cache_size: 67_108_864,
      memstore_device_bytes: osdSizeBytes,
      osd_memory_target: 939_524_096,
      osd_max_pg_log_entries: 500,
      osd_min_pg_log_entries: 100,
      osd_op_num_shards: 2,
      osd_op_num_threads_per_shard: 1,
      osd_heartbeat_interval: 1,
      osd_heartbeat_grace: 10,
      osd_fast_shutdown: true,
    },
    mds: { ...adminSocket, mds_data: `${directory}/mds`, mds_tick_interval: 1 },
    mgr: { ...adminSocket, mgr_data: `${directory}/mgr`, mgr_initial_modules: '' },
  });
}

function render(sections: Record<string, Record<string, string | number | boolean>>): string {
  return Object.entries(sections)
    .map(([name, options]) => {
      const lines = Object.entries(options).map(([option, value]) => `${option} = ${value}`);
      return [`[${name}]`, ...lines, ''].join('\n');
    })
    .join('\n');
}
