import { DriverFailure } from '../driver-failure.js';
import type { ExchangeResult } from './exchange.js';

/** 01 §6.1: what every session is set to, so that text forms are the same on every server. */
const TEXT_FORMS =
  "SET TimeZone='UTC'; SET DateStyle='ISO'; SET IntervalStyle='postgres'; SET extra_float_digits=1; " +
  "SET bytea_output='hex'; SET lc_monetary='C'; SET standard_conforming_strings=on";

/** A statement whose client is gone is noticed by the server itself, and ended. */
const WATCHES_CLIENT = "SET client_connection_check_interval='2s'";
const WATCHES_SINCE = 140_000;

/**
 * Sets a new session and gives the text that sets it again after DISCARD ALL. The server watches its client from
 * PostgreSQL 14 on, where its platform lets it.
 */
export async function setSession(control: (sql: string) => Promise<ExchangeResult>): Promise<string> {
  const { rows } = await control(`${TEXT_FORMS}; SELECT pg_catalog.current_setting('server_version_num')`);
  if (!(Number(rows[0]?.[0]) >= WATCHES_SINCE)) return TEXT_FORMS;
  try {
    await control(WATCHES_CLIENT);
    return `${TEXT_FORMS}; ${WATCHES_CLIENT}`;
  } catch (error) {
    if (!(error instanceof DriverFailure) || error.kind === 'connection') throw error;
    return TEXT_FORMS;
  }
}

/** Longest `statement_timeout`. */
const MOST_MS = 2_147_483_647;

/** The statement that bounds what follows in the session or the transaction, by the server's own clock. */
export function backstop(milliseconds: number, scope: 'LOCAL' | 'SESSION'): string {
  return `SET ${scope} statement_timeout=${Math.min(Math.max(Math.ceil(milliseconds), 1), MOST_MS)}`;
}
