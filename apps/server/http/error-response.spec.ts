import { describe, expect, it } from '@jest/globals';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { Logger, newId, PenstockError, type ErrorCode, type LogFields } from '#libs/kernel';
import { callApp } from '../../../test/fixtures/serve-app.js';
import { ErrorResponses } from './error-response.js';
import { classifyPath } from './raw-path.js';
import { attachContext } from './request-context.js';

type Line = [level: string, message: string | undefined, fields: LogFields | undefined];

class Lines extends Logger {
  readonly said: Line[] = [];
  override debug = (message?: string, fields?: LogFields) => void this.said.push(['debug', message, fields]);
  override info = (message?: string, fields?: LogFields) => void this.said.push(['info', message, fields]);
  override warn = (message?: string, fields?: LogFields) => void this.said.push(['warn', message, fields]);
  override error = (message?: string, fields?: LogFields) => void this.said.push(['error', message, fields]);
  override child = () => this;
}

const correlationId = newId();

/** An application whose every request ends in this failure, after what `before` has answered already. */
async function fail(failure: unknown, before: (response: Response) => void = () => undefined, path = '/api/v1/x') {
  const log = new Lines();
  const responses = new ErrorResponses('https://penstock.example', log);
  const app: Express = express();
  app.use((request: Request, response: Response, next: NextFunction) => {
    const context = { correlationId, path: classifyPath(path), sourceIp: '192.0.2.1', userAgent: undefined };
    attachContext(request, context);
    before(response);
    next(failure);
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    responses.send(request, response, error);
  });
  const answer = await callApp(app, 'GET', path).catch(() => undefined);
  return { answer, lines: log.said };
}

describe('the line a failure leaves in the log', () => {
  it('is none where the client left and its work was given up, and one where nobody left', async () => {
    const abort = new DOMException('This operation was aborted', 'AbortError');
    expect((await fail(abort, (response) => response.destroy())).lines).toEqual([]);
    expect((await fail(abort)).lines).toMatchObject([['error', expect.any(String), { code: 'internal' }]]);
  });

  it.each<ErrorCode>([
    'pipeline.execution.datasource_unreachable',
    'pipeline.node.datasource_connection_failed',
    'datasource.lake.table_unavailable',
    'pipeline.promotion.target_unreachable',
  ])('is a warning where a customer’s own system is down, so that nobody is woken for it: %s', async (code) => {
    const { answer, lines } = await fail(new PenstockError(code, { message: 'Down.' }));
    const status = answer!.status;
    expect(status).toBeGreaterThanOrEqual(500);
    expect(lines).toEqual([['warn', 'Down.', { correlation_id: correlationId, code, method: 'GET', status }]]);
  });

  it.each<[ErrorCode, number]>([
    ['pipeline.execution.parameter_required', 400],
    ['auth.api_key.invalid', 401],
    ['endpoint.not_found', 404],
    ['pipeline.version.conflict', 409],
    ['rate_limit.exceeded', 429],
  ])('is for debugging where the caller erred, or strangers fill the disk: %s', async (code, status) => {
    const { answer, lines } = await fail(new PenstockError(code));
    expect(answer!.status).toBe(status);
    expect(lines.map(([level, , fields]) => [level, fields])).toEqual([
      ['debug', { correlation_id: correlationId, code, method: 'GET', status }],
    ]);
  });

  it('is an error with the stack of its cause where we erred, of which the caller learns nothing', async () => {
    const bug = new TypeError('cannot read the password hunter2 of undefined');
    for (const failure of [bug, new PenstockError('internal', { cause: bug })]) {
      const { answer, lines } = await fail(failure);
      expect([answer!.status, answer!.body.error.code]).toEqual([500, 'internal']);
      expect(answer!.text).not.toMatch(/hunter2|stack|error-response/);
      expect(lines.map(([level, , fields]) => [level, fields?.['error']])).toEqual([['error', bug]]);
    }
    const ours = new PenstockError('result.storage_unavailable');
    const { lines } = await fail(ours);
    expect(lines.map(([level, , fields]) => [level, fields?.['error']])).toEqual([['error', ours]]);
    expect(ours.stack).toContain('error-response.spec');
  });
});

describe('the answer of a failure', () => {
  it('says when to come back, in whole seconds', async () => {
    for (const [seconds, header] of [[1, '1'], [0.2, '1'], [2.5, '3']] as const) {
      const details = { retry_after_seconds: seconds };
      const { answer } = await fail(new PenstockError('idempotency.in_progress', { details }));
      expect([answer!.status, answer!.headers.get('Retry-After')]).toEqual([409, header]);
    }
    expect((await fail(new PenstockError('endpoint.not_found'))).answer!.headers.get('Retry-After')).toBeNull();
  }); // prettier-ignore

  it('keeps no header of the answer that did not come', async () => {
    const { answer } = await fail(new PenstockError('result.expired'), (response) =>
      response.setHeader('Content-Disposition', 'attachment; filename="x.csv"').setHeader('ETag', '"x"'),
    );
    expect([answer!.status, answer!.headers.get('Content-Disposition'), answer!.headers.get('ETag')]).toEqual([410, null, null]);
    expect(answer!.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    expect(answer!.body).toMatchObject({ correlation_id: correlationId, error: { code: 'result.expired' } });
  }); // prettier-ignore

  it('is a broken connection once something was sent: half an answer must not look whole', async () => {
    const { answer, lines } = await fail(new PenstockError('result.expired'), (response) => response.write('half'));
    expect(answer).toBeUndefined();
    expect(lines).toHaveLength(1);
  });

  it('of GraphQL is what its clients read', async () => {
    const { answer } = await fail(new PenstockError('rate_limit.exceeded'), undefined, '/graphql');
    expect(answer!.body.errors).toMatchObject([
      { extensions: { code: 'rate_limit.exceeded', correlation_id: correlationId } },
    ]);
  });
});
