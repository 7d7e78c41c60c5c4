import type { ColumnType } from '../canonical-type.js';
import { decodeBase64 } from '../base64.js';
import { isShowableDay, isShowableTimestamp, parseDateText, parseTimeText, parseTimestampText } from '../calendar.js';
import { accepted, outOfBounds, quoteForMessage, wrongForm, type Coercion } from './coercion.js';
import { coerceBigInteger, coerceInteger, coercePlainDecimal } from './coerce-number.js';

/** NUL, or half of a surrogate pair: no database text holds them. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * Reads one value out of plain text, as the query of a published endpoint carries it: as strict as JSON ingress, with
 * `true`/`false` for BOOLEAN and plain decimal text for numbers (contract 01 §5.3, 03 §8).
 */
export function coerceText(type: ColumnType, text: string): Coercion {
  switch (type.type) {
    case 'BOOLEAN':
      if (text === 'true' || text === 'false') return accepted(text === 'true');
      return wrongForm('true or false', quoteForMessage(text));
    case 'INTEGER':
      return coerceInteger(text, quoteForMessage(text));
    case 'DECIMAL':
      return coercePlainDecimal(type, text);
    default:
      return coerceString(type, text);
  }
}

/** Reads the types whose JSON form is a string. */
export function coerceString(type: ColumnType, text: string): Coercion {
  const got = quoteForMessage(text);
  switch (type.type) {
    case 'BIGINTEGER':
      return coerceBigInteger(text, got);
    case 'BIGDECIMAL':
      return coercePlainDecimal(type, text);
    case 'STRING':
      return UNSTORABLE.test(text) ? wrongForm('text without U+0000 and lone surrogates', got) : accepted(text);
    case 'BINARY': {
      const bytes = decodeBase64(text);
      return bytes ? accepted(bytes) : wrongForm('padded standard base64', got);
    }
    case 'DATE': {
      const days = parseDateText(text);
      if (days === null) return wrongForm('a real day as YYYY-MM-DD', got);
      return isShowableDay(days) ? accepted(text) : outOfBounds('years 0001 to 9999', got);
    }
    case 'TIME': {
      const micros = parseTimeText(text);
      return micros === null ? wrongForm('a time of day as HH:MM:SS[.ffffff]', got) : accepted(micros);
    }
    case 'TIMESTAMP': {
      const micros = parseTimestampText(text);
      if (micros === null) return wrongForm('a timestamp with offset such as 2026-03-01T07:05:09Z', got);
      return isShowableTimestamp(micros) ? accepted(micros) : outOfBounds('years 0001 to 9999 in UTC', got);
    }
    case 'NULL':
      return wrongForm('null', got);
    default:
      return wrongForm(type.type === 'BOOLEAN' ? 'true or false' : 'a JSON number', got);
  }
}
