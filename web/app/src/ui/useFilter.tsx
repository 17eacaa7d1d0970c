import { useState, type ReactNode } from 'react'

import { t } from '../language/words.ts'

const LONG_LIST = 8

/** Filters a list by name. Short lists get no search field. */
export function useFilter<Each extends { name: string }>(list: readonly Each[] | null, label: string): { field: ReactNode; found: readonly Each[] } {
  const [typed, setTyped] = useState('')
  const wanted = typed.trim().toLocaleLowerCase()
  const found = (list ?? []).filter((each) => each.name.toLocaleLowerCase().includes(wanted))
  const field = list && list.length > LONG_LIST && (
    <div className="space-y-3">
      <input type="search" aria-label={label} placeholder={label} className="field max-w-xs text-small" value={typed} onChange={(event) => setTyped(event.target.value)} />
      {found.length === 0 && <p className="text-ink-soft">{t('No results')}</p>}
    </div>
  )
  return { field, found }
}
