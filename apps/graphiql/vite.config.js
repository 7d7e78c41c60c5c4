import { join } from 'node:path';
import { defineConfig } from 'vite';

/** The GraphQL console with its editor and workers, from our own origin: nothing is loaded from elsewhere. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/assets/graphiql/',
  build: {
    outDir: join(import.meta.dirname, '../../dist/graphiql'),
    emptyOutDir: true,
    assetsDir: '.',
    chunkSizeWarningLimit: 8000,
    // The page's policy allows no blob: workers and no inlined files.
    assetsInlineLimit: 0,
    sourcemap: false,
  },
  worker: { format: 'es' },
});
