import type { Value } from '../runtime/values.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

function markup(apostrophe: string): Builtin {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": apostrophe,
  };
  return (call) => {
    const source = call.text();
    return call.string(
      source.text.replace(/[&<>"']/g, (c) => entities[c]!),
      source,
    );
  };
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Percent-encodes UTF-8; the path form keeps slashes. */
function url(call: BuiltinCall): Value {
  if (call.count > 0 && !/^utf-?8$/i.test(call.textArgument(0).text)) throw call.fault('the only charset is UTF-8.');
  const source = call.text();
  const encoded = encodeURIComponent(source.text.replace(LONE_SURROGATE, '\uFFFD'));
  return call.string(call.name === 'url_path' ? encoded.replaceAll('%2F', '/') : encoded, source);
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f', '\b': '\\b' };

/**
 * Escapes what could end a script, open a comment or close CDATA around the literal: `</`, `<!`, `<?`, `]]>`, `-->`. What
 * stands at an edge may be completed by the text beside it, so it counts.
 */
function withoutMarkup(text: string, language: 'javascript' | 'json'): string {
  const [less, greater] = language === 'json' ? ['\\u003C', '\\u003E'] : ['\\x3C', '\\>'];
  return text
    .replace(/(^|<)\//g, '$1\\/')
    .replace(/<(?=[!?]|$)/g, less)
    .replace(/(^[\]-]?|\]\]|--)>/g, (_all, before: string) => before + greater);
}

/** Escapes for the inside of a literal of `language`. */
function literal(language: 'java' | 'javascript' | 'json'): Builtin {
  const unicode = (c: string): string => {
    const digits = c.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${language === 'java' ? digits : digits.toUpperCase()}`;
  };
  return (call) => {
    const source = call.text();
    let text = source.text.replace(/[\\"\u0000-\u001f]/g, (c) => {
      if (c === '\\' || c === '"') return `\\${c}`;
      const short = SHORT[c];
      if (short !== undefined) return short;
      return language === 'javascript'
        ? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`
        : unicode(c);
    });
    if (language === 'javascript') text = text.replace(/'/g, "\\'");
    if (language !== 'java') text = withoutMarkup(text, language).replace(/[\u007f-\u009f\u2028\u2029]/g, unicode);
    return call.string(text, source);
  };
}

export const encodings: BuiltinFamily = {
  html: markup('&#39;'),
  xhtml: markup('&#39;'),
  xml: markup('&apos;'),
  url,
  url_path: url,
  j_string: literal('java'),
  js_string: literal('javascript'),
  json_string: literal('json'),
};
