/** Measures the built server against the machine's limits: `npm run bench [-- --help]`. */
import { buildAll } from './build.mjs';

const args = process.argv.slice(2);
if (!args.includes('--help') && !args.includes('-h')) buildAll();
await import('../test/fixtures/typescript.mjs');
const { bench } = await import('../bench/main.ts');
process.exitCode = await bench(args);
