import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** With `npx vite` in this folder, the pages are rebuilt as files are saved; the API runs beside it. */
const api = process.env['GANTRY_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  // The policy of the page forbids data: URLs.
  build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 600 },
  server: { proxy: { '/v0.1': { target: api, ws: true } } },
});
