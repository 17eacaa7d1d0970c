/** Checks a config against the server's JSON Schema while the user types. Keywords it does not know pass; the server checks again. */
import { listed, msg, t } from '../../language/words.ts'


export interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

/** Advice for settings whose pattern alone would not help. */
const FORMATS: Record<string, string> = { model: msg('Use provider:model, for example openai:gpt-5.2') }

/** An error, with the path of the wrong value. */
interface Problem {
  at: string
  text: string
}

/** The first error, or null. */
export const schemaError = (schema: Schema, value: unknown): string | null => check(schema, value, schema, '')?.text ?? null

function check(schema: Schema, value: unknown, root: Schema, path: string): Problem | null {
  const named: Schema = schema.$ref ? { ...schema, ...root.$defs?.[schema.$ref.replace('#/$defs/', '')] } : schema
  const setting = path || t('The config')
  const problem = (text: string): Problem => ({ at: path, text })
  const choices = named.anyOf ?? named.oneOf
  if (choices) {
    const problems = choices.map((choice) => check(choice, value, root, path))
    if (problems.every((each) => each !== null)) return deepest(problems, path) ?? problem(t('{setting} doesn’t match any allowed form', { setting }))
  }
  if (named.const !== undefined && value !== named.const) return problem(t('{setting} must be {value}', { setting, value: JSON.stringify(named.const) }))
  if (named.enum && !named.enum.includes(value)) return problem(t('{setting} must be one of: {values}', { setting, values: named.enum.map(String).join(', ') }))
  if (named.type && ![named.type].flat().some((type) => isA(type, value))) return problem(t('{setting} must be of type {types}', { setting, types: listed([named.type].flat(), 'disjunction') }))
  if (named.pattern && typeof value === 'string' && !new RegExp(named.pattern, 'u').test(value)) return problem(FORMATS[path] ? t(FORMATS[path]) : t('{setting} has an invalid format', { setting }))
  if (Array.isArray(value)) return named.items ? first(value.map((each, n) => () => check(named.items!, each, root, `${path}[${n}]`))) : null
  if (value === null || typeof value !== 'object') return null
  return ofObject(named, value as Record<string, unknown>, root, path)
}

function ofObject(schema: Schema, value: Record<string, unknown>, root: Schema, path: string): Problem | null {
  const at = (key: string) => (path ? `${path}.${key}` : key)
  const missing = schema.required?.find((key) => !(key in value))
  return first([
    // Present keys before missing ones: they show which variant was meant.
    ...Object.entries(value).map(([key, each]) => () => {
      const known = schema.properties?.[key]
      if (known) return check(known, each, root, at(key))
      if (schema.properties && schema.additionalProperties === false) return { at: at(key), text: t('{setting} is not a known setting', { setting: at(key) }) }
      return typeof schema.additionalProperties === 'object' ? check(schema.additionalProperties, each, root, at(key)) : null
    }),
    () => (missing ? { at: at(missing), text: t('{setting} is required', { setting: at(missing) }) } : null),
  ])
}

function first(checks: (() => Problem | null)[]): Problem | null {
  for (const each of checks) {
    const found = each()
    if (found !== null) return found
  }
  return null
}

/** If every variant fails, the error inside a variant of the right type is the most helpful one. */
const deepest = (problems: readonly Problem[], here: string): Problem | undefined => problems.find(({ at }) => at !== here && at !== `${here}.type`) ?? problems[0]

function isA(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
