import { describe, expect, it } from '@jest/globals';
import { buildSchema, execute, parse, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { Admission, OperationId } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';
import { catalogued } from '../errors/error-format.js';
import { OPERATION_EXTENSION } from '../schema/root-field.js';
import { Deadline } from './deadline.js';
import { guardSchema } from './guarded-schema.js';
import { OperationContext } from './operation-context.js';

const caller = { userId: 'u', correlationId: 'c' } as Principal;

/** Admits everything but one operation. */
function admission(refused?: OperationId): { admission: Admission; asked: string[] } {
  const asked: string[] = [];
  const admit = (_principal: Principal, operation: OperationId): Promise<undefined> => {
    asked.push(operation);
    return operation === refused ? Promise.reject(new PenstockError('auth.role_required')) : Promise.resolve(undefined);
  };
  const carryOut = (_principal: Principal, _operation: string, work: () => unknown): unknown => work();
  const carriedOut = (_principal: Principal, _operation: string, work: unknown): unknown => work;
  return { admission: { admit, carryOut, carriedOut } as unknown as Admission, asked };
}

function schemaOf(operations: Record<string, OperationId>, resolvers: Record<string, () => unknown>): GraphQLSchema {
  const schema = buildSchema(`
    type Thing { slow: Int lazy: Int plain: Int }
    type Query { a: Thing! b: Thing! }
    type Mutation { one: Int! two: Int! }
  `);
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const operation = operations[field.name];
      if (operation) field.extensions = { [OPERATION_EXTENSION]: operation };
      field.resolve = resolvers[field.name] ?? (() => ({}));
    }
  }
  for (const field of Object.values((schema.getType('Thing') as GraphQLObjectType).getFields())) {
    field.resolve = (source: Record<string, unknown>) => source[field.name];
  }
  return schema;
}

const ALL: Record<string, OperationId> = {
  a: 'profile.read',
  b: 'pipeline.read',
  one: 'profile.preference',
  two: 'session.own',
};

async function run(schema: GraphQLSchema, query: string, seconds = 30) {
  const contextValue = new OperationContext(caller, new Deadline(seconds), { requested: 0, max: 0 });
  const { data, errors } = await execute({ schema, document: parse(query), contextValue });
  contextValue.deadline.met();
  return { data: data as unknown, codes: (errors ?? []).map((error) => catalogued(error).code) };
}

describe('guardSchema', () => {
  it('refuses to start with a root field that names no operation, or one that is none', () => {
    const { admission: guard } = admission();
    expect(() => guardSchema(schemaOf({ ...ALL, b: undefined as never }, {}), guard)).toThrow(/b names no operation/);
  });

  it('judges before the resolver runs, and voids nothing but the refused field', async () => {
    const { admission: guard, asked } = admission('pipeline.read');
    let ran = false;
    const schema = guardSchema(
      schemaOf(ALL, {
        a: () => ({ plain: 1 }),
        b: () => {
          ran = true;
          return {};
        },
      }),
      guard,
    );
    expect(await run(schema, '{ a { plain } b { plain } }')).toEqual({
      data: { a: { plain: 1 }, b: null },
      codes: ['auth.role_required'],
    });
    expect([ran, asked]).toEqual([false, ['profile.read', 'pipeline.read']]);
  });

  it('keeps the answer of a mutation that committed when the next one fails', async () => {
    const schema = guardSchema(
      schemaOf(ALL, { one: () => 1, two: () => Promise.reject(new PenstockError('workspace.last_admin')) }),
      admission().admission,
    );
    expect(await run(schema, 'mutation { one two }')).toEqual({
      data: { one: 1, two: null },
      codes: ['workspace.last_admin'],
    });
  });

  it('calls what is lazy only where it is selected', async () => {
    let calls = 0;
    const thing = { plain: 1, lazy: () => Promise.resolve(++calls) };
    const schema = guardSchema(schemaOf(ALL, { a: () => thing }), admission().admission);
    expect((await run(schema, '{ a { plain } }')).data).toEqual({ a: { plain: 1 } });
    expect(calls).toBe(0);
    expect((await run(schema, '{ a { lazy } }')).data).toEqual({ a: { lazy: 1 } });
  });

  it('gives up open fields when the time is over, and keeps what is there', async () => {
    const never = new Promise<number>(() => undefined);
    const schema = guardSchema(
      schemaOf(ALL, { a: () => ({ plain: 1, slow: () => never }), b: () => never }),
      admission().admission,
    );
    expect(await run(schema, '{ a { plain slow } b { plain } }', 0.05)).toEqual({
      data: { a: { plain: 1, slow: null }, b: null },
      codes: expect.arrayContaining(['graphql.timeout', 'graphql.timeout']),
    });
  });
});
