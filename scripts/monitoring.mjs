// npm run gen:monitoring: generates the rules and dashboards of deploy/monitoring. The check also makes sure
// that every metric that they name exists, that every alert has a section in docs/operators/alerts.md, and that
// docs/operators/monitoring.md lists every metric.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ALERTS } from './monitoring/alerts.mjs';
import { DASHBOARDS } from './monitoring/dashboards.mjs';
import { renderDashboard } from './monitoring/render-dashboard.mjs';
import { renderRules, renderRuleTests } from './monitoring/render-rules.mjs';
import { isMain, readText, root } from './workspace.mjs';

const folder = 'deploy/monitoring';
/** The packages that define metrics. */
const SOURCES = ['daemon', 'api', 'scheduler', 'agent'].map((name) => `packages/${name}/src`);
const DEFINITION = /(?:name: |\[)'((?:gantry|process|nodejs)_[a-z0-9_]+)'/g;
const HISTOGRAM = /\.histogram\(\{\s*name: '([a-z0-9_]+)'/g;
const USE = /\b(?:gantry|process|nodejs)_[a-z0-9_]+/g;

/** Returns the text of each generated file by its path. */
function generate() {
  const dashboards = DASHBOARDS.map((one) => [
    `${folder}/dashboards/${one.file}`,
    renderDashboard(one),
  ]);
  return {
    [`${folder}/gantry.rules.yml`]: renderRules(),
    [`${folder}/gantry.rules.test.yml`]: renderRuleTests(),
    ...Object.fromEntries(dashboards),
  };
}

/** Returns an empty text if everything fits together, otherwise the problems. */
export function findMonitoringProblems() {
  const stale = Object.entries(generate()).flatMap(([file, text]) =>
    readText(path.join(root, file)) === text
      ? []
      : `${file} is not current. Run: npm run gen:monitoring`,
  );
  const sources = SOURCES.flatMap(listSources).map((file) => readText(file) ?? '');
  const read = (page) => readText(path.join(root, 'docs/operators', page)) ?? '';
  return [
    ...stale,
    ...findUnknownMetrics({ sources, uses: namedMetrics() }),
    ...findMissingRunbooks({ alerts: ALERTS.map(({ name }) => name), page: read('alerts.md') }),
    ...findUnlistedMetrics({ sources, page: read('monitoring.md') }),
  ].join('\n');
}

/** `uses` are names as queries have them: a histogram has three series. */
export function findUnknownMetrics({ sources, uses }) {
  const known = new Set(definedMetrics(sources));
  for (const text of sources)
    for (const [, name] of text.matchAll(HISTOGRAM))
      for (const suffix of ['bucket', 'sum', 'count']) known.add(`${name}_${suffix}`);
  return [...new Set(uses)]
    .filter((name) => !known.has(name))
    .map((name) => `${name} is in a rule or a dashboard, and no process has it`);
}

/** Also names sections of alerts that do not exist any more. */
export function findMissingRunbooks({ alerts, page }) {
  const sections = [...page.matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
  return [
    ...alerts.filter((name) => !sections.includes(name)).map((name) => `${name} has no runbook`),
    ...sections.filter((name) => !alerts.includes(name)).map((name) => `${name} is no alert`),
  ];
}

export function findUnlistedMetrics({ sources, page }) {
  return definedMetrics(sources)
    .filter((name) => !page.includes(`\`${name}\``))
    .map((name) => `docs/operators/monitoring.md does not list ${name}`);
}

function definedMetrics(sources) {
  return sources.flatMap((text) => [...text.matchAll(DEFINITION)].map(([, name]) => name));
}

function namedMetrics() {
  const queries = DASHBOARDS.flatMap(({ panels, host = '' }) => [
    host,
    ...panels.flatMap(({ queries: all }) => Object.values(all)),
  ]);
  const series = ALERTS.flatMap(({ fires, quiet }) => [fires, quiet].flatMap(Object.keys));
  const rules = ALERTS.map(({ expr }) => expr(() => '1m'));
  return [...queries, ...rules, ...series].flatMap((text) => text.match(USE) ?? []);
}

function listSources(directory) {
  return readdirSync(path.join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => path.join(root, directory, file));
}

if (isMain(import.meta.url)) {
  mkdirSync(path.join(root, folder, 'dashboards'), { recursive: true });
  for (const [file, text] of Object.entries(generate())) writeFileSync(path.join(root, file), text);
}
