/** A logical volume as LVM reports it. */
export type LogicalVolume = {
  name: string;
  sizeBytes: number;
  tags: readonly string[];
  isOpen: boolean;
};

const COLUMNS = ['lv_name', 'lv_size', 'lv_tags', 'lv_device_open'] as const;

/** Sizes in bytes without a unit, whatever the host's lvm.conf says. */
export function reportArgs(columns: readonly string[] = COLUMNS): string[] {
  return ['--reportformat', 'json', '--units', 'b', '--nosuffix', '--options', columns.join(',')];
}

export function parseLogicalVolumes(json: string): LogicalVolume[] {
  return parseRows(json).map((row) => ({
    name: row['lv_name'] ?? '',
    sizeBytes: Number(row['lv_size']),
    tags: (row['lv_tags'] ?? '').split(',').filter((tag) => tag !== ''),
    isOpen: row['lv_device_open'] === 'open',
  }));
}

/** `{"report":[{"lv":[{column: text}]}]}`; vgs writes `vg` instead of `lv`. */
export function parseRows(json: string, kind: 'lv' | 'vg' = 'lv'): Record<string, string>[] {
  const reply: unknown = JSON.parse(json);
  const reports = fieldOf(reply, 'report');
  if (!Array.isArray(reports)) throw new Error(`${kind}s printed something that is not a report`);
  return reports.flatMap((report: unknown) => {
    const rows = fieldOf(report, kind);
    return Array.isArray(rows) ? rows.filter(isRow) : [];
  });
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? new Map(Object.entries(value)).get(name)
    : undefined;
}

function isRow(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((cell) => typeof cell === 'string')
  );
}
