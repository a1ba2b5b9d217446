import { Link } from '@tanstack/react-router';
import { buttonClass } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';

export function NotFound() {
  return (
    <EmptyState
      title="There is no such page"
      action={
        <Link to="/" className={buttonClass()}>
          To the start
        </Link>
      }
    />
  );
}
