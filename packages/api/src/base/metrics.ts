import type { Metrics } from '@gantry/daemon/metrics/metrics';

export type Observation = { route: string; method: string; status: number; seconds: number };

export type RequestMetrics = { observe(observation: Observation): void };

/** Labels are routes, methods and statuses only, so that the number of series is bounded. */
export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  const requests = metrics.counter({
    name: 'gantry_http_requests_total',
    help: 'Number of replies.',
    labels: ['route', 'method', 'status'],
  });
  const duration = metrics.histogram({
    name: 'gantry_http_request_duration_seconds',
    help: 'Time from the request to its reply.',
    labels: ['route', 'method'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  });
  return {
    observe({ route, method, status, seconds }) {
      requests.inc({ route, method, status });
      duration.observe({ route, method }, seconds);
    },
  };
}

type Load = {
  /** Requests that run and that wait for their turn. */
  requests: () => { running: number; waiting: number };
  eventStreams: () => number;
};

/** Adds how busy the process is. */
export function addLoadMetrics(metrics: Metrics, { requests, eventStreams }: Load): void {
  metrics.gaugeOf({
    name: 'gantry_api_requests',
    help: 'Requests with a bearer that run, or that wait for a connection to the database.',
    labels: ['state'],
    read: () => {
      const { running, waiting } = requests();
      return [
        { labels: { state: 'running' }, value: running },
        { labels: { state: 'waiting' }, value: waiting },
      ];
    },
  });
  metrics.gaugeOf({
    name: 'gantry_api_event_streams',
    help: 'Open event streams.',
    read: eventStreams,
  });
}
