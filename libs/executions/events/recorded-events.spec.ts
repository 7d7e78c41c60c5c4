import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../test/fixtures/keeper-state.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { storedPayloadText } from './payload-text.js';

const RECORDED = join(root, 'test/fixtures/recorded');
const RELEASES = readdirSync(RECORDED, { withFileTypes: true }).filter((entry) => entry.isDirectory());

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
}, 60_000);
afterAll(() => db?.drop());

describe.each(RELEASES.map(({ name }) => name))('the event logs of release %s', (release) => {
  const events = readFileSync(join(RECORDED, release, 'events.txt'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => ({ type: line.slice(0, line.indexOf(' ')), text: line.slice(line.indexOf(' ') + 1) }));

  it('are told byte by byte as they were, for a reader who resumes after the upgrade compares nothing', async () => {
    const rows = await db.database.query<{ stored: string }>(
      'SELECT t::jsonb::text AS stored FROM unnest($1::text[]) WITH ORDINALITY AS u(t, n) ORDER BY n',
      [events.map(({ text }) => text)],
    );
    expect(rows.map(({ stored }) => storedPayloadText(stored))).toEqual(events.map(({ text }) => text));
  });

  it('hold a run that succeeded and one that failed', () => {
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'execution_started',
        'node_started',
        'pipeline_completed',
        'data_ready',
        'pipeline_failed',
      ]),
    );
  });
});
