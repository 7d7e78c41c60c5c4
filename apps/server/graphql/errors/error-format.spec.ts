import { describe, expect, it } from '@jest/globals';
import { GraphQLError } from 'graphql';
import { PenstockError } from '#libs/kernel';
import { formatError } from './error-format.js';
import { protocolError } from './protocol-error.js';

const facts = { correlationId: 'corr', baseUrl: 'https://penstock.example' };

describe('formatError', () => {
  it('shows a catalogued failure with its status, however often it was wrapped', () => {
    const inner = new PenstockError('workspace.last_admin', { message: 'One must stay.', details: { user_id: 'u' } });
    const once = new GraphQLError('x', { originalError: inner, path: ['removeMember'] });
    const twice = new GraphQLError('y', { originalError: once, path: ['removeMember'] });
    expect(formatError(twice, facts)).toEqual({
      message: 'One must stay.',
      path: ['removeMember'],
      extensions: {
        code: 'workspace.last_admin',
        http_status: 409,
        correlation_id: 'corr',
        user_message: expect.any(String),
        details: { user_id: 'u' },
        doc_url: 'https://penstock.example/docs/errors#workspace.last_admin',
      },
    });
  });

  it.each([
    new TypeError('connect ECONNREFUSED postgres://admin:secret@db'),
    new GraphQLError('Cannot return null for non-nullable field Pipeline.owner.'),
    Object.assign(new TypeError('boom'), { code: 'GRAPHQL_PARSE_FAILED' }),
  ])('shows nothing of an unknown failure: %s', (failure) => {
    const error =
      failure instanceof GraphQLError ? failure : new GraphQLError(failure.message, { originalError: failure });
    const formatted = formatError(error, facts);
    expect(formatted.extensions).toMatchObject({ code: 'internal', http_status: 500, details: {} });
    expect(JSON.stringify(formatted)).not.toMatch(/secret|postgres|boom|non-nullable|stack/);
  });

  it('does not take the extensions of a foreign error for its own', () => {
    const forged = new GraphQLError('x', { extensions: { code: 'workspace.last_admin', stacktrace: ['at db'] } });
    expect(formatError(forged, facts).extensions).toMatchObject({ code: 'internal' });
    expect(JSON.stringify(formatError(forged, facts))).not.toContain('stacktrace');
  });

  it('keeps the protocol’s own names', () => {
    const formatted = formatError(protocolError('Syntax Error', 'GRAPHQL_PARSE_FAILED'), facts);
    expect(formatted).toMatchObject({
      message: 'Syntax Error',
      extensions: { code: 'GRAPHQL_PARSE_FAILED', http_status: 400, correlation_id: 'corr', details: {} },
    });
  });
});
