import { useState, type ReactNode } from 'react'

const MANY = 8

/** By name, in a list that is longer than one looks over. */
export function useFilter<Each extends { name: string }>(list: readonly Each[] | null, label: string): { field: ReactNode; found: readonly Each[]; none: boolean } {
  const [typed, setTyped] = useState('')
  const wanted = typed.trim().toLocaleLowerCase()
  const found = (list ?? []).filter((each) => each.name.toLocaleLowerCase().includes(wanted))
  const field = list && list.length > MANY && (
    <input type="search" aria-label={label} placeholder={label} className="field max-w-xs text-small" value={typed} onChange={(event) => setTyped(event.target.value)} />
  )
  return { field, found, none: wanted !== '' && found.length === 0 }
}
