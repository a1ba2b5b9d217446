// Renders a dashboard as the JSON that Grafana imports and provisions.

const WIDTH = 12;
const HEIGHT = 8;
/** A variable of Grafana: the person who looks chooses the source. */
const SOURCE = { type: 'prometheus', uid: '$datasource' };

export function renderDashboard({ uid, title, host, panels }) {
  const dashboard = {
    uid,
    title,
    tags: ['gantry'],
    timezone: 'utc',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [dataSource(), ...(host ? [hostVariable(host)] : [])] },
    panels: panels.map(renderPanel),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function dataSource() {
  return { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' };
}

function hostVariable(query) {
  return {
    ...{ name: 'host', label: 'Host', type: 'query', query, datasource: SOURCE, refresh: 2 },
    ...{ includeAll: true, multi: true, allValue: '.*', sort: 1 },
  };
}

function renderPanel({ title, unit, queries }, index) {
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    datasource: SOURCE,
    gridPos: { w: WIDTH, h: HEIGHT, x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], letter) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + letter),
      ...{ datasource: SOURCE, expr, legendFormat },
    })),
  };
}
