/** Hashes a first password: `printf %s "$PASSWORD" | npm run --silent hash-password`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildAll } from './build.mjs';

// The standard output is for the hash alone.
const { log } = console;
console.log = console.error;
buildAll();
console.log = log;
await import(pathToFileURL(join(import.meta.dirname, '../dist/apps/server/hash-password.js')).href);
