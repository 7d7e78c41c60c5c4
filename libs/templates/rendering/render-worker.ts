import { workerData } from 'node:worker_threads';
import type { EngineTask, TaskResult } from './render-task.js';
import { TemplateEngine } from './template-engine.js';

const { cacheSize } = workerData as { cacheSize: number };
const engine = new TemplateEngine(cacheSize);

/** Runs one task in a worker thread, which a deadline may end at any moment. */
export default function runTask(task: EngineTask): TaskResult {
  return engine.run(task);
}
