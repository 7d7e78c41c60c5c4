import type { CalculatorRecord } from './calculate-node.js';

/** Status words of `node_stats` (03 §9); a node that has not started has no entry. */
export type NodeStatus = 'RUNNING' | 'SUCCESS' | 'FAILED' | 'ABORTED';

/** One entry of `node_stats` (contract 02 §3). Times are wire stamps, sizes are bytes of the wire form. */
export interface NodeStat {
  node_id: string;
  status: NodeStatus;
  started_at: string | null;
  completed_at: string | null;
  duration_ms: number;
  /** Staged, written or delivered rows, the count of a DML, 0 for DDL; -1 = not measured. RUNNING: rows so far. */
  rows_out: number;
  bytes_out: number;
  error_code?: string;
  error_message?: string;
  /** Of a PIPELINE node, from the moment its child runs. */
  child_execution_id?: string;
}

/** An entry with what a CALCULATOR node adds to it. */
export type NodeEntry = NodeStat & CalculatorRecord;

const NOT_MEASURED = -1;

/** The state of every node of one run, in body order. */
export class NodeStats {
  readonly #entries = new Map<string, NodeEntry>();

  constructor(private readonly nodeIds: readonly string[]) {}

  started(nodeId: string, at: Date): void {
    this.#entries.set(nodeId, {
      node_id: nodeId,
      started_at: at.toISOString(),
      completed_at: null,
      duration_ms: 0,
      status: 'RUNNING',
      rows_out: 0,
      bytes_out: 0,
    });
  }

  progress(nodeId: string, rowsOut: number, bytesOut: number): void {
    const entry = this.#entries.get(nodeId);
    if (entry?.status === 'RUNNING') Object.assign(entry, { rows_out: rowsOut, bytes_out: bytesOut });
  }

  child(nodeId: string, executionId: string): void {
    const entry = this.#entries.get(nodeId);
    if (entry) entry.child_execution_id = executionId;
  }

  succeeded(nodeId: string, at: Date, rowsOut: number, bytesOut: number): NodeStat {
    return this.#end(nodeId, at, { status: 'SUCCESS', rows_out: rowsOut, bytes_out: bytesOut });
  }

  computed(nodeId: string, at: Date, record: CalculatorRecord): NodeEntry {
    return this.#end(nodeId, at, { status: 'SUCCESS', rows_out: 0, bytes_out: 0, ...record });
  }

  failed(nodeId: string, at: Date, error: { code: string; message: string }): NodeStat {
    return this.#end(nodeId, at, {
      status: 'FAILED',
      rows_out: NOT_MEASURED,
      error_code: error.code,
      error_message: error.message,
    });
  }

  /** Cut midway: no completion time. What the driver said on the way out is kept. */
  cut(nodeId: string, error?: { code: string; message: string }): void {
    const entry = this.#entries.get(nodeId);
    if (!entry) return;
    entry.status = 'ABORTED';
    entry.rows_out = NOT_MEASURED;
    if (!error) return;
    entry.error_code = error.code;
    entry.error_message = error.message;
  }

  /** At the end of a run that did not succeed: what did not start, or did not end, is ABORTED. */
  abortRest(): void {
    for (const nodeId of this.nodeIds) {
      const entry = this.#entries.get(nodeId);
      if (entry?.status === 'RUNNING') this.cut(nodeId);
      if (entry) continue;
      this.#entries.set(nodeId, {
        node_id: nodeId,
        status: 'ABORTED',
        started_at: null,
        completed_at: null,
        duration_ms: 0,
        rows_out: NOT_MEASURED,
        bytes_out: 0,
      });
    }
  }

  /** A node that had completed but whose result was lost again before the end. */
  failAfterwards(nodeId: string, error: { code: string; message: string }): void {
    const entry = this.#entries.get(nodeId);
    if (!entry) return;
    entry.status = 'FAILED';
    entry.rows_out = NOT_MEASURED;
    entry.error_code = error.code;
    entry.error_message = error.message;
  }

  /** Whether every other node has succeeded. */
  isLast(nodeId: string): boolean {
    return this.nodeIds.every((each) => each === nodeId || this.#entries.get(each)?.status === 'SUCCESS');
  }

  /** Entries so far, in body order. */
  snapshot(): NodeEntry[] {
    return this.nodeIds.flatMap((nodeId) => {
      const entry = this.#entries.get(nodeId);
      return entry ? [{ ...entry }] : [];
    });
  }

  #end(nodeId: string, at: Date, change: Partial<NodeEntry>): NodeEntry {
    const entry = this.#entries.get(nodeId);
    if (!entry?.started_at) throw new TypeError(`node "${nodeId}" has not started`);
    Object.assign(entry, change, {
      completed_at: at.toISOString(),
      duration_ms: Math.max(0, at.getTime() - Date.parse(entry.started_at)),
    });
    return { ...entry };
  }
}
