import { DriverFailure } from '../driver-failure.js';
import type { MysqlSession } from './session.js';

export interface SessionSettings {
  /** Gives a session back what COM_RESET_CONNECTION took from it. */
  apply(session: MysqlSession): Promise<void>;
  /** Bounds what follows in the session by the server's own clock: MySQL reads only, MariaDB every statement. */
  backstop(session: MysqlSession, milliseconds: number): Promise<void>;
  /** Bytes of the largest packet the server takes. */
  maxPacketBytes: number;
}

/** Modes in which quotes and backslashes mean something else than the lexer and the binder take them for. */
const FOREIGN_MODES = new Set([
  'ANSI',
  'ANSI_QUOTES',
  'NO_BACKSLASH_ESCAPES',
  'DB2',
  'MAXDB',
  'MSSQL',
  'ORACLE',
  'POSTGRESQL',
  'EMPTY_STRING_IS_NULL',
]);

/** A slow consumer holds a result back; the server must not take that for a dead client. */
const PATIENCE_SECONDS = 3600;
/** MariaDB's longest is a year. */
const MOST_BACKSTOP_MS = 31_536_000_000;
const DEFAULT_PACKET = 4 * 1024 * 1024;

/** Reads what the server is set to, and sets the session as 01 §6.2 says. Rejects with DriverFailure. */
export async function sessionSettings(session: MysqlSession): Promise<SessionSettings> {
  const rows = (await session.query(
    'SELECT @@SESSION.sql_mode, @@SESSION.max_allowed_packet, VERSION()',
  )) as unknown[][];
  const [mode, packet, version] = rows[0] ?? [];
  const isMariadb = /mariadb/i.test(String(version));
  const modes = new Set(
    String(mode ?? '')
      .split(',')
      .filter((word) => /^[A-Z_]+$/.test(word) && !FOREIGN_MODES.has(word)),
  );
  // A value that does not fit is an error, never cut.
  modes.add('STRICT_TRANS_TABLES').add('STRICT_ALL_TABLES');
  const required = `SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = '${[...modes].join(',')}', autocommit = 1`;
  const settings: SessionSettings = {
    maxPacketBytes: Number(packet) || DEFAULT_PACKET,
    backstop: async (target, milliseconds) => {
      const most = Math.min(Math.max(Math.ceil(milliseconds), 1), MOST_BACKSTOP_MS);
      // MariaDB counts seconds.
      await wish(target, isMariadb ? `SET max_statement_time = ${most / 1000}` : `SET max_execution_time = ${most}`);
    },
    apply: async (target) => {
      await target.query(required);
      await wish(target, `SET net_write_timeout = ${PATIENCE_SECONDS}`);
    },
  };
  await settings.apply(session);
  return settings;
}

/** Engines that only speak MySQL's protocol lack some of its variables. */
async function wish(session: MysqlSession, sql: string): Promise<void> {
  try {
    await session.query(sql);
  } catch (error) {
    if (!(error instanceof DriverFailure) || session.isLost) throw error;
  }
}
