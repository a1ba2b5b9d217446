import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { everyItem } from '../../../api/every-item.ts';
import { LineChart } from '../../../components/chart/line-chart.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Select } from '../../../components/field.tsx';
import { Panel } from '../../../components/panel.tsx';
import { overTime, type Reading } from './over-time.ts';

const TIMES = [
  { hours: 24, label: 'Last 24 hours' },
  { hours: 168, label: 'Last 7 days' },
  { hours: 720, label: 'Last 30 days' },
  { hours: 2160, label: 'Last 90 days' },
];
/** A host reports a change within a minute. */
const REFRESH_MS = 60_000;

type Line = { label: string; name: Exclude<keyof Reading, 'at'>; colour: string; dashed?: boolean };
const CHARTS: { title: string; lines: Line[] }[] = [
  {
    title: 'PCIe link',
    lines: [
      { label: 'Lanes', name: 'link_width', colour: 'text-accent-fill' },
      { label: 'GT/s of a lane', name: 'link_speed_gts', colour: 'text-good', dashed: true },
    ],
  },
  {
    title: 'Errors',
    lines: [
      { label: 'Correctable', name: 'correctable_errors', colour: 'text-muted' },
      { label: 'Non-fatal', name: 'nonfatal_errors', colour: 'text-warn' },
      { label: 'Fatal', name: 'fatal_errors', colour: 'text-bad' },
      { label: 'Memory, corrected', name: 'corrected_memory_errors', colour: 'text-accent-fill' },
      {
        ...{ label: 'Memory, not corrected', name: 'uncorrected_memory_errors' as const },
        ...{ colour: 'text-bad', dashed: true },
      },
      { label: 'Medium', name: 'media_errors', colour: 'text-bad', dashed: true },
    ],
  },
  {
    title: 'Wear in percent',
    lines: [
      { label: 'Life used', name: 'wear_percent', colour: 'text-warn' },
      { label: 'Spare blocks left', name: 'spare_percent', colour: 'text-good' },
    ],
  },
];

const readingsOf = (deviceId: string, hours: number) =>
  queryOptions({
    queryKey: adminKey('devices', deviceId, 'readings', String(hours)),
    queryFn: ({ signal }) =>
      everyItem(gantry.adminDevices.readings({ device_id: deviceId, hours }, { signal })),
    refetchInterval: REFRESH_MS,
  });

/** How the link, the errors and the wear of the device changed. A chart without a value is left out. */
export function DeviceCharts({ deviceId }: { deviceId: string }) {
  const [hours, setHours] = useState(168);
  const { data, error, dataUpdatedAt } = useQuery(readingsOf(deviceId, hours));
  const { at, valuesOf } = useMemo(
    () => overTime({ readings: data ?? [], hours, now: dataUpdatedAt / 1000 }),
    [data, hours, dataUpdatedAt],
  );
  const charts = CHARTS.map(({ title, lines }) => ({
    title,
    lines: lines.flatMap(({ name, ...line }) => {
      const values = valuesOf(name);
      return values ? [{ ...line, values }] : [];
    }),
  })).filter(({ lines }) => lines.length > 0);
  return (
    <Panel
      title="Over time"
      actions={
        <Select
          aria-label="Time of the charts"
          className="!w-auto"
          value={hours}
          onChange={(event) => setHours(Number(event.target.value))}
        >
          {TIMES.map((time) => (
            <option key={time.hours} value={time.hours}>
              {time.label}
            </option>
          ))}
        </Select>
      }
    >
      {error && <ErrorNote error={error} />}
      {data && charts.length === 0 && (
        <p className="text-muted">The host has reported no link, errors or wear of it yet.</p>
      )}
      <div className="grid gap-6 lg:grid-cols-2">
        {charts.map(({ title, lines }) => (
          <section key={title} aria-label={title}>
            <h3 className="mb-1 font-medium">{title}</h3>
            <LineChart at={at} lines={lines} empty="" />
          </section>
        ))}
      </div>
    </Panel>
  );
}
