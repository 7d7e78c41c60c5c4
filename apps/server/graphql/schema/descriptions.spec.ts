import 'reflect-metadata';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { bareSchema } from './render-schema.js';

interface Element {
  path: string;
  name: string;
  description: string | null | undefined;
}

let elements: Element[];
beforeAll(async () => {
  elements = elementsOf(await bareSchema());
});

function elementsOf(schema: GraphQLSchema): Element[] {
  return Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .flatMap((type) => [
      { path: type.name, name: type.name, description: type.description },
      ...membersOf(type).map((member) => ({ ...member, path: `${type.name}.${member.path}` })),
    ]);
}

function membersOf(type: GraphQLNamedType): Element[] {
  if (isEnumType(type)) return type.getValues().map(named);
  if (isInputObjectType(type)) return Object.values(type.getFields()).map(named);
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    named(field),
    ...field.args.map((argument) => ({ ...named(argument), path: `${field.name}(${argument.name})` })),
  ]);
}

function named({ name, description }: Omit<Element, 'path'>): Element {
  return { path: name, name, description };
}

/** The words of a name or a sentence without what carries no meaning, so that `createdAt` says as much as “Created at.” */
function wordsOf(text: string): Set<string> {
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return new Set((words ?? []).filter((word) => !EMPTY_WORDS.has(word)));
}
const EMPTY_WORDS = new Set(['a', 'an', 'the', 'of', 'its', 'this', 'is', 'whether', 'for', 'to', 'input', 'type']);

function repeatsItsName({ name, description }: Element): boolean {
  const known = wordsOf(name);
  return [...wordsOf(description ?? '')].every((word) => known.has(word));
}

describe('what the schema says of itself', () => {
  it('leaves no type, field, argument, input field or enum value without a word, for strangers have nothing else', () => {
    expect(elements.filter(({ description }) => !description?.trim()).map(({ path }) => path)).toEqual([]);
    expect(elements.length).toBeGreaterThan(1200);
  });

  it('tells more than the name does: “The created at” helps nobody', () => {
    expect(elements.filter(repeatsItsName).map(({ path, description }) => `${path}: ${description}`)).toEqual([]);
  });

  it('is read in a tooltip: a sentence, not an essay', () => {
    const long = elements.filter(({ description }) => (description ?? '').length > 140);
    expect(long.map(({ path, description }) => `${path}: ${description}`)).toEqual([]);
  });

  it.each([
    ['createdAt', 'The created at.', true],
    ['jdbcUrl', 'JDBC URL', true],
    ['PurgePipelineInput', 'Input for purge pipeline.', true],
    ['createdAt', 'When its first draft was saved.', false],
  ])('knows that %s as “%s”: repeating the name is %s', (name, description, expected) => {
    expect(repeatsItsName({ path: name, name, description })).toBe(expected);
  });
});
