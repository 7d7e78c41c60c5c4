import { z, type ZodType } from 'zod';

/** A JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export type JsonSchema = Record<string, unknown>;

/**
 * Turns shapes into JSON Schemas. Shapes with an id become components, each written once and referred to from
 * everywhere. Only requests are closed: a client of answers has to ignore what it does not know (03 §5.2).
 */
export class SchemaWriter {
  readonly components = new Map<string, JsonSchema>();

  request(shape: ZodType): JsonSchema {
    return this.#write(shape, 'input');
  }

  answer(shape: ZodType): JsonSchema {
    return open(this.#write(shape, 'output'));
  }

  #write(shape: ZodType, io: 'input' | 'output'): JsonSchema {
    // In a wrapper, so that a shape with an id is referred to even where it stands alone.
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: shape }), { io, unrepresentable: 'any' });
    for (const [id, schema] of Object.entries($defs)) {
      const written = moved(schema) as JsonSchema;
      this.components.set(id, io === 'output' ? open(written) : written);
    }
    return moved((properties as Record<string, JsonSchema>)['root']) as JsonSchema;
  }
}

const CLOSED = 'additionalProperties';

function open(schema: JsonSchema): JsonSchema {
  return mapped(schema, (object) => {
    if (object[CLOSED] !== false) return object;
    const { [CLOSED]: _closed, ...rest } = object;
    return rest;
  }) as JsonSchema;
}

/** References to definitions become references to components; the bounds of doubles say nothing and go. */
function moved(schema: unknown): unknown {
  return mapped(schema, (object) => {
    const { $ref: reference, minimum, maximum, ...rest } = object;
    return {
      ...(typeof reference === 'string' ? { $ref: reference.replace('#/$defs/', '#/components/schemas/') } : {}),
      ...rest,
      ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
      ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    };
  });
}

function mapped(value: unknown, change: (object: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, mapped(each, change)]);
  return change(Object.fromEntries(entries) as JsonSchema);
}
