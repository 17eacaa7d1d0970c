/** The subset of JSON Schema that has form fields. Other properties are edited as JSON. */

export interface Property {
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  format?: string
  maxLength?: number
  default?: unknown
}

interface ObjectSchema {
  properties?: Record<string, Property>
  required?: string[]
}

export const propertiesOf = (schema: unknown): Record<string, Property> => (schema as ObjectSchema | undefined)?.properties ?? {}
export const requiredOf = (schema: unknown): ReadonlySet<string> => new Set((schema as ObjectSchema | undefined)?.required ?? [])

export type Kind = 'choice' | 'yes-no' | 'number' | 'date' | 'line' | 'text' | 'json'

const LONG = 300

export function kindOf(property: Property): Kind {
  if (property.enum) return 'choice'
  if (property.type === 'boolean') return 'yes-no'
  if (property.type === 'number' || property.type === 'integer') return 'number'
  if (property.type !== 'string') return 'json'
  if (property.format === 'date') return 'date'
  return (property.maxLength ?? 0) > LONG ? 'text' : 'line'
}

/** The value of a field as its schema wants it; undefined omits it. Throws on invalid JSON. */
export function valueOf(kind: Kind, property: Property, filled: FormDataEntryValue | null): unknown {
  const text = String(filled ?? '')
  if (kind === 'yes-no') return filled !== null
  if (text === '') return undefined
  if (kind === 'choice') return property.enum!.find((each) => String(each) === text)
  if (kind === 'number') return Number(text)
  if (kind === 'json') return JSON.parse(text) as unknown
  return text
}
