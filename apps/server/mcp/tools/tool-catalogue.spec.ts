import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { operationRow } from '#libs/identity';
import { readOperationsTable } from '../../../../test/fixtures/operations-table.js';
import { DECLARATIONS, LISTED_TOOLS } from './tool-catalogue.js';
import { inputSchema, scopeOf } from './tool.js';

const { rows } = readOperationsTable();
const contracted = [...rows].flatMap(([operation, { tools }]) => tools.map((tool) => [tool, operation] as const));

describe('the catalogue of tools', () => {
  it('is that of the operations table: all 41, and no other', () => {
    expect(contracted).toHaveLength(41);
    expect(DECLARATIONS.map(({ name }) => name).sort()).toEqual(contracted.map(([tool]) => tool).sort());
  });

  it('judges each tool by the operation that the table gives it', () => {
    for (const { name, operation } of DECLARATIONS) {
      expect([name, operation]).toEqual([name, new Map(contracted).get(name)]);
    }
  });

  it('has no tool that releases, promotes, grants, or makes a key', () => {
    for (const { name, operation } of DECLARATIONS) {
      expect([name, operation]).toEqual([
        name,
        expect.not.stringMatching(/release|promot|grant|key|member|switch|import$/),
      ]);
      // What only a person in a session may do is no tool's.
      expect([name, operationRow(operation).credentials.user]).toEqual([name, expect.any(String)]);
    }
  });

  it('publishes schemas that a strict compiler takes, closed for arguments, objects for results', () => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    for (const tool of LISTED_TOOLS) {
      const { name, inputSchema: input, outputSchema: output } = tool as Record<string, Record<string, unknown>>;

      ajv.compile(input!);
      ajv.compile(output!);
      expect([name, input!['type'], input!['additionalProperties'], output!['type']]).toEqual([name, 'object', false, 'object']);
      for (const [argument, schema] of Object.entries(input!['properties'] as Record<string, Record<string, unknown>>)) {
        expect([name, argument, schema['description']]).toEqual([name, argument, expect.stringMatching(/^[A-Z0-9].*[.)]$/s)]);
      }
    }
  }); // prettier-ignore

  it('says of every tool what a model needs to choose it', () => {
    for (const { name, title, description } of DECLARATIONS) {
      expect([name, title.length > 3, description.length > 60, description.endsWith('.')]).toEqual([name, true, true, true]);
    }
  }); // prettier-ignore

  it('hints that nothing which writes is read-only', () => {
    for (const [index, tool] of LISTED_TOOLS.entries()) {
      const declaration = DECLARATIONS[index]!;
      const { readOnlyHint } = tool['annotations'] as { readOnlyHint: boolean };
      expect([tool['name'], readOnlyHint]).toEqual([tool['name'], declaration.effect === 'reads']);
      if (scopeOf(declaration) === 'read') expect([declaration.name, readOnlyHint]).toEqual([declaration.name, true]);
      expect(inputSchema(declaration)['type']).toBe('object');
    }
  });
});
