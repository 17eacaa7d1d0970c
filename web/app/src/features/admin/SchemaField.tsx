import { useId, useState } from 'react'

import { t } from '../../language/words.ts'
import type { Schema } from './schemaError.ts'

/** A part of the config schema, with what a form needs to know. */
export interface FieldSchema extends Schema {
  title?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  properties?: Record<string, FieldSchema>
  anyOf?: FieldSchema[]
}

/** A title or a sentence of the schema, in the language of the app if it has one. */
export function settingText(text: string): string {
  const plain = text.replaceAll('`', '').replace(/\s+/g, ' ')
  const key = `setting: ${plain}`
  const found = t(key)
  return found === key ? plain : found
}

interface Props {
  name: string
  schema: FieldSchema
  root: Schema
  value: unknown
  onChange: (value: unknown) => void
  /** Settings without a form of their own get a field for JSON. */
  json?: boolean
}

/** A form field for a setting, made from its schema: title, a sentence about it, limits and choices. Returns null for settings that only JSON can express. */
export function SchemaField({ name, schema: given, root, value, onChange, json = false }: Props) {
  const id = useId()
  const schema = resolved(given, root)
  const kind = kindOf(schema)
  if (kind === 'none') return json && !('const' in schema) ? <JsonField name={name} schema={schema} value={value} onChange={onChange} /> : null
  if (kind === 'group') return <Group name={name} schema={schema} root={root} value={value} onChange={onChange} json={json} />
  const about = schema.description && <span id={`${id}-about`} className="mb-1 block text-small text-ink-soft">{settingText(schema.description)}</span>
  const more = { id, 'aria-describedby': schema.description ? `${id}-about` : undefined }
  const label = settingText(schema.title ?? name)
  if (kind === 'yes-no') {
    return (
      <div>
        <label className="flex items-center gap-2"><input {...more} type="checkbox" checked={Boolean(value ?? schema.default)} className="size-4 accent-link" onChange={(event) => onChange(event.target.checked)} /><span className="text-small font-medium">{label}</span></label>
        {about}
      </div>
    )
  }
  return (
    <div className="flex flex-col">
      <label htmlFor={id} className="block text-small font-medium">{label}</label>
      {about}
      {kind === 'choice' ? (
        <select {...more} value={String(value ?? schema.default ?? '')} className="field mt-auto w-auto self-start" onChange={(event) => onChange(event.target.value)}>
          {schema.enum!.map((option) => <option key={String(option)} value={String(option)}>{String(option)}</option>)}
        </select>
      ) : kind === 'number' ? (
        <input {...more} type="number" min={schema.minimum} max={schema.maximum} value={value === null || value === undefined ? '' : String(value)} placeholder={schema.default === null || schema.default === undefined ? t('Default') : String(schema.default)} className="field mt-auto w-44" onChange={(event) => onChange(event.target.value === '' ? (schema.default ?? null) : Number(event.target.value))} />
      ) : (
        <input {...more} value={String(value ?? schema.default ?? '')} className="field mt-auto max-w-sm" onChange={(event) => onChange(event.target.value)} />
      )}
    </div>
  )
}

function JsonField({ name, schema, value, onChange }: Omit<Props, 'root' | 'json'>) {
  const id = useId()
  const [text, setText] = useState(() => (value === undefined || value === null ? '' : JSON.stringify(value, null, 2)))
  const [bad, setBad] = useState(false)
  const change = (typed: string) => {
    setText(typed)
    try {
      onChange(typed.trim() === '' ? undefined : JSON.parse(typed))
      setBad(false)
    } catch {
      setBad(true)
    }
  }
  return (
    <div className="md:col-span-2">
      <label htmlFor={id} className="block text-small font-medium">{settingText(schema.title ?? name)} <span className="font-normal text-ink-soft">{t('(JSON)')}</span></label>
      {schema.description && <span id={`${id}-about`} className="block text-small text-ink-soft">{settingText(schema.description)}</span>}
      <textarea id={id} aria-describedby={schema.description ? `${id}-about` : undefined} rows={Math.min(10, text.split('\n').length)} spellCheck={false} value={text} aria-invalid={bad} className="field mt-1 font-mono text-[0.8125rem] aria-invalid:border-bad" onChange={(event) => change(event.target.value)} />
      {bad && <span role="alert" className="block text-small text-bad">{t('Invalid JSON. It is not saved until it is complete.')}</span>}
    </div>
  )
}

function Group({ name, schema, root, value, onChange, json = false }: Props) {
  const values = (value ?? schema.default ?? {}) as Record<string, unknown>
  return (
    <fieldset className="space-y-4">
      <legend className="mb-2 font-serif text-large font-semibold">{settingText(schema.title ?? name)}</legend>
      {schema.description && <p className="-mt-3 text-small text-ink-soft">{settingText(schema.description)}</p>}
      <div className="grid gap-x-6 gap-y-4 md:grid-cols-2">
        {Object.entries(schema.properties!).map(([key, each]) => <SchemaField key={key} name={key} schema={each} root={root} value={values[key]} onChange={(changed) => onChange({ ...values, [key]: changed })} json={json} />)}
      </div>
    </fieldset>
  )
}

export type FieldKind = 'yes-no' | 'number' | 'choice' | 'line' | 'group' | 'none'

export function kindOf(schema: FieldSchema): FieldKind {
  if (schema.enum) return 'choice'
  if (schema.type === 'boolean') return 'yes-no'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string' && !('const' in schema)) return 'line'
  return schema.type === 'object' && schema.properties ? 'group' : 'none'
}

/** Follows a reference, and takes the one form of a setting that may also be null. */
export function resolved(schema: FieldSchema, root: Schema): FieldSchema {
  const named = schema.$ref ? ({ ...root.$defs?.[schema.$ref.replace('#/$defs/', '')], ...schema } as FieldSchema) : schema
  const forms = named.anyOf?.filter((each) => each.type !== 'null')
  if (forms?.length !== 1 || forms.length === named.anyOf!.length) return named
  return { ...resolved(forms[0]!, root), ...named, ...(forms[0]!.type ? { type: forms[0]!.type } : {}) }
}
