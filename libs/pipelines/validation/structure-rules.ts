import { reflected } from '#libs/templates';
import { quoteForMessage } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import type { ReadNode } from '../document/read-nodes.js';

/** Node ids are unique. */
export function judgeNodeIds(nodes: readonly ReadNode[], notes: Notes): void {
  const first = new Map<string, string>();
  for (const { id, path } of nodes) {
    if (id === undefined) continue;
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, path);
    else {
      notes.fail(
        'pipeline.validation.duplicate_node_id',
        `${path}.id`,
        `The id ${quoteForMessage(id)} is already that of ${earlier}.`,
        { id: reflected(id), first: earlier },
      );
    }
  }
}

/** Two nodes never write one table, whatever their order. */
export function judgeOutputTables(nodes: readonly ReadNode[], notes: Notes): void {
  const first = new Map<string, string>();
  for (const { output, path } of nodes) {
    const { target, table } = output ?? {};
    if (table === undefined || (target !== 'tempdb' && target !== 'datasource')) continue;
    const place = target === 'tempdb' ? 'tempdb' : output?.datasource;
    if (place === undefined) continue;
    const key = `${target} ${place} ${table}`;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, path);
    else {
      notes.fail(
        'pipeline.validation.duplicate_output_table',
        `${path}.output.table`,
        `${earlier} already writes the table ${quoteForMessage(table)} of ${quoteForMessage(place)}: give each its own.`,
        { table: reflected(table), first: earlier },
      );
    }
  }
}

/** At most one node delivers to the caller, by word or by leaving `output` out (contract 01 §2). */
export function judgeCallers(nodes: readonly ReadNode[], notes: Notes): void {
  const callers = nodes.filter(
    ({ type, output }) =>
      (type === 'DQL' && output === undefined) ||
      ((type === 'DQL' || type === 'PIPELINE') && output?.target === 'caller'),
  );
  const [first, ...others] = callers;
  for (const node of others) {
    notes.fail(
      'pipeline.validation.multiple_caller_nodes',
      `${node.path}.output`,
      `${first!.path} already returns its rows to the caller: set this node's "output" to tempdb or a datasource.`,
      { first: first!.path },
    );
  }
}
