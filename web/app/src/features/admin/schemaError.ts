/** Checks a config against the server's JSON Schema while the user types. Keywords it does not know pass; the server checks again. */

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
const FORMATS: Record<string, string> = { model: 'Use provider:model, for example openai:gpt-5.2' }

/** The first error, or null. */
export function schemaError(schema: Schema, value: unknown, root: Schema = schema, path = ''): string | null {
  const named: Schema = schema.$ref ? { ...schema, ...root.$defs?.[schema.$ref.replace('#/$defs/', '')] } : schema
  const here = path || 'The config'
  const choices = named.anyOf ?? named.oneOf
  if (choices) {
    const problems = choices.map((choice) => schemaError(choice, value, root, path))
    if (problems.every((problem) => problem !== null)) return deepest(problems as string[], here)
  }
  if (named.const !== undefined && value !== named.const) return `${here} must be ${JSON.stringify(named.const)}`
  if (named.enum && !named.enum.includes(value)) return `${here} must be one of: ${named.enum.map(String).join(', ')}`
  if (named.type && ![named.type].flat().some((type) => isA(type, value))) return `${here} must be of type ${[named.type].flat().join(' or ')}`
  if (named.pattern && typeof value === 'string' && !new RegExp(named.pattern, 'u').test(value)) return FORMATS[path] ?? `${here} has an invalid format`
  if (Array.isArray(value)) return named.items ? first(value.map((each, n) => () => schemaError(named.items!, each, root, `${path}[${n}]`))) : null
  if (value === null || typeof value !== 'object') return null
  return ofObject(named, value as Record<string, unknown>, root, path)
}

function ofObject(schema: Schema, value: Record<string, unknown>, root: Schema, path: string): string | null {
  const at = (key: string) => (path ? `${path}.${key}` : key)
  const missing = schema.required?.find((key) => !(key in value))
  return first([
    // Present keys before missing ones: they show which variant was meant.
    ...Object.entries(value).map(([key, each]) => () => {
      const known = schema.properties?.[key]
      if (known) return schemaError(known, each, root, at(key))
      if (schema.properties && schema.additionalProperties === false) return `${at(key)} is not a known setting`
      return typeof schema.additionalProperties === 'object' ? schemaError(schema.additionalProperties, each, root, at(key)) : null
    }),
    () => (missing ? `${at(missing)} is required` : null),
  ])
}

function first(checks: (() => string | null)[]): string | null {
  for (const check of checks) {
    const found = check()
    if (found !== null) return found
  }
  return null
}

/** If every variant fails, the error inside a variant of the right type is the most helpful one. */
const deepest = (problems: string[], here: string): string =>
  problems.find((problem) => !problem.startsWith(`${here} `) && !problem.startsWith(`${here}.type `)) ?? problems[0] ?? `${here} has no allowed form`

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
