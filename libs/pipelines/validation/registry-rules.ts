import { refKey, reflected, type TemplateClosure } from '#libs/templates';
import { quoteForMessage, type Dialect } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import { TEMPDB, type PipelineSettings, type SqlNodeType } from '../document/pipeline-document.js';
import type { ReadNode } from '../document/read-nodes.js';
import type { Registry } from './registry.js';

/** A node whose template may be rendered: both it and the source are known and agree. */
export interface RenderableNode {
  node: ReadNode;
  /** Its place among the nodes that were read. */
  position: number;
  type: SqlNodeType;
  closure: TemplateClosure;
  /** What the statement is rendered, lexed and parsed as; tempdb speaks DUCKDB whatever word the engine has. */
  dialect: Dialect;
}

/** Judges every node's datasources and template against the registries, and keeps those worth rendering. */
export function judgeRegistries(
  nodes: readonly ReadNode[],
  settings: PipelineSettings,
  registry: Registry,
  notes: Notes,
): RenderableNode[] {
  const renderable: RenderableNode[] = [];
  for (const [position, node] of nodes.entries()) {
    const { type } = node;
    if (type === undefined || type === 'CALCULATOR') continue;
    const dialect = type === 'PIPELINE' ? undefined : judgeSource(node, registry, notes);
    judgeTarget(node, registry, notes);
    if (type === 'PIPELINE') continue;
    const closure = judgeTemplate(node, registry, notes);
    if (!closure || dialect === undefined) continue;
    if (judgeDialect(node, closure, dialect, settings, notes))
      renderable.push({ node, position, type, closure, dialect });
  }
  return renderable;
}

function judgeSource(node: ReadNode, registry: Registry, notes: Notes): Dialect | undefined {
  const { source, type, path } = node;
  if (source === TEMPDB) return 'DUCKDB';
  const datasource = source === undefined ? undefined : registry.datasources.get(source);
  if (!datasource) {
    unknownDatasource(`${path}.source`, source, notes);
    return undefined;
  }
  if (datasource.isReadonly && type !== 'DQL') {
    readonlyDatasource(`${path}.source`, source!, type === 'DML' ? 'dml_source' : 'ddl_source', notes);
  }
  return datasource.dialect;
}

function judgeTarget({ output, path }: ReadNode, registry: Registry, notes: Notes): void {
  if (output?.target !== 'datasource' || output.datasource === undefined) return;
  const datasource = registry.datasources.get(output.datasource);
  if (!datasource) unknownDatasource(`${path}.output.datasource`, output.datasource, notes);
  else if (datasource.isReadonly)
    readonlyDatasource(`${path}.output.datasource`, output.datasource, 'output_target', notes);
}

function unknownDatasource(path: string, name: string | undefined, notes: Notes): void {
  notes.fail(
    'pipeline.validation.unknown_datasource',
    path,
    name === undefined
      ? 'Name the datasource the node runs on, or "tempdb".'
      : `This workspace has no datasource ${quoteForMessage(name)}.`,
    name === undefined ? {} : { datasource: reflected(name) },
  );
}

function readonlyDatasource(path: string, name: string, shape: string, notes: Notes): void {
  notes.fail(
    'pipeline.validation.datasource_readonly',
    path,
    `The datasource "${name}" is registered read-only: use another one, or read from it only.`,
    { datasource: name, shape },
  );
}

function judgeTemplate({ template, path }: ReadNode, registry: Registry, notes: Notes): TemplateClosure | undefined {
  const { id, version } = template ?? {};
  if (id === undefined) {
    notes.fail(
      'pipeline.validation.template_not_found',
      `${path}.template${template === undefined ? '' : '.id'}`,
      'Name the template as {"id": its name, "version": its number}.',
    );
    return undefined;
  }
  if (version === undefined) {
    notes.fail(
      'pipeline.validation.template_version_not_found',
      `${path}.template.version`,
      'Pin an exact version: a whole number of 1 or more.',
      { template_id: reflected(id) },
    );
    return undefined;
  }
  const details = { template_id: reflected(id), template_version: version };
  const lookup = registry.templates.get(refKey({ id, version })) ?? { missing: 'template' };
  if ('missing' in lookup && lookup.missing === 'template') {
    notes.fail(
      'pipeline.validation.template_not_found',
      `${path}.template.id`,
      `This workspace has no template ${quoteForMessage(id)}.`,
      details,
    );
    return undefined;
  }
  if ('missing' in lookup || lookup.found.template.status === 'DISCARDED') {
    notes.fail(
      'pipeline.validation.template_version_not_found',
      `${path}.template.version`,
      `The template "${id}" has no usable version ${version}: it does not exist or was discarded.`,
      details,
    );
    return undefined;
  }
  if (lookup.found.template.isLibrary) {
    notes.fail(
      'pipeline.validation.template_type_mismatch',
      `${path}.template`,
      `"${id}" version ${version} is a library: import it into a template instead.`,
      { ...details, reason: 'library' },
    );
    return undefined;
  }
  return lookup.found;
}

function judgeDialect(
  { path, source }: ReadNode,
  { template }: TemplateClosure,
  dialect: Dialect,
  settings: PipelineSettings,
  notes: Notes,
): boolean {
  const alsoH2 = source === TEMPDB && settings.tempdbEngine === 'H2' && template.dialect === 'H2';
  if (template.dialect === dialect || alsoH2) return true;
  notes.fail(
    'pipeline.validation.template_dialect_mismatch',
    `${path}.template`,
    `The template is written for ${template.dialect}, the source speaks ${dialect}: pin a template of that dialect.`,
    {
      template_id: template.name,
      template_version: template.version,
      template_dialect: template.dialect,
      source_dialect: dialect,
    },
  );
  return false;
}
