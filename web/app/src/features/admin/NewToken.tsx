import type { FormEvent } from 'react'

import { Button } from '../../ui/Button.tsx'

const DAY = 86_400_000
const LIVES = [['', 'does not end'], ['1', 'ends in a day'], ['30', 'ends in 30 days'], ['365', 'ends in a year']] as const

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
      <input name="label" maxLength={128} autoComplete="off" aria-label="What the token is for" placeholder="What for, if you like" className="field max-w-52 text-small" />
      <select name="days" aria-label="How long the token lives" className="field w-auto text-small">{LIVES.map(([days, words]) => <option key={days} value={days}>{words}</option>)}</select>
      <Button type="submit">New token</Button>
    </form>
  )
}
