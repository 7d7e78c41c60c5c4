import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { ExactNumber } from '#libs/kernel';
import type { ParameterDeclaration } from '#libs/pipelines';
import { processRoutes } from '../../../test/fixtures/process-routes.js';
import { root } from '../../../test/fixtures/keeper-state.js';
import { Describe } from '../http/describe.decorator.js';
import { parseInput, queryText } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { routesOfController, type HandlerRoute } from '../http/routes-of.js';
import { endpointDocument } from './endpoint-document.js';
import { documentationGaps } from './documentation-gaps.js';
import { openapiDocument } from './openapi-document.js';
import { operationId } from './operation-object.js';
import { renderOpenapi } from './render-openapi.js';

type Json = Record<string, unknown>;
type PathItems = Record<string, Record<string, Json & { parameters: Json[]; responses: Record<string, Json> }>>;

const document = await renderOpenapi();
const operations = Object.entries(document['paths'] as PathItems).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const routes = await processRoutes();

describe('what every route says of itself', () => {
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
    expect(documentationGaps(route)).toEqual([]);
  });

  it('fails on a route without a description, and says what to write', () => {
    expect(gapsOf('bare').join()).toMatch(
      /SketchController\.bare \(GET \/sketch\/bare\) has no @Describe\. Write .*errors: \[/s,
    );
  });

  it.each([
    ['terse', /one sentence/],
    ['speechless', /names no status/],
    ['addressing', /name at least the code of its 404/],
    ['curious', /the query parameters q are read and not declared/],
    ['conditional', /the headers If-Match are read and not declared/],
    ['swallowing', /the body is read and not declared/],
    ['unpaged', /offset, limit, after are not declared.*does not name graphql\.cursor_invalid/s],
    ['unruled', /no row in libs\/identity\/operations\.ts/],
  ])('fails on a route that is %s', (name, gap) => {
    expect(gapsOf(name).join()).toMatch(gap);
  });

  it('does not start with a handler that names no operation', () => {
    @Controller('/sketch')
    class LawlessController {
      @Get()
      read(): void {}
    }
    expect(() => routesOfController(LawlessController)).toThrow('LawlessController.read has no @Operation');
  });
});

describe('the OpenAPI document', () => {
  it('is committed as it is served', () => {
    // After a change of a route or a shape run: npm run build && node scripts/generate-docs.mjs
    expect(JSON.parse(readFileSync(join(root, 'docs/generated/openapi.json'), 'utf8'))).toEqual(plain(document));
  });

  it('holds every route but those of GraphQL, which OpenAPI cannot describe', () => {
    const expected = routes
      .filter(({ path }) => !path.startsWith('/graphql'))
      .map(({ handler }) => operationId(handler));
    expect(operations.map(({ operation }) => operation['operationId']).sort()).toEqual(expected.sort());
    expect(new Set(expected).size).toBe(expected.length);
  });

  it('names for every operation who may call it, and what it refuses by status', () => {
    for (const { path, method, operation } of operations) {
      expect([path, method, operation['x-penstock-operation']]).toEqual([path, method, expect.any(String)]);
      const refused = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
      expect([path, method, refused]).toEqual([path, method, expect.arrayContaining(['400', '500'])]);
      if (operation['x-penstock-operation'] !== 'public')
        expect(refused).toEqual(expect.arrayContaining(['401', '403', '429']));
    }
  });

  it('tells of a grant only what it can answer', () => {
    const told = (method: string): string =>
      JSON.stringify(operations.find((each) => each.path.endsWith('/grants/{workspace}') && each.method === method));
    for (const method of ['post', 'delete']) {
      expect(told(method)).toContain('workspace.not_found');
      expect(told(method)).not.toContain('datasource.in_use');
    }
    // What is not granted is absent: no route ever answers that a grant is what it lacks.
    expect(JSON.stringify(operations)).not.toContain('datasource.grant_required');
  });

  it('declares each variable of a path once, as OpenAPI demands', () => {
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = operation.parameters.filter((each) => each['in'] === 'path').map((each) => each['name']);
      expect([path, declared]).toEqual([path, named]);
    }
  });

  it('tells of each look at a live catalog that it may take too long, and of columns what may be missing', () => {
    const below = '/api/v1/datasources/{name}';
    const told = (path: string) => JSON.stringify(operations.find((each) => each.path === `${below}${path}`));
    for (const path of ['/schemas', '/tables', '/tables/{table}/columns'])
      expect(told(path)).toContain('pipeline.node.query_timeout');
    for (const code of ['pipeline.execution.parameter_required', 'datasource.lake_table_not_found'])
      expect(told('/tables/{table}/columns')).toContain(code);
  });

  it('refers to nothing that is not in it', () => {
    for (const [, reference = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = reference.split('/').reduce<unknown>((at, key) => (at as Json | undefined)?.[key], document);
      expect([reference, typeof target]).toEqual([reference, 'object']);
    }
  });

  it('is made of schemas that a validator of JSON Schema 2020-12 takes', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const id = 'urn:penstock:openapi';
    ajv.addSchema({ $id: id, ...(plain(document) as Json) });
    const shapes = Object.keys((document['components'] as Record<string, Json>)['schemas'] ?? {});
    expect(shapes.length).toBeGreaterThan(30);
    for (const name of shapes) {
      expect([name, typeof ajv.compile({ $ref: `${id}#/components/schemas/${name}` })]).toEqual([name, 'function']);
    }
  });

  it('is what the official schema of OpenAPI 3.1 asks for', async () => {
    expect(await judged(plain(document))).toEqual({ version: '3.1', errors: undefined });
    expect((await judged({ openapi: '3.1.0', info: {} })).errors).toBeDefined();
  });

  it('closes what is sent and leaves open what is answered, because answers grow', () => {
    const only = openapiDocument(routesOfController(ShapedController), '1');
    const { post } = (only['paths'] as Record<string, { post: Json }>)['/sketch/shaped'] as { post: Json };
    const schemas = JSON.stringify([post['requestBody'], post['responses']]);
    expect(schemas.match(/"additionalProperties":false/g)).toHaveLength(1);
    expect(JSON.stringify(post['requestBody'])).toContain('"additionalProperties":false');
  });
});

describe('the OpenAPI document of one endpoint', () => {
  const endpoint = {
    id: 'e',
    path: '/fleet/{day}',
    url: '/api/x/fleet/{day}',
    pipeline_id: 'p',
    pipeline_name: 'fleet/daily',
    timeout_seconds: 30,
    description: '',
    enabled: true,
    path_variables: ['day'],
    created_by: 'u',
    created_at: '',
    updated_at: '',
  };
  const parameters = new Map<string, ParameterDeclaration>([
    ['day', { type: 'DATE', required: true }],
    ['least', { type: 'BIGDECIMAL', precision: 20, scale: 2, required: false, default: new ExactNumber('1.50') }],
  ]);
  const columns = [
    { name: 'id', type: 'BIGINTEGER', nullable: false },
    { name: 'share', type: 'DECIMAL', precision: 5, scale: 2 },
  ];

  it('is what the official schema asks for, with and without a run on record', async () => {
    for (const seen of [columns, undefined]) {
      const written = plain(endpointDocument({ endpoint, version: 3, parameters, columns: seen }));
      expect(await judged(written)).toEqual({ version: '3.1', errors: undefined });
    }
  });

  it('types parameters by their place and columns by the wire form, NULL where the column allows it', () => {
    const written = JSON.stringify(endpointDocument({ endpoint, version: 3, parameters, columns }));
    expect(written).toContain('{"name":"day","in":"path","required":true,"schema":{"type":"string","format":"date"}}');
    expect(written).toContain('"name":"least","in":"query","required":false,"description":"Default: 1.50."');
    expect(written).toContain('{"title":"id","type":"string","format":"int64"');
    expect(written).toContain('{"title":"share","type":["number","null"],"description":"DECIMAL(5, 2)"}');
  });
});

const only = z.strictObject({ a: z.string() });

@Controller('/sketch')
class ShapedController {
  @Post('shaped')
  @Operation('public')
  @Describe('Take one thing and give another.', { body: only, answers: { 200: z.object({ b: only }) }, errors: [] })
  shape(): void {}
}

const described = { answers: { 200: z.string() }, errors: [] };

@Controller('/sketch')
class SketchController {
  @Get('bare')
  @Operation('public')
  bare(): void {}

  @Get('terse')
  @Operation('public')
  @Describe('x', described)
  terse(): void {}

  @Get('speechless')
  @Operation('public')
  @Describe('Say nothing at all.', { answers: {}, errors: [] })
  speechless(): void {}

  @Get('addressing/:id')
  @Operation('pipeline.read')
  @Describe('Read one sketch.', described)
  addressing(): void {}

  @Get('curious')
  @Operation('public')
  @Describe('Read what is asked for.', described)
  curious(@Req() request: Request): unknown {
    return queryText(request, 'q');
  }

  @Get('conditional')
  @Operation('public')
  @Describe('Read on a condition.', described)
  conditional(@Req() request: Request): unknown {
    return request.get('If-Match');
  }

  @Post('swallowing')
  @Operation('public')
  @Describe('Take what is sent.', described)
  swallowing(@Req() request: Request): unknown {
    return parseInput(z.strictObject({}), request.body);
  }

  private readonly paging = { list: (_request: Request, _source: object): unknown => undefined };

  @Get('unpaged')
  @Operation('public')
  @Describe('Read a page of a list.', described)
  unpaged(@Req() request: Request): unknown {
    return this.paging.list(request, {});
  }

  @Get('unruled')
  @Operation('sketch.read' as never)
  @Describe('Read without a rule.', described)
  unruled(): void {}
}

function gapsOf(name: string): string[] {
  const route = routesOfController(SketchController).find(({ handler }) =>
    handler.endsWith(`.${name}`),
  ) as HandlerRoute;
  return documentationGaps(route);
}

async function judged(written: unknown): Promise<{ version: string | undefined; errors: unknown }> {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(written as Record<string, unknown>);
  return { version: validator.version, errors: valid ? undefined : errors };
}

/** Without the members that are undefined, as JSON has none. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
