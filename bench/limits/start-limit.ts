import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface LimitServer {
  baseUrl: string;
  stop(): Promise<void>;
}

/** Starts a server of this folder in a process of its own, as the product has one; it prints its port. */
export async function startLimit(script: string, args: readonly string[]): Promise<LimitServer> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
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
