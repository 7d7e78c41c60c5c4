import { setSourceMapsSupport } from 'node:module';

// Read by the native parts of the process at their first use, so set before anything else is imported: every DuckDB
// call holds a libuv thread (02 §1), and nothing may depend on the machine's time zone (01 §5.1).
process.env['UV_THREADPOOL_SIZE'] ??= '24';
process.env.TZ = 'UTC';

// Stacks name our sources. Those of packages are left as they are: their maps would take 15 MB.
setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });

const { serve } = await import('./boot/serve.js');
await serve(process.env);
