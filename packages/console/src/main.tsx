import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { router } from './router.tsx';
import { startTheme } from './shell/theme.ts';
import './styles.css';

startTheme();
const place = document.getElementById('console');
if (place === null) throw new Error('BUG: index.html has no element for the console');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
