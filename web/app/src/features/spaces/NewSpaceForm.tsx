import { useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { t } from '../../language/words.ts'
import { go, inspect, spacePath } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { TRIGGERS } from './triggers.ts'

// A new space has no orchestrator yet. The first is recommended for several agents; with one agent all are the same.
const OFFERED = ['elected', 'everyone', 'mentioned'] as const

export default function NewSpaceForm({ onDone }: { onDone: () => void }) {
  const store = useStore()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    try {
      const space = await store.client.spaces.create({ name: String(form.get('name')).trim(), description: String(form.get('description')).trim(), triggers: String(form.get('triggers')) as (typeof OFFERED)[number] })
      await store.loader.space(space.id)
      go(spacePath(space.id))
      inspect({ kind: 'members' })
      onDone()
    } catch (error) {
      setProblem((error as Error).message)
      setBusy(false)
    }
  }
  return (
    <form className="space-y-4 p-5 pt-3" onSubmit={(event) => void create(event)}>
      <p className="text-small text-ink-soft">{t('Only members of a space can read its messages.')}</p>
      <label className="block">
        <span className="mb-1 block text-small font-semibold">{t('Name')}</span>
        <input name="name" autoFocus required maxLength={64} autoComplete="off" className="field" />
      </label>
      <label className="block">
        <span className="mb-1 block text-small font-semibold">{t('Description')} <span className="font-normal text-ink-soft">{t('(optional)')}</span></span>
        <input name="description" autoComplete="off" className="field" />
      </label>
      <fieldset className="space-y-1 text-small">
        <legend className="mb-1 font-semibold">{t('Which agents respond')}</legend>
        {OFFERED.map((value) => (
          <label key={value} className="flex items-baseline gap-2">
            <input type="radio" name="triggers" value={value} defaultChecked={value === OFFERED[0]} className="accent-link" />
            <span>{t(TRIGGERS[value])}{value === 'elected' && <span className="text-ink-soft">{' '}{t('(recommended for two or more agents)')}</span>}</span>
          </label>
        ))}
      </fieldset>
      <p role="alert" className="text-small text-bad">{problem}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t('Cancel')}</Button>
        <Button look="primary" type="submit" disabled={busy}>{t('Create space')}</Button>
      </div>
    </form>
  )
}
