import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { vmCheck } from '../../../api/catalogue-queries.ts';
import type { CreateVmBody } from './vm-draft.ts';

/** A request for each letter would be too many. */
const PAUSE_MS = 400;

/**
 * Checks the whole form a moment after the last change, without creating anything. The estimate of the last accepted
 * form stays until there is a new one, so that the price does not flicker.
 */
export function useCheck(projectId: string, body: CreateVmBody) {
  const text = JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const checked = JSON.parse(settled) as CreateVmBody;
  const { data, error } = useQuery({
    ...vmCheck(projectId, checked),
    enabled: isComplete(checked),
    placeholderData: keepPreviousData,
  });
  // What was found wrong with an earlier form may be right by now.
  const isCurrent = settled === text && isComplete(checked);
  return { estimate: error ? undefined : data, error: isCurrent ? error : null };
}

/** A form without these would be refused, and the person knows that it is not finished. */
function isComplete({ name, type, image, ssh_public_key, ssh_keys }: CreateVmBody): boolean {
  return [name, type, image, ssh_public_key ?? ssh_keys?.[0] ?? ''].every((text) => text !== '');
}
