import { KeepAliveClient } from './keep-alive-client.js';

/** Starts pipelines as any client does and reads their event streams to the end. */
export class Runs {
  readonly #client: KeepAliveClient;

  constructor(
    baseUrl: string,
    private readonly keys: readonly string[],
    connections: number,
  ) {
    this.#client = new KeepAliveClient(baseUrl, connections);
  }

  /** The stream's text; throws unless the run has completed. */
  async run(pipelineId: string, client = 0): Promise<string> {
    const text = await this.#client.send({
      method: 'POST',
      path: `/api/v1/pipelines/${pipelineId}/execute`,
      headers: {
        'DP-API-Key': this.keys[client % this.keys.length]!,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: '{"parameters":{}}',
    });
    if (text.includes('\nevent: pipeline_completed\n') && text.includes('event: execution_started\n')) return text;
    throw new TypeError(`The run did not complete: ${text.slice(-2000)}`);
  }

  /** Seconds from the launch to the end of the stream. */
  async seconds(pipelineId: string): Promise<number> {
    const started = performance.now();
    await this.run(pipelineId);
    return (performance.now() - started) / 1000;
  }

  close(): void {
    this.#client.close();
  }
}
