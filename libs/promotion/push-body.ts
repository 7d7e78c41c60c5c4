import { fieldFailure, validationError, type Failure, type JsonObject, type JsonValue } from '#libs/kernel';

/** A push as far as its own members could be read; what the lists hold their families read. */
export interface PushBody {
  sourceEnv: string;
  workspace: string;
  templates: JsonValue | undefined;
  pipelines: JsonValue | undefined;
  endpoints: JsonValue | undefined;
}

const MEMBERS = ['source_env', 'key_fingerprint', 'workspace', 'templates', 'pipelines', 'endpoints'] as const;
const MAX_CHARS = 128;

/**
 * The fingerprint in the body is the sender's word: it is read and not believed, the audit row takes that of the key
 * which was presented.
 *
 * @throws PenstockError with everything that is wrong
 */
export function readPushBody(sent: JsonObject): PushBody {
  const failures: Failure[] = [];
  for (const key of Object.keys(sent)) {
    if (!(MEMBERS as readonly string[]).includes(key)) failures.push(stray(key));
  }
  const text = (name: 'source_env' | 'key_fingerprint' | 'workspace', required: boolean): string => {
    const value = sent[name];
    if (typeof value === 'string' && value.length <= MAX_CHARS) return value;
    if (value !== undefined || required)
      failures.push(wrong(name, `must be a text of ${MAX_CHARS} characters at most`));
    return '';
  };
  const sourceEnv = text('source_env', true);
  text('key_fingerprint', false);
  const workspace = text('workspace', true);
  if (failures.length > 0) throw validationError(failures);
  const { templates = [], pipelines = [], endpoints = [] } = sent;
  return { sourceEnv, workspace, templates, pipelines, endpoints };
}

function stray(key: string): Failure {
  const field = key.slice(0, 64);
  return {
    code: 'pipeline.execution.invalid_parameter_type',
    path: field,
    message: `A push holds ${MEMBERS.map((name) => `"${name}"`).join(', ')}, nothing else.`,
    details: { field, reason: 'unknown_field', allowed: [...MEMBERS] },
  };
}

function wrong(field: string, must: string): Failure {
  return fieldFailure(field, `"${field}" ${must}.`);
}
