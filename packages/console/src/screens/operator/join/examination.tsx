import type { Schemas } from '@gantry/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { Badge, type Tone } from '../../../components/badge.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';

type Finding = Schemas['DoctorFinding'];

/** No event tells that a server was examined, and the page is open for a few minutes only. */
const POLL_MS = 2_000;

const joinToken = (tokenId: string) =>
  queryOptions({
    queryKey: adminKey('join-tokens', tokenId),
    queryFn: ({ signal }) => gantry.adminJoinTokens.get({ join_token_id: tokenId }, { signal }),
    refetchInterval: POLL_MS,
  });

const WORDS: Record<Finding['severity'], [label: string, tone: Tone]> = {
  fail: ['Failure', 'bad'],
  warn: ['Warning', 'warn'],
  ok: ['Good', 'good'],
};
const WORST_FIRST = Object.keys(WORDS);

/** What the line found out about the server that it was pasted on, the worst first. */
export function Examination({ tokenId }: { tokenId: string }) {
  const { data, error } = useQuery(joinToken(tokenId));
  if (error) return <ErrorNote error={error} />;
  if (!data || data.examined_at === '') return null;
  const findings = data.findings.toSorted(
    (one, other) => WORST_FIRST.indexOf(one.severity) - WORST_FIRST.indexOf(other.severity),
  );
  const isStopped = data.used_at === '' && findings.some(({ severity }) => severity === 'fail');
  return (
    <section aria-label="What the line found on the server" className="mt-4">
      <h3 className="font-medium">What the line found on the server</h3>
      <p className="mb-2 text-sm text-muted">
        Examined <RelativeTime at={data.examined_at} />.{' '}
        {isStopped &&
          'It did not join because of the failures: correct them there, and paste the line again.'}
      </p>
      <ul className="flex flex-col divide-y divide-line">
        {findings.map(({ severity, check, message }) => (
          <li key={`${check} ${message}`} className="flex flex-wrap gap-x-3 gap-y-1 py-1.5">
            <Badge tone={WORDS[severity][1]}>{WORDS[severity][0]}</Badge>
            <span className="font-medium">{check}</span>
            <span className="min-w-0 flex-1 break-words">{message}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
