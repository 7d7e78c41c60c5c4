import { describe, it, expect } from '@jest/globals';
import { PenstockError, validationError, type Failure } from './penstock-error.js';

describe('PenstockError', () => {
  it('takes status and texts from the catalogue', () => {
    const error = new PenstockError('workspace.not_found');
    expect(error.status).toBe(404);
    expect(error.message).toBe('There is no such workspace that you can see.');
  });

  it('answers with the second status where a code has two, and refuses any other', () => {
    // Publishing and serving the same unfit pipeline are different faults to a caller (03 §10).
    expect(new PenstockError('endpoint.pipeline_not_readonly').status).toBe(409);
    expect(new PenstockError('endpoint.pipeline_not_readonly', { status: 503 }).status).toBe(503);
    expect(new PenstockError('auth.login.domain_not_allowed', { status: 400 }).status).toBe(400);
    expect(() => new PenstockError('workspace.not_found', { status: 403 })).toThrow(TypeError);
  });

  it('counts a code that is only ever recorded as 500, should it be thrown after all', () => {
    expect(new PenstockError('pipeline.execution.instance_lost').status).toBe(500);
  });

  it('keeps its cause for the log and off the wire', () => {
    const cause = new TypeError('secret internals');
    const error = new PenstockError('internal', { cause });
    expect(error.cause).toBe(cause);
    expect(JSON.stringify(error.toBody('https://p.example'))).not.toContain('secret internals');
    expect(error.toBody('https://p.example')).toEqual({
      code: 'internal',
      message: 'Something unexpected failed in the server.',
      user_message: 'Try again; if it stays, tell the operator the correlation id.',
      details: {},
      doc_url: 'https://p.example/docs/errors#internal',
    });
  });
});

describe('validationError', () => {
  const failure = (index: number): Failure => ({
    code: 'pipeline.validation.type_invalid',
    path: `nodes[${index}].type`,
    message: `bad ${index}`,
    details: { index },
  });

  it('is the first failure on top and all of them in details', () => {
    const error = validationError([failure(0), { ...failure(1), details: undefined }]);
    expect(error.code).toBe('pipeline.validation.type_invalid');
    expect(error.message).toBe('bad 0');
    expect(error.details).toEqual({
      index: 0,
      failures: [
        { code: 'pipeline.validation.type_invalid', path: 'nodes[0].type', message: 'bad 0', details: { index: 0 } },
        { code: 'pipeline.validation.type_invalid', path: 'nodes[1].type', message: 'bad 1', details: {} },
      ],
    });
  });

  it('lists 200 failures and says that there are more', () => {
    // A document with 1000 broken nodes must not make a response of megabytes.
    const error = validationError(Array.from({ length: 201 }, (_, index) => failure(index)));
    expect(error.details['failures']).toHaveLength(200);
    expect(error.details['truncated']).toBe(true);
    expect(validationError(Array.from({ length: 200 }, (_, i) => failure(i))).details['truncated']).toBeUndefined();
  });

  it('needs a failure: an empty list is a fault of the caller', () => {
    expect(() => validationError([])).toThrow(TypeError);
  });
});
