import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export type Observation = { route: string; method: string; status: number; seconds: number };

export type Metrics = {
  observe(observation: Observation): void;
  render(): Promise<string>;
  contentType: string;
};

/** Labels are routes, methods and statuses only, so that the number of series is bounded. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'gantry_http_requests_total',
    help: 'Number of replies',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'gantry_http_request_duration_seconds',
    help: 'Time from the request to its reply',
    labelNames: ['route', 'method'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  return {
    observe({ route, method, status, seconds }) {
      requests.inc({ route, method, status });
      duration.observe({ route, method }, seconds);
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
