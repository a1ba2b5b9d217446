import type { StorageCluster, VolumeName } from '../storage-cluster.ts';

/** A cluster that runs the contract tests. Tests use names of their own, so one cluster serves all of them. */
export type ContractCluster = {
  cluster: StorageCluster;
  pool: string;
  /** Opens a volume for writing with the administrator's key, as a client of its own. */
  open(at: OpenedVolume): Promise<ContractClient>;
  /** Returns the text at the beginning of a volume. */
  read(at: OpenedVolume): Promise<string>;
  /** Creates a volume as another user of the pool would: without labels. */
  addForeignVolume(at: VolumeName): Promise<void>;
  /** Returns the names of the volumes in the trash. */
  listTrash(): Promise<string[]>;
};

/** Without the passphrase, a client sees the header of an encrypted volume. */
type OpenedVolume = VolumeName & { passphrase?: string };

export type ContractClient = {
  /** With a port and a nonce. */
  address: string;
  write(text: string): Promise<void>;
  close(): Promise<void>;
  /** Ends the client as if it had been killed. */
  kill(): Promise<void>;
};
