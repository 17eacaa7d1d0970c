import type { FormEvent } from 'react'

import { Button } from '../../ui/Button.tsx'

const DAY = 86_400_000
const EXPIRY = [['', 'Never expires'], ['1', 'Expires in 1 day'], ['30', 'Expires in 30 days'], ['365', 'Expires in 1 year']] as const

export function NewToken({ onCreate }: { onCreate: (wanted: { label?: string; expiresAt?: string }) => void }) {
  const create = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const label = String(form.get('label')).trim()
    const days = Number(form.get('days'))
    onCreate({ ...(label ? { label } : {}), ...(days ? { expiresAt: new Date(Date.now() + days * DAY).toISOString() } : {}) })
    event.currentTarget.reset()
  }
  return (
    <form className="flex flex-wrap gap-2" onSubmit={create}>
      <input name="label" maxLength={128} autoComplete="off" aria-label="Label (optional)" placeholder="Label (optional)" className="field max-w-52 text-small" />
      <select name="days" aria-label="Expiry" className="field w-auto text-small">{EXPIRY.map(([days, name]) => <option key={days} value={days}>{name}</option>)}</select>
      <Button type="submit">Create token</Button>
    </form>
  )
}
