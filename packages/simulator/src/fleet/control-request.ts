import { DRIVER_STEPS, type DriverStep } from '../driver/faults.ts';

/** A validated control request for a simulated host. */
export type ControlOrder =
  | { verb: 'crash' | 'wedge' | 'unwedge'; vmId: string }
  | { verb: 'fail'; step: DriverStep; times: number; code: string; message: string }
  | { verb: 'hang' | 'unhang'; step: DriverStep }
  | { verb: 'clear-faults' | 'kill-agent' | 'start-agent' | 'power-off' | 'reboot' };

export class BadControlRequest extends Error {
  override name = 'BadControlRequest';
}

const BARE_VERBS = ['clear-faults', 'kill-agent', 'start-agent', 'power-off', 'reboot'] as const;

type Fields = Record<string, unknown>;

export function parseControlOrder(verb: string, body: Fields): ControlOrder {
  const bare = BARE_VERBS.find((known) => known === verb);
  if (bare) return { verb: bare };
  switch (verb) {
    case 'crash':
    case 'wedge':
    case 'unwedge':
      return { verb, vmId: text(body, 'vm_id') };
    case 'fail':
      return {
        ...{ verb, step: step(body), times: count(body) },
        ...{
          code: text(body, 'code', 'host_failed'),
          message: text(body, 'message', 'as ordered'),
        },
      };
    case 'hang':
    case 'unhang':
      return { verb, step: step(body) };
    default:
      throw new BadControlRequest(
        `there is no "${verb}": one of crash, wedge, unwedge, fail, hang, unhang, ${BARE_VERBS.join(', ')}`,
      );
  }
}

function text(body: Fields, name: string, fallback?: string): string {
  const value = body[name] ?? fallback;
  if (typeof value === 'string' && value !== '') return value;
  throw new BadControlRequest(`${name} must be a text`);
}

function step(body: Fields): DriverStep {
  const found = DRIVER_STEPS.find((known) => known === body['step']);
  if (found) return found;
  throw new BadControlRequest(`step must be one of ${DRIVER_STEPS.join(', ')}`);
}

/** The default is once. */
function count(body: Fields): number {
  const times = body['times'] ?? 1;
  if (typeof times === 'number' && Number.isInteger(times) && times > 0) return times;
  throw new BadControlRequest('times must be a whole number above 0');
}
