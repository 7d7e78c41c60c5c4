import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { writeJson, type PenstockError } from '#libs/kernel';
import { writable } from '../protocol/exact-json.js';
import { ListedEntries } from './listed-entries.js';
import type { ToolDeclaration } from './tool.js';

/** A refusal that a tool has put together itself, such as the record of a failed run with the run's id beside it. */
export class RefusedResult {
  constructor(
    readonly code: string,
    readonly body: object,
  ) {}
}

/** The result of a call: its JSON text, and the same as an object for clients that read structured results. */
export function successResult({ wrappedAs }: ToolDeclaration, value: unknown, correlationId: string): CallToolResult {
  if (value instanceof ListedEntries) return listResult(value, correlationId);
  const structured = wrappedAs === undefined || isObject(value) ? value : { [wrappedAs]: value };
  return {
    content: [{ type: 'text', text: writeJson(value) }],
    structuredContent: writable(structured) as Record<string, unknown>,
    isError: false,
    _meta: { correlation_id: correlationId },
  };
}

/** A list; one that is cut says so beside itself, for readers of the text and of the structured result. */
function listResult(list: ListedEntries, correlationId: string): CallToolResult {
  const { entries, total, isCut, note } = list;
  return {
    content: [
      { type: 'text', text: writeJson(entries) },
      ...(note === undefined ? [] : [{ type: 'text' as const, text: note }]),
    ],
    structuredContent: writable({ items: entries, ...(isCut ? { total, truncated: true } : {}) }) as Record<
      string,
      unknown
    >,
    isError: false,
    _meta: { correlation_id: correlationId },
  };
}

/** The error of every other door, for the model to read. */
export function refusedResult(body: object, correlationId: string): CallToolResult {
  return {
    content: [{ type: 'text', text: writeJson(body) }],
    isError: true,
    _meta: { correlation_id: correlationId },
  };
}

export function refusalBody(error: PenstockError, baseUrl: string, correlationId: string) {
  return { error: { ...error.toBody(baseUrl), correlation_id: correlationId } };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
