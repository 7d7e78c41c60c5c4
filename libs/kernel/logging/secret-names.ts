/** Names whose values are secret, whole or as a part joined by `_` (contract 04 §10). */
const SECRET_WORDS =
  /(?:^|_)(?:passwords?|passwd|pwd|secrets?|api_keys?|authorization|jdbc_url|encryption_keys?|promotion_keys?|server_keys?|master_key|tokens?|cookies?|dp_session|dp_csrf)(?:_|$)/;

/** Names that only sound like one: they identify or count, and are wanted in a log. */
const HARMLESS = new Set(['token_id', 'api_key_id', 'password_set', 'max_tokens']);

/** Whether a value under this name must never be shown. `apiKey`, `DP-API-Key` and `api_key` are the same name. */
export function isSecretName(name: string): boolean {
  const snake = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.\s]/g, '_')
    .toLowerCase();
  return SECRET_WORDS.test(snake) && !HARMLESS.has(snake);
}
