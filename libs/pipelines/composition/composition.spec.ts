import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PipelineView } from '#libs/pipelines';
import { createWorkspace } from '../../../test/fixtures/authors.js';
import { usePipelineBench } from '../../../test/fixtures/pipeline-bench.js';
import { authoringInstance, document, failuresOf, refusal } from '../../../test/fixtures/pipelines.js';
import { RULE_GROUPS } from '../document/rule-groups.js';
import { PipelineAuthoring } from '../pipeline-authoring.js';
import { ReadOnlyPipelines } from '../read-only-pipeline.js';
import { DocumentValidation } from '../validation/document-validation.js';
import { PinnedPipelines } from './pinned-pipelines.js';

type Json = Record<string, unknown>;
const bench = usePipelineBench();
const tempdb = (table: string) => ({ target: 'tempdb', table });
const call = (child: { name?: unknown }, over: Json = {}): Json => ({
  id: 'call',
  type: 'PIPELINE',
  pipeline: { name: child.name, version: 1 },
  ...over,
});

/** A released pipeline whose nodes are these. */
const calling = (...nodes: Json[]): Promise<PipelineView> => bench.released(bench.body({ nodes }));

/** Every code that a test of this file has seen. */
const raised = new Set<string>();

async function judge(nodes: Json[], parameters: Json = {}, name?: string) {
  const body = bench.body({ nodes, parameters, ...(name === undefined ? {} : { name }) });
  const { failures } = await bench.instance.get(DocumentValidation).judge(bench.team.id, body);
  for (const { code, message } of failures) {
    raised.add(code);
    expect(message).toMatch(/\.$/);
  }
  return failures.map(({ code, path, details }) => ({ code: code.split('.').at(-1)!, path, details }));
}

describe('PIPELINE nodes at save', () => {
  let child: PipelineView;
  let mute: PipelineView;
  let draft: PipelineView;
  let gone: PipelineView;

  beforeAll(async () => {
    bench.template = await bench.newTemplate();
    child = await bench.released(
      bench.body({
        parameters: {
          day: { type: 'DATE', required: true },
          limit: { type: 'DECIMAL', precision: 6, scale: 2 },
          note: { type: 'STRING', default: 'n' },
        },
      }),
    );
    mute = await bench.released(bench.body({ nodes: [bench.node({ output: tempdb('t') })] }));
    draft = await bench.authoring.create(bench.team.principal(), bench.body());
    gone = await bench.released();
    await bench.lifecycle.discard(bench.team.principal(), gone.id, 1);
  });

  it('pass with literals, references of the same type, and any kind of output', async () => {
    const parameters = { on: { type: 'DATE' }, most: { type: 'DECIMAL', precision: 10, scale: 4 } };
    const good: Json[][] = [
      [call(child, { parameters: { day: '2024-02-29', limit: 12.5, note: 'ü "q" $5' } })],
      [call(child, { parameters: { day: '${on}', limit: '${most}', note: '${org_timezone}' }, output: tempdb('t') })],
      [call(child, { parameters: { day: '${current_date}', note: null }, output: { target: 'caller' } })],
      [
        call(child, {
          parameters: { day: '${on}' },
          output: { target: 'datasource', datasource: 'pg', table: 't', mode: 'append' },
          settings: { timeout_seconds: 10 },
        }),
      ],
      [call(mute)],
      [call(child, { parameters: { day: '${on}' } }), bench.node()],
    ];
    for (const nodes of good) expect(await judge(nodes, parameters)).toEqual([]);
  });

  it('are stored in normal form, and read back as they were written', async () => {
    const view = await bench.authoring.create(
      bench.team.principal(),
      bench.body({ nodes: [call(child, { parameters: { day: '2024-02-29', limit: 1.5, note: null }, junk: 1 })] }),
    );
    expect(view.warnings).toMatchObject([{ code: 'pipeline.warning.unknown_field', path: 'nodes[0].junk' }]);
    expect(JSON.stringify(view.nodes)).not.toContain('note');
    expect((await bench.catalog.forRun(bench.team.id, view.id))?.document.nodes).toMatchObject([
      { type: 'PIPELINE', pipeline: { name: child.name, version: 1 } },
    ]);
  });

  const day = { day: '2024-01-01' };
  const cases: [code: string, nodes: () => Json[], path: string, details?: Json][] = [
    ['pipeline_not_found', () => [call({ name: 'no/where' })], 'nodes[0].pipeline.name'],
    ['pipeline_not_found', () => [{ id: 'c', type: 'PIPELINE' }], 'nodes[0].pipeline'],
    ['pipeline_not_found', () => [call(child, { pipeline: { version: 1 } })], 'nodes[0].pipeline.name'],
    [
      'pipeline_version_not_found',
      () => [call(child, { pipeline: { name: child.name, version: 99 } })],
      'nodes[0].pipeline.version',
    ],
    [
      'pipeline_version_not_found',
      () => [call(child, { pipeline: { name: child.name } })],
      'nodes[0].pipeline.version',
    ],
    [
      'pipeline_version_not_found',
      () => [call(child, { pipeline: { name: child.name, version: '1' } })],
      'nodes[0].pipeline.version',
    ],
    [
      'pipeline_version_not_found',
      () => [call(child, { pipeline: { name: child.name, version: 999_999_999_999_999 } })],
      'nodes[0].pipeline.version',
    ],
    ['pipeline_reference_not_released', () => [call(draft)], 'nodes[0].pipeline.version', { status: 'DRAFT' }],
    ['pipeline_reference_deleted', () => [call(gone)], 'nodes[0].pipeline.name'],
    ['pipeline_self_reference', () => [call({ name: 'own/name' })], 'nodes[0].pipeline.name'],
    ['pipeline_node_has_source', () => [call(mute, { source: 'pg' })], 'nodes[0].source'],
    ['pipeline_node_has_template', () => [call(mute, { template: { id: 'x', version: 1 } })], 'nodes[0].template'],
    ['pipeline_parameter_unmapped', () => [call(child)], 'nodes[0].parameters', { parameter: 'day', expected: 'DATE' }],
    ['pipeline_parameter_unmapped', () => [call(child, { parameters: { day: null } })], 'nodes[0].parameters'],
    [
      'pipeline_parameter_unknown',
      () => [call(child, { parameters: { ...day, other: 1 } })],
      'nodes[0].parameters.other',
      { reason: 'parameter' },
    ],
    [
      'pipeline_parameter_unknown',
      () => [call(child, { parameters: { day: '${nothing}' } })],
      'nodes[0].parameters.day',
      { reason: 'reference' },
    ],
    [
      'pipeline_parameter_type_mismatch',
      () => [call(child, { parameters: { day: '${word}' } })],
      'nodes[0].parameters.day',
      { found: 'STRING', expected: 'DATE' },
    ],
    [
      'pipeline_parameter_type_mismatch',
      () => [call(child, { parameters: { day: '2023-02-29' } })],
      'nodes[0].parameters.day',
      { reason: 'literal' },
    ],
    [
      'pipeline_parameter_type_mismatch',
      () => [call(child, { parameters: { ...day, limit: 1.234 } })],
      'nodes[0].parameters.limit',
      { reason: 'literal' },
    ],
    [
      'pipeline_parameter_type_mismatch',
      () => [call(child, { parameters: { ...day, note: 'a ${word}' } })],
      'nodes[0].parameters.note',
      { reason: 'expression' },
    ],
    [
      'pipeline_parameter_type_mismatch',
      () => [call(child, { parameters: { ...day, note: ['x'] } })],
      'nodes[0].parameters.note',
      { reason: 'literal' },
    ],
    ['pipeline_output_on_sideeffect_child', () => [call(mute, { output: tempdb('t') })], 'nodes[0].output'],
    [
      'node_query_timeout_invalid',
      () => [call(mute, { settings: { query_timeout_seconds: 5 } })],
      'nodes[0].settings.query_timeout_seconds',
    ],
    [
      'multiple_caller_nodes',
      () => [bench.node(), call(child, { parameters: day, output: { target: 'caller' } })],
      'nodes[1].output',
    ],
    [
      'duplicate_output_table',
      () => [bench.node({ output: tempdb('t') }), call(child, { parameters: day, output: tempdb('t') })],
      'nodes[1].output.table',
    ],
    [
      'unknown_datasource',
      () => [
        call(child, {
          parameters: day,
          output: { target: 'datasource', datasource: 'nope', table: 't', mode: 'append' },
        }),
      ],
      'nodes[0].output.datasource',
    ],
    ['calculator_fields_on_non_calculator', () => [call(mute, { kind: 'round' })], 'nodes[0].kind'],
  ];
  it.each(cases.map(([code, nodes, path, details]) => ({ code, nodes, path, details })))(
    '$code at $path',
    async ({ code, nodes, path, details }) => {
      const found = await judge(nodes(), { word: { type: 'STRING' } }, 'own/name');
      expect(found).toMatchObject([{ code, path, ...(details ? { details } : {}) }]);
    },
  );

  it('of another workspace’s pipeline are as unknown as ones that do not exist', async () => {
    const other = await createWorkspace(bench.db.database);
    const body = document({ name: 'z/z', nodes: [call(child, { parameters: day })] });
    const { failures } = await bench.instance.get(DocumentValidation).judge(other.id, body);
    expect(failures.map(({ code }) => code)).toEqual(['pipeline.validation.pipeline_not_found']);
    expect(failures[0]!.message).toContain('has no pipeline');
  });

  it('tell every defect at once', async () => {
    const found = await judge([
      call(child, { source: 'pg', parameters: { limit: 'x', other: 1 }, output: { target: 'no' } }),
    ]);
    expect(found.map(({ code }) => code)).toEqual([
      'output_target_invalid',
      'pipeline_node_has_source',
      'pipeline_parameter_type_mismatch',
      'pipeline_parameter_unknown',
      'pipeline_parameter_unmapped',
    ]);
  });
});

describe('the tree below a pipeline', () => {
  const chain = async (depth: number) => {
    let top = await bench.released();
    for (let level = 1; level < depth; level++) top = await calling(call(top));
    return top;
  };

  it('may be as deep as configured, the caller counted, and no deeper', async () => {
    const four = await chain(4);
    expect(await judge([call(four)])).toEqual([]);
    const five = await calling(call(four));
    expect(await judge([bench.node({ output: tempdb('t') }), call(five)])).toMatchObject([
      {
        code: 'composition_too_deep',
        path: 'nodes[1].pipeline',
        details: { reason: 'depth', max_depth: 5, depth: 6, chain: { length: 5 } },
      },
    ]);
    const shallow = await authoringInstance(bench.db.database, { DATAPIPELINES_PIPELINES_MAX_COMPOSITION_DEPTH: '4' });
    const body = bench.body({ nodes: [call(four)] });
    const { failures } = await shallow.get(DocumentValidation).judge(bench.team.id, body);
    expect(failures).toMatchObject([{ details: { depth: 5, max_depth: 4 } }]);
    await shallow.close();
  });

  it('has at most 10,000 nodes, each call counted as often as it is made', async () => {
    const many = (child: PipelineView, count: number) =>
      Array.from({ length: count }, (_, index) => call(child, { id: `c${index}` }));
    const leaf = await bench.released();
    const ten = await calling(...many(leaf, 99));
    const fits = await judge(many(ten, 98));
    // 98 + 98 · 99 + 98 · 99 nodes are more than 10,000, although only three documents are read.
    expect(fits).toMatchObject([
      { code: 'composition_too_deep', path: 'nodes[0].pipeline', details: { reason: 'tree_size' } },
    ]);
    expect(await judge(many(ten, 50))).toEqual([]);
  });

  it('is read with one statement a level, however wide it is', async () => {
    const [a, b] = [await bench.released(), await bench.released()];
    const wide = await calling(call(a, { id: 'a' }), call(b, { id: 'b' }), call(a, { id: 'c' }));
    const nodes = [call(wide, { id: 'x' }), call(a, { id: 'y' }), call(b, { id: 'z' })];
    const pinned = bench.instance.get(PinnedPipelines);
    let statements = 0;
    const lookup = pinned.lookup.bind(pinned);
    pinned.lookup = (...args) => {
      statements++;
      return lookup(...args);
    };
    expect(await judge(nodes)).toEqual([]);
    pinned.lookup = lookup;
    // Level two holds nothing that level one has not read.
    expect(statements).toBe(1);
  });
});

describe('what a parent pins', () => {
  const refused = async (work: Promise<unknown>) => {
    const error = await refusal(work);
    return { code: error.code, status: error.status, details: error.details };
  };
  const me = () => bench.team.principal();

  it('cannot be discarded while a draft or a release calls it, and can when none does', async () => {
    const child = await bench.released();
    const parent = await bench.authoring.create(me(), bench.body({ nodes: [call(child)] }));
    expect(await refused(bench.lifecycle.discard(me(), child.id, 1))).toMatchObject({
      code: 'pipeline.version.pinned',
      status: 409,
      details: {
        referencing_pipelines: [parent.name],
        references: [{ pipeline: parent.name, node_id: 'call', pipeline_version: 1, pipeline_version_status: 'DRAFT' }],
      },
    });
    const released = await bench.lifecycle.release(me(), parent.id, parent.body_hash);
    expect(await refused(bench.lifecycle.discard(me(), child.id, 1))).toMatchObject({
      code: 'pipeline.version.pinned',
    });
    await bench.lifecycle.discard(me(), released.id, 1);
    expect(await bench.lifecycle.discard(me(), child.id, 1)).toMatchObject({ status: 'DISCARDED' });
    // Restoring the parent would bring a call of something discarded back to life.
    expect(await refused(bench.lifecycle.restore(me(), parent.id, 1))).toMatchObject({
      code: 'pipeline.version.pinned',
      details: { reason: 'pins_discarded', pins: [{ pipeline: child.name, pipeline_version: 1, status: 'DISCARDED' }] },
    });
    await bench.lifecycle.restore(me(), child.id, 1);
    expect(await bench.lifecycle.restore(me(), parent.id, 1)).toMatchObject({ status: 'RELEASED' });
  });

  it('that is discarded while the parent is saved refuses the save, or waits for it and is refused', async () => {
    for (let round = 0; round < 6; round++) {
      const child = await bench.released();
      const [saved, discarded] = await Promise.allSettled([
        bench.authoring.create(me(), bench.body({ nodes: [call(child)] })),
        bench.lifecycle.discard(me(), child.id, 1),
      ]);
      // Never both: a live parent of a discarded child.
      expect([saved.status, discarded.status].sort()).toEqual(['fulfilled', 'rejected']);
      if (saved.status === 'rejected') {
        expect(failuresOf(saved.reason as never).map(({ code }) => code)).toEqual([
          expect.stringMatching(/pipeline_reference_(not_released|deleted)$/),
        ]);
      }
      if (discarded.status === 'rejected') expect(discarded.reason).toMatchObject({ code: 'pipeline.version.pinned' });
    }
  });

  it('that is discarded between the rules and the write refuses the write, with nothing stored', async () => {
    const child = await bench.released();
    const instance = await authoringInstance(bench.db.database);
    const validation = instance.get(DocumentValidation);
    const accept = validation.accept.bind(validation);
    validation.accept = async (...args) => {
      const accepted = await accept(...args);
      await bench.lifecycle.discard(me(), child.id, 1);
      return accepted;
    };
    const body = bench.body({ nodes: [call(child)] });
    const error = await refusal(instance.get(PipelineAuthoring).create(me(), body));
    expect(failuresOf(error)).toMatchObject([
      { code: 'pipeline.validation.pipeline_reference_not_released', path: 'nodes[0].pipeline.version' },
    ]);
    expect(await bench.catalog.idOf(bench.team.id, String(body.name))).toBeUndefined();
    await instance.close();
  });

  it('is looked at again by the release: a pin that a restore of data left behind refuses it', async () => {
    const child = await bench.released();
    const parent = await bench.authoring.create(me(), bench.body({ nodes: [call(child)] }));
    await bench.db.database.execute(
      `UPDATE pipeline_versions SET status = 'DISCARDED', discarded_at = NOW(), discarded_by = $2 WHERE pipeline_id = $1`,
      [child.id, me().userId],
    );
    expect(failuresOf(await refusal(bench.lifecycle.release(me(), parent.id, parent.body_hash)))).toMatchObject([
      { code: 'pipeline.validation.pipeline_reference_deleted' },
    ]);
  });

  it('decides whether a composition only reads', async () => {
    const readOnly = bench.instance.get(ReadOnlyPipelines);
    const verdict = async (...nodes: Json[]) => {
      const { id } = await bench.authoring.create(me(), bench.body({ nodes }));
      return readOnly.judge(bench.team.id, (await bench.catalog.forRun(bench.team.id, id))!.document);
    };
    const reading = await calling(call(await bench.released()));
    const target = { target: 'datasource', datasource: 'pg', table: 't', mode: 'append' };
    const writing = await calling(call(await bench.released(bench.body({ nodes: [bench.node({ output: target })] }))));
    expect(await verdict(call(reading))).toEqual({ ok: true });
    expect(await verdict(call(reading, { id: 'a' }), call(writing, { id: 'b' }))).toEqual({
      ok: false,
      nodeId: 'b',
      datasource: 'pg',
    });
    expect(await verdict(call(await bench.released(), { output: target }))).toMatchObject({ nodeId: 'call' });
  });
});

describe('every code of the composition group', () => {
  it('has been raised by a document of this file', () => {
    expect(RULE_GROUPS.composition.filter((code) => !raised.has(code))).toEqual([]);
  });
});
