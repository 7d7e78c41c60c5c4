/** Applies the migrations to the configured database, under an advisory lock: `DATABASE_URL=… npm run migrate`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildAll } from './build.mjs';

buildAll();
await import(pathToFileURL(join(import.meta.dirname, '../dist/apps/server/migrate.js')).href);
