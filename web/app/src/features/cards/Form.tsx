import type { MajlisError } from '@majlis/client'
import { useEffect, useId, useRef, useState, type FormEvent } from 'react'

import { t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { capitalize } from '../../ui/format.ts'
import type { ControlProps } from './Card.tsx'
import { kindOf, labelOf, problemOf, propertiesOf, requiredOf, valueOf, type Property } from './formSchema.ts'

type Problems = Readonly<Record<string, string>>

/** Required fields are marked, and every problem is shown at its field, whether the app or the server found it. */
export default function Form({ tool, busy, error, onAnswer, onDecline }: ControlProps) {
  const properties = Object.entries(propertiesOf(tool.resultSchema))
  const required = requiredOf(tool.resultSchema)
  // The input of a server's question is not a prefilled form.
  const given = (tool.mayDecline ? {} : tool.input ?? {}) as Record<string, unknown>
  const [problems, setProblems] = useState<Problems>({})
  const form = useRef<HTMLFormElement>(null)
  const shown = { ...problemsOf(error, properties), ...problems }
  const first = properties.find(([name]) => shown[name])?.[0]
  useEffect(() => {
    if (first) form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first)}"]`)?.focus()
  }, [first, error])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { values, problems: found } = read(new FormData(event.currentTarget), properties, required)
    setProblems(found)
    if (Object.keys(found).length === 0) onAnswer(values)
  }
  return (
    <form ref={form} noValidate className="mt-3 space-y-4" onSubmit={submit}>
      {properties.map(([name, property]) => (
        <Field key={name} name={name} property={property} required={required.has(name)} value={given[name] ?? property.default} problem={shown[name]} />
      ))}
      <div className="flex gap-2">
        <Button look="primary" type="submit" disabled={busy}>{properties.length > 0 ? t('Submit') : t('Confirm')}</Button>
        {onDecline && <Button disabled={busy} onClick={onDecline}>{t('Decline')}</Button>}
      </div>
    </form>
  )
}

function read(filled: FormData, properties: [string, Property][], required: ReadonlySet<string>): { values: Record<string, unknown>; problems: Problems } {
  const values: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const [name, property] of properties) {
    const kind = kindOf(property)
    try {
      const value = valueOf(kind, property, filled.getAll(name))
      const problem = problemOf(kind, property, required.has(name), value)
      if (problem) problems[name] = problem
      // An optional list that was left empty is not part of the answer.
      else if (value !== undefined && !(Array.isArray(value) && value.length === 0)) values[name] = value
    } catch {
      problems[name] = t('Enter valid JSON')
    }
  }
  return { values, problems }
}

/** The server's problems by field. A path is `result.teams.1` or `teams[1]`. */
function problemsOf(error: MajlisError | null, properties: [string, Property][]): Problems {
  const listed = error?.details['errors']
  const all = (Array.isArray(listed) ? listed : error ? [{ path: error.details['path'], message: error.message }] : []) as { path?: unknown; message?: unknown }[]
  const fieldOf = (path: string) => path.split(/[.[\]/]+/).find((part) => properties.some(([name]) => name === part))
  const found = all.flatMap(({ path, message }) => {
    const field = fieldOf(String(path ?? ''))
    return field ? [[field, capitalize(String(message))] as const] : []
  })
  return Object.fromEntries(found)
}

interface FieldProps {
  name: string
  property: Property
  required: boolean
  value: unknown
  problem: string | undefined
}

function Field({ name, property, required, value, problem }: FieldProps) {
  const id = useId()
  const kind = kindOf(property)
  const described = [property.description ? `${id}-about` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ')
  const label = (
    <>
      {labelOf(name, property)}
      {required ? <span className="text-bad" aria-hidden> *</span> : kind !== 'yes-no' && <span className="font-normal text-ink-soft">{' '}{t('(optional)')}</span>}
    </>
  )
  const more = { id, name, value, property, invalid: problem !== undefined, ...(required ? { required } : {}), ...(described ? { described } : {}) }
  const about = property.description && <p id={`${id}-about`} className="mb-1 text-small text-ink-soft">{property.description}</p>
  const below = problem && <p id={`${id}-problem`} role="alert" className="mt-1 text-small text-bad">{problem}</p>
  if (kind === 'choices') {
    return (
      <fieldset aria-describedby={described || undefined}>
        <legend className="mb-1 text-small font-medium">{label}</legend>
        {about}
        <Control {...more} />
        {below}
      </fieldset>
    )
  }
  return (
    <div>
      <div className={kind === 'yes-no' ? 'flex flex-row-reverse items-center justify-end gap-2' : ''}>
        <label htmlFor={id} className={`text-small font-medium ${kind === 'yes-no' ? '' : 'mb-1 block'}`}>{label}</label>
        {kind !== 'yes-no' && about}
        <Control {...more} />
      </div>
      {kind === 'yes-no' && about}
      {below}
    </div>
  )
}

interface ControlState {
  id: string
  name: string
  property: Property
  value: unknown
  required?: boolean
  invalid: boolean
  described?: string
}

function Control({ id, name, property, value, required = false, invalid, described }: ControlState) {
  const kind = kindOf(property)
  const more = { id, name, required, 'aria-invalid': invalid, 'aria-describedby': described, className: 'field aria-invalid:border-bad' }
  const text = value === undefined || value === null ? '' : String(value)
  switch (kind) {
    case 'choice':
      return (
        <select {...more} defaultValue={text}>
          {(!required || text === '') && <option value="">{required ? t('Select…') : t('None')}</option>}
          {property.enum!.map((option, at) => <option key={String(option)} value={String(option)}>{property.enumNames?.[at] ?? String(option)}</option>)}
        </select>
      )
    case 'choices':
      return (
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {property.items!.enum!.map((option, at) => (
            <label key={String(option)} className="flex items-center gap-2 text-small">
              <input type="checkbox" name={name} value={String(option)} aria-invalid={invalid} defaultChecked={Array.isArray(value) && value.includes(option)} className="size-4 accent-link" />
              {property.items!.enumNames?.[at] ?? String(option)}
            </label>
          ))}
        </div>
      )
    case 'yes-no':
      return <input type="checkbox" id={id} name={name} defaultChecked={value === true} className="size-4 shrink-0 accent-link" />
    case 'number':
      return <input {...more} type="number" step={property.type === 'integer' ? 1 : 'any'} min={property.minimum} max={property.maximum} defaultValue={text} />
    case 'date':
      return <input {...more} type="date" defaultValue={text} />
    case 'line':
      return <input {...more} defaultValue={text} />
    case 'text':
      return <textarea {...more} rows={4} defaultValue={text} />
    case 'lines':
      return <textarea {...more} rows={3} placeholder={t('One per line')} defaultValue={Array.isArray(value) ? value.join('\n') : ''} />
    case 'json':
      return <textarea {...more} rows={4} spellCheck={false} className="field font-mono text-small aria-invalid:border-bad" defaultValue={value === undefined ? '' : JSON.stringify(value, null, 2)} />
  }
}
