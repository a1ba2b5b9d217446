/** What several parts of a spec have in common. */
export type SpecDiskRow = {
  id: string;
  type: 'persistent-ssd' | 'shared-volume';
  size_gib: number;
  block_size: number;
  serial_number: string;
  name: string;
};
