/** Compares the template engine with Apache FreeMarker: `node test/conformance/differential.mjs --help`. */
await import('../fixtures/typescript.mjs');
const { differential } = await import('./reference/main.ts');
process.exitCode = await differential(process.argv.slice(2));
