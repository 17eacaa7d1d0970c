import type { FormEvent } from 'react'

import { msg, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'

const DAY = 86_400_000
const EXPIRY = [['', msg('Never expires')], ['1', msg('Expires in 1 day')], ['30', msg('Expires in 30 days')], ['365', msg('Expires in 1 year')]] as const

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
      <input name="label" maxLength={128} autoComplete="off" aria-label={t('Label (optional)')} placeholder={t('Label (optional)')} className="field max-w-52 text-small" />
      <select name="days" aria-label={t('Expiry')} className="field w-auto text-small">{EXPIRY.map(([days, name]) => <option key={days} value={days}>{t(name)}</option>)}</select>
      <Button type="submit">{t('Create token')}</Button>
    </form>
  )
}
