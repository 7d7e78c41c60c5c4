import { isOptional, type JsonSchema } from '../tools/arguments.js';
import { TOOL_GROUPS } from '../tools/tool-catalogue.js';
import { scopeOf, type ToolDeclaration } from '../tools/tool.js';

/** The reference of tools, from the catalogue that answers `tools/list`: docs/generated/mcp-tools.md and `tools`. */
export function renderToolReference(): string {
  const sections = TOOL_GROUPS.flatMap(({ title, tools }) => [`## ${title}`, '', ...tools.flatMap(toolSection)]);
  return [
    '# Tools',
    '',
    'Generated from the catalogue in `apps/server/mcp/tools`. A scope is the least a key needs (`author` holds `execute`, which',
    'holds `read`); besides it the key’s owner needs the role for what the tool does. `?` marks what may be left out. The',
    'structured result is an object: a list or a text stands in the member that is named.',
    '',
    ...sections,
  ].join('\n');
}

function toolSection(tool: ToolDeclaration): string[] {
  const { name, description, arguments: shape, effect, wrappedAs } = tool;
  const names = Object.keys(shape);
  return [
    `### ${name}`,
    '',
    `${description}`,
    '',
    `Scope \`${scopeOf(tool)}\`, ${EFFECTS[effect]}.${wrappedAs === undefined ? '' : ` Structured as \`${wrappedAs}\`.`}`,
    '',
    ...(names.length === 0
      ? ['No arguments.', '']
      : [
          '| Argument | Type | Meaning |',
          '| --- | --- | --- |',
          ...names.map((each) => {
            const argument = shape[each]!;
            const mark = isOptional(argument) ? '?' : '';
            return `| \`${each}\`${mark} | ${typeOf(argument.schema)} | ${cell(String(argument.schema['description']))} |`;
          }),
          '',
        ]),
  ];
}

const EFFECTS: Readonly<Record<ToolDeclaration['effect'], string>> = {
  reads: 'changes nothing',
  creates: 'adds',
  replaces: 'replaces or removes',
  runs: 'runs SQL that may write',
};

function typeOf(schema: JsonSchema): string {
  const allowed = schema['enum'];
  if (Array.isArray(allowed)) return allowed.map((word) => `\`${String(word)}\``).join(' ');
  if (Array.isArray(schema['anyOf'])) return 'string or array of strings';
  const items = schema['items'] as JsonSchema | undefined;
  return items ? `array of ${String(items['type'])}s` : String(schema['type']);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
