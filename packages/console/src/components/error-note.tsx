import { ApiError, ConnectionError } from '@gantry/sdk';
import { Button } from './button.tsx';
import { Note } from './note.tsx';

type ErrorNoteProps = { error: unknown; title?: string; onRetry?: () => void };

/** Why something failed, in the words of the server, with the request id that operators need to find it. */
export function ErrorNote({ error, title, onRetry }: ErrorNoteProps) {
  const requestId = error instanceof ApiError ? error.requestId : '';
  return (
    <Note tone="bad" role="alert">
      {title && <p className="font-medium">{title}</p>}
      <p>{messageOf(error)}</p>
      {requestId && (
        <p className="mt-1 text-sm">
          Request <code className="font-mono break-all">{requestId}</code>
        </p>
      )}
      {onRetry && (
        <Button size="small" className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Note>
  );
}

function messageOf(error: unknown): string {
  if (error instanceof ConnectionError) {
    return 'The API did not reply. The page tries again as soon as it is back.';
  }
  return error instanceof Error ? error.message : String(error);
}
