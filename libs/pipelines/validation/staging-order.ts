import { quoteForMessage } from '#libs/typesystem';
import type { Ancestry } from '../document/ancestry.js';
import type { Notes } from '../document/notes.js';
import { TEMPDB } from '../document/pipeline-document.js';
import type { ReadNode } from '../document/read-nodes.js';

/**
 * A query on staged tables depends on every node that stages one of them (contract 01 §2): without that it is a race,
 * won on the author's machine and lost one day. A table that nobody stages is only remarked on.
 */
export function judgeStagingOrder(
  nodes: readonly ReadNode[],
  /** Tables a node's statement names, lower case; nodes without a readable statement are absent. */
  tablesOf: ReadonlyMap<ReadNode, readonly string[]>,
  ancestry: () => Ancestry,
  notes: Notes,
): void {
  const producers = new Map<string, number>();
  for (const [position, { output }] of nodes.entries()) {
    if (output?.target === 'tempdb' && output.table !== undefined && !producers.has(output.table)) {
      producers.set(output.table, position);
    }
  }
  // A DDL node may create tables of its own.
  const mayCreate = nodes.some(({ type, source }) => type === 'DDL' && source === TEMPDB);
  for (const [position, node] of nodes.entries()) {
    for (const table of tablesOf.get(node) ?? []) {
      const producer = producers.get(table);
      if (producer === undefined) {
        if (!mayCreate) warnUnknown(node, table, notes);
      } else if (!ancestry().precedes(producer, position)) refuse(node, table, nodes[producer]!, notes);
    }
  }
}

function refuse(node: ReadNode, table: string, producer: ReadNode, notes: Notes): void {
  notes.fail(
    'pipeline.validation.tempdb_input_unordered',
    `${node.path}.template`,
    producer === node
      ? `The statement reads ${quoteForMessage(table)}, which this node itself stages: nothing is in it yet.`
      : `The statement reads ${quoteForMessage(table)}, which ${producer.path} stages and need not have staged by then: add "${producer.id ?? ''}" to "depends_on".`,
    { table, producer: producer.path },
  );
}

function warnUnknown(node: ReadNode, table: string, notes: Notes): void {
  notes.warn(
    'pipeline.warning.tempdb_table_unknown',
    `${node.path}.template`,
    `No node stages the table ${quoteForMessage(table)} that the statement reads.`,
  );
}
