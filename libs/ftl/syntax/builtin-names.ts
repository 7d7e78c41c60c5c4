/** Built-ins a template may use (contract 05 §4.6), in their snake_case spelling. */
export const SUPPORTED_BUILTINS: ReadonlySet<string> = new Set(
  `default exists if_exists has_content then switch is_string is_number is_boolean is_sequence is_indexable
  is_collection is_collection_ex is_enumerable is_hash is_hash_ex is_macro is_directive is_method is_date is_date_only
  is_time is_datetime with_args with_args_last
  boolean number date time datetime cap_first uncap_first capitalize upper_case lower_case c_upper_case c_lower_case
  upper_abc lower_abc chop_linebreak contains starts_with ends_with ensure_starts_with ensure_ends_with
  remove_beginning remove_ending index_of last_index_of keep_before keep_before_last keep_after keep_after_last
  left_pad right_pad length replace split substring trim truncate truncate_c truncate_w word_list matches groups html
  xhtml xml url url_path j_string js_string json_string string
  abs c ceiling floor round int long short byte float double is_nan is_infinite
  chunk drop_while take_while filter map first last join max min reverse seq_contains seq_index_of seq_last_index_of
  sequence size sort sort_by keys values
  counter index has_next is_first is_last is_even_item is_odd_item item_parity item_parity_cap item_cycle
  sql_identifier sql_choice sql_list`
    .trim()
    .split(/\s+/),
);

/** Built-ins that would run code or reach the host (contract 05 §4.7). The interpreter has no implementation of them. */
export const DANGEROUS_BUILTINS: ReadonlySet<string> = new Set([
  'eval',
  'eval_json',
  'interpret',
  'new',
  'api',
  'has_api',
]);

/** Known to FreeMarker, not part of this subset. */
export const UNSUPPORTED_BUILTINS: ReadonlySet<string> = new Set(
  `absolute_template_name ancestors blank_to_null c_number children cn date_if_unknown datetime_if_unknown
  empty_to_null esc is_iso is_markup_output is_node is_transform is_unknown_date_like iso iso_h iso_h_nz iso_local
  iso_local_h iso_local_h_nz iso_local_m iso_local_m_nz iso_local_ms iso_local_ms_nz iso_local_nz iso_m iso_m_nz
  iso_ms iso_ms_nz iso_nz iso_utc iso_utc_fz iso_utc_h iso_utc_h_nz iso_utc_m iso_utc_m_nz iso_utc_ms iso_utc_ms_nz
  iso_utc_nz markup_string namespace next_sibling no_esc node_name node_namespace node_type number_to_date
  number_to_datetime number_to_time parent previous_sibling root rtf source time_if_unknown trim_to_null truncate_c_m
  truncate_m truncate_w_m web_safe`
    .trim()
    .split(/\s+/),
);

/** The built-ins whose argument may be a lambda. */
export const LAMBDA_BUILTINS: ReadonlySet<string> = new Set(['filter', 'map', 'take_while', 'drop_while']);

/** The checked ones (contract 05 §5.4): their arguments are string literals. */
export const SQL_BUILTINS: ReadonlySet<string> = new Set(['sql_identifier', 'sql_choice', 'sql_list']);

/** `upperCase` → `upper_case`; names without capitals stay. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const SPECIAL_VARIABLES: ReadonlySet<string> = new Set(
  'now vars main namespace globals locals data_model error locale lang time_zone version template_name'.split(' '),
);
