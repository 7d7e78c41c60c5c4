import type { JdbcRules } from '../../properties/jdbc-rules.js';
import { POSTGRES_JDBC } from '../postgres/properties.js';

/** H2's server takes no start-up options and has no standby: these pass, and mean nothing. */
const WITHOUT_MEANING = ['options', 'targetServerType', 'ApplicationName'];

export const H2_JDBC: JdbcRules = {
  mapped: Object.fromEntries(Object.entries(POSTGRES_JDBC.mapped).filter(([name]) => !WITHOUT_MEANING.includes(name))),
  ignored: [...POSTGRES_JDBC.ignored, ...WITHOUT_MEANING],
  refused: [...POSTGRES_JDBC.refused, 'INIT', 'ACCESS_MODE_DATA', 'CIPHER', 'AUTH_REALM', 'TRACE_LEVEL*'],
};
