import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface BareHandler {
  baseUrl: string;
  stop(): Promise<void>;
}

/** Starts `bare-handler.mjs` in a process of its own, as the product has one. */
export async function startBareHandler(databaseUrl: string): Promise<BareHandler> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-handler.mjs'), databaseUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    baseUrl: `http://127.0.0.1:${line.toString().trim()}`,
    stop: async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
