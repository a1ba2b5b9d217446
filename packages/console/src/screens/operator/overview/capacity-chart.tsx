import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { LineChart } from '../../../components/chart/line-chart.tsx';
import { Select } from '../../../components/field.tsx';
import { Panel } from '../../../components/panel.tsx';
import { capacityHistory } from './overview-queries.ts';
import { sumSamples } from './sum-samples.ts';

const TIMES = [
  { hours: 24, label: 'Last 24 hours' },
  { hours: 168, label: 'Last 7 days' },
  { hours: 720, label: 'Last 30 days' },
];

/** How many GPUs were free, and how many of those were on hosts without VMs, so that large VMs fit. */
export function CapacityChart() {
  const [hours, setHours] = useState(24);
  const [model, setModel] = useState('');
  const { data = [] } = useQuery(capacityHistory(hours));
  const models = [...new Set(data.map((sample) => sample.model))].sort();
  const series = useMemo(() => sumSamples(data, model), [data, model]);
  return (
    <Panel
      title="Capacity over time"
      actions={
        <div className="flex flex-wrap gap-2">
          <Select
            aria-label="GPU model of the chart"
            className="!w-auto"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          >
            <option value="">All models</option>
            {models.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </Select>
          <Select
            aria-label="Time of the chart"
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
        </div>
      }
    >
      <LineChart
        at={series.at}
        lines={[
          { label: 'In use', colour: 'text-accent-fill', values: series.sold },
          { label: 'Free', colour: 'text-good', values: series.free },
          { label: 'Free on empty hosts', colour: 'text-good', dashed: true, values: series.whole },
          { label: 'Blocked', colour: 'text-bad', values: series.blocked },
        ]}
        empty="A point is added every five minutes. The line begins with the second one."
      />
    </Panel>
  );
}
