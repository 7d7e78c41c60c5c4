import { setSourceMapsSupport } from 'node:module';
import { workerData } from 'node:worker_threads';
import type { HostThreadData } from './execution-place.js';

// As in the process's own first file: a thread does not take this over.
setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });

const { serve } = await import('./thread-program.js');
await serve(workerData as HostThreadData);
