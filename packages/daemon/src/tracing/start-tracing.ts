import type { Log } from '../log.ts';
import { SettingsError, type SettingsReader } from '../settings.ts';
import type { Tracer } from './tracer.ts';

/** Where spans are sent to, by the names that OpenTelemetry gives these settings. */
export type TracingSettings = { url: string; headers: Record<string, string> } | null;

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const TRACES_ENDPOINT = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const HEADERS = 'OTEL_EXPORTER_OTLP_HEADERS';

/** Returns null if no endpoint is set: the process then records nothing. */
export function readTracingSettings(reader: SettingsReader): TracingSettings {
  const headers = readHeaders(reader.optionalSecret(HEADERS));
  const exact = reader.optional(TRACES_ENDPOINT);
  if (exact !== undefined) return { url: readUrl(TRACES_ENDPOINT, exact), headers };
  const base = reader.optional(ENDPOINT);
  if (base === undefined) return null;
  return { url: `${readUrl(ENDPOINT, base).replace(/\/+$/, '')}/v1/traces`, headers };
}

/** The exporter is loaded only if there is somewhere to send spans to. */
export async function startTracing(
  settings: TracingSettings,
  process: { service: string; log: Log },
): Promise<Tracer | null> {
  if (settings === null) return null;
  const { createOtlpTracer } = await import('./otlp-tracer.ts');
  return createOtlpTracer({ ...settings, ...process });
}

function readUrl(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new SettingsError(`${name} must be an http or https URL, not "${value}"`);
  return value;
}

/** Pairs of name and value as in "a=1,b=2". Values are percent-encoded. */
function readHeaders(text: string | undefined): Record<string, string> {
  const pairs = (text ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...rest] = pair.split('=');
      const value = rest.join('=').trim();
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name.trim()) || rest.length === 0)
        throw new SettingsError(`${HEADERS} must be pairs of name=value, separated by commas`);
      try {
        return [name.trim(), decodeURIComponent(value)];
      } catch {
        throw new SettingsError(`${HEADERS}: the value of ${name.trim()} is not percent-encoded`);
      }
    }),
  );
}
