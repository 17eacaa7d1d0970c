/** The subset of JSON Schema that has form fields. Other properties are edited as JSON. */
import { t } from '../../language/words.ts'


export interface Property {
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  /** Labels of the options of `enum`. */
  enumNames?: string[]
  format?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: Property
  default?: unknown
}

interface ObjectSchema {
  properties?: Record<string, Property>
  required?: string[]
}

export const propertiesOf = (schema: unknown): Record<string, Property> => (schema as ObjectSchema | undefined)?.properties ?? {}
export const requiredOf = (schema: unknown): ReadonlySet<string> => new Set((schema as ObjectSchema | undefined)?.required ?? [])

export type Kind = 'choice' | 'choices' | 'yes-no' | 'number' | 'date' | 'line' | 'text' | 'lines' | 'json'

const LONG = 300
const PLAIN = ['string', 'number', 'integer']

export function kindOf(property: Property): Kind {
  if (property.enum) return 'choice'
  if (property.type === 'boolean') return 'yes-no'
  if (property.type === 'number' || property.type === 'integer') return 'number'
  if (property.type === 'array' && property.items?.enum) return 'choices'
  if (property.type === 'array' && PLAIN.includes(String(property.items?.type))) return 'lines'
  if (property.type !== 'string') return 'json'
  if (property.format === 'date') return 'date'
  return (property.maxLength ?? 0) > LONG ? 'text' : 'line'
}

/** The label of a field: its title, or its key in words: `start_date` and `startDate` become "Start date". */
export function labelOf(name: string, property: Property): string {
  if (property.title) return property.title
  const words = name.replace(/[_-]+/g, ' ').replace(/([\p{Ll}\d])(\p{Lu})/gu, (_, end: string, start: string) => `${end} ${start.toLocaleLowerCase()}`).trim()
  return words.charAt(0).toLocaleUpperCase() + words.slice(1)
}

/** The value of a field as its schema wants it; undefined omits it. Throws on invalid JSON. */
export function valueOf(kind: Kind, property: Property, filled: readonly FormDataEntryValue[]): unknown {
  const text = String(filled[0] ?? '')
  if (kind === 'yes-no') return filled.length > 0
  if (kind === 'choices') return property.items!.enum!.filter((each) => filled.includes(String(each)))
  if (text.trim() === '') return undefined
  if (kind === 'choice') return property.enum!.find((each) => String(each) === text)
  if (kind === 'number') return Number(text)
  if (kind === 'lines') return text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => (property.items?.type === 'string' ? line : Number(line)))
  if (kind === 'json') return JSON.parse(text) as unknown
  return text
}

/** The first problem that can be told without the server, in words that fit below the field. */
export function problemOf(kind: Kind, property: Property, required: boolean, value: unknown): string | null {
  const empty = value === undefined || (Array.isArray(value) && value.length === 0)
  if (required && empty && kind !== 'yes-no') return kind === 'choices' ? t('Select at least one option') : t('This field is required')
  if (empty || typeof value !== 'number') return null
  if (Number.isNaN(value)) return t('Enter a number')
  if (property.type === 'integer' && !Number.isInteger(value)) return t('Enter a whole number')
  if (property.minimum !== undefined && value < property.minimum) return t('Enter {minimum} or more', { minimum: property.minimum })
  if (property.maximum !== undefined && value > property.maximum) return t('Enter {maximum} or less', { maximum: property.maximum })
  return null
}
