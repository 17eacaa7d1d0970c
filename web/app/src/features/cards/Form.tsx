import { useState, type FormEvent } from 'react'

import { Button } from '../../ui/Button.tsx'
import type { ControlProps } from './Card.tsx'
import { kindOf, propertiesOf, requiredOf, valueOf, type Property } from './formSchema.ts'

export function Form({ tool, busy, onAnswer }: ControlProps) {
  const properties = Object.entries(propertiesOf(tool.resultSchema))
  const required = requiredOf(tool.resultSchema)
  const given = (tool.input ?? {}) as Record<string, unknown>
  const [problem, setProblem] = useState('')
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const filled = new FormData(event.currentTarget)
    try {
      const values = properties.map(([name, property]) => [name, valueOf(kindOf(property), property, filled.get(name))])
      setProblem('')
      onAnswer(Object.fromEntries(values.filter(([, value]) => value !== undefined)))
    } catch {
      setProblem('A field contains invalid JSON. Fix it and submit again.')
    }
  }
  return (
    <form className="mt-3 space-y-3" onSubmit={submit}>
      {properties.map(([name, property]) => (
        <label key={name} className={kindOf(property) === 'yes-no' ? 'flex flex-row-reverse items-center justify-end gap-2' : 'block'}>
          <span className="mb-1 block text-small font-medium">
            {property.title ?? name}
            {!required.has(name) && kindOf(property) !== 'yes-no' && <span className="font-normal text-ink-soft"> (optional)</span>}
            {property.description && <span className="font-normal text-ink-soft"> · {property.description}</span>}
          </span>
          <Field name={name} property={property} required={required.has(name)} value={given[name] ?? property.default} />
        </label>
      ))}
      <p role="alert" className="text-small text-bad empty:hidden">{problem}</p>
      <Button look="primary" type="submit" disabled={busy}>Submit</Button>
    </form>
  )
}

function Field({ name, property, required, value }: { name: string; property: Property; required: boolean; value: unknown }) {
  const more = { name, required, className: 'field' }
  const text = value === undefined || value === null ? '' : String(value)
  switch (kindOf(property)) {
    case 'choice':
      return (
        <select {...more} defaultValue={text}>
          {!required && <option value="">—</option>}
          {property.enum!.map((option) => <option key={String(option)} value={String(option)}>{String(option)}</option>)}
        </select>
      )
    case 'yes-no':
      return <input type="checkbox" name={name} defaultChecked={value === true} className="mb-1 size-4 shrink-0 accent-warm" />
    case 'number':
      return <input {...more} type="number" step={property.type === 'integer' ? 1 : 'any'} defaultValue={text} />
    case 'date':
      return <input {...more} type="date" defaultValue={text} />
    case 'line':
      return <input {...more} defaultValue={text} />
    case 'text':
      return <textarea {...more} rows={4} defaultValue={text} />
    case 'json':
      return <textarea {...more} rows={4} spellCheck={false} className="field font-mono text-small" defaultValue={value === undefined ? '' : JSON.stringify(value, null, 2)} />
  }
}
